"""The best and the worst value of a single metric."""
