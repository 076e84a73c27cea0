"""What the paths to other sites carry, by short trains of packets."""
