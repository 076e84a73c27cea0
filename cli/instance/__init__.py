"""Commands of the group `instance`."""
