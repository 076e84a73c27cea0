"""Proof by branch and bound over partial placements."""
