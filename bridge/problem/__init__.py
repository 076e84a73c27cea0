"""One topology in one round as a placement problem."""
