"""The report of simulated re-placement: a table beside the paper's, and its figures."""
