"""Placements from nothing: first fit over lists of nodes, and how near nodes are to each other."""
