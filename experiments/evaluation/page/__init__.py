"""The report of an evaluation: one HTML file that needs nothing else."""
