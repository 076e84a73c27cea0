"""Proof where at most two classes of operators are free."""
