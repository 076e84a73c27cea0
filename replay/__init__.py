"""Replay and analysis of the taxi data on Spark: expected answers, comparison, response times, reports."""
