"""The report of the evaluation over edge, fog and cloud."""
