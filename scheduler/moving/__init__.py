"""Whether a plan is worth carrying out: what it moves, what that costs, and what of its gain is noise."""
