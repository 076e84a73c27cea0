"""The trips table: taxi trips as Parquet, taken in from files, cleaned, or made up."""
