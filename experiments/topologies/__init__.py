"""The topologies that experiments can run, described alike."""
