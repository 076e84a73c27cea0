"""Runs without a cluster: `simulate`."""
