"""Rounds of the loop: what is remembered, what is decided, and how the cluster is brought there."""
