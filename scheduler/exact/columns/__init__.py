"""Joint problems by columns: all placements of each graph that may be part of a better one, then joined."""
