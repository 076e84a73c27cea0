"""Constraints: one file per kind, each a record that states it and a rule that all methods ask."""
