"""Proof by an integer program."""
