"""The report of simulated elasticity."""
