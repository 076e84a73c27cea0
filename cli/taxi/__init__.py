"""Commands of the group `taxi`."""
