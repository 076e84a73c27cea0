"""The application manager (paper 004): which requests of its operator managers are granted."""
