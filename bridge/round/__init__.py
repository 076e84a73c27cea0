"""A round: keep, place or move, topology by topology."""
