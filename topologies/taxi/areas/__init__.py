"""Query 2 of the challenge: the ten areas of 250 m where an empty taxi earns most."""
