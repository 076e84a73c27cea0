"""The hosts of a cluster and the delays between them, from the best source of each pair."""
