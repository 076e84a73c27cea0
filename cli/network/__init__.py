"""The command `network`."""
