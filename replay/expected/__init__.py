"""Expected answers of both queries, computed on Spark."""
