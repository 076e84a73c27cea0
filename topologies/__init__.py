"""Topologies for Apache Storm, written with streamparse: the taxi queries of DEBS 2015, synthetic
applications, and what runs them."""
