"""A run of the stream beside the expected answers."""
