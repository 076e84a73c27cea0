"""The evaluation of placement over edge, fog and cloud (paper 002)."""
