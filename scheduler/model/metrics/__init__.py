"""The quality metrics: one record each, and the list of all."""
