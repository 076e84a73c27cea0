"""The daemon's server: connections, one round after the other, metrics."""
