"""Policies of executors and hosts in simulation: the set-ups of papers 003 and 004, and others."""
