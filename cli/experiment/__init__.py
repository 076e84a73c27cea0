"""The command `experiment`."""
