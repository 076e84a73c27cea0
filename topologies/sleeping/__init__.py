"""A topology that takes its time without working, fed from a list in Redis that loses nothing."""
