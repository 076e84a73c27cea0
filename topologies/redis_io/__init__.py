"""Redis streams read and written with many requests under way."""
