"""Commands of the group `synthetic`."""
