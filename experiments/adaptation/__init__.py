"""The adaptation experiment: the wide area changes while the query runs."""
