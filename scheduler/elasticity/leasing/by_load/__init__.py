"""Ours: components sized by their load, and the set of hosts chosen together with the placement."""
