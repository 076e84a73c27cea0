"""Analysis of runs on Spark: response times, rates, legs of the way, answers and the scheduler's rounds."""
