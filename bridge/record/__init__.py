"""This package records rounds and plans recorded rounds again."""
