"""The report of the experiment on re-placement: targets, a table, and timelines."""
