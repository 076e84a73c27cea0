"""Both queries over one block of trips, on arrays."""
