"""The topologies that the experiment scales: what it has to know of each, and the programs that feed them."""
