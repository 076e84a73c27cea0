"""Commands of the group `data`: taxi data, answers, analysis and sweeps on Spark."""
