"""Operator managers (paper 004): each asks for one executor more or less of its component."""
