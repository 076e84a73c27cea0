"""The operators of query 2 behind filterByCoordinates, as thin adapters to its logic."""
