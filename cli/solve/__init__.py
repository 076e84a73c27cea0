"""The command `solve`."""
