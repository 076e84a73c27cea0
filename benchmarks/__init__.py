"""Measurements with fixed work; results are kept in RESULTS.md."""
