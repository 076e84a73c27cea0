"""Rounds planned executor by executor: what is missing is placed, what runs may move for a gain."""
