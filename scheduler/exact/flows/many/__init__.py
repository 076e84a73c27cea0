"""A search that scales to thousands of graphs: few places of each, at prices on what graphs share."""
