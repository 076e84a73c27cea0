"""The infrastructure manager (paper 004): which requests of region managers are granted."""
