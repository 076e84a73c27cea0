"""Sweeps: instances x strategies x seeds of the decision core, distributed over Spark's executors."""
