"""What problems need that are too large for tables over all operators and nodes."""
