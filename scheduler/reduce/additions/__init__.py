"""Heuristics that add constraints, so that the same exact solver has less to choose from (paper 002)."""
