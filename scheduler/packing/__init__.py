"""Large topologies by counts: how many executors of each component go to which node, and in which workers."""
