"""What topologies and the cluster ask for, as their configurations say it."""
