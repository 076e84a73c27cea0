"""Puts rows into a run's Redis stream: at their own speed, at a rate, or as fast as they are consumed."""
