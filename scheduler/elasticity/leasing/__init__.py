"""Executors and leased hosts decided together (paper 003): by billing units, and by thresholds of queues."""
