"""Large problems made smaller: clusters of nodes, candidate nodes, sub-problems."""
