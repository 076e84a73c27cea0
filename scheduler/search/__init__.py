"""Searching among many placements at once: evaluation, moves, walkers."""
