"""Experiments over a lab and their reports: demo, evaluation, response time, adaptation, sweeps."""
