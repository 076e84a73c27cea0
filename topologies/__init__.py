"""Topologies for Apache Storm, written with streamparse: the taxi query of DEBS 2015 and what runs it."""
