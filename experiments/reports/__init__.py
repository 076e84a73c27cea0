"""What the reports of several experiments share: maps, tables, comparisons."""
