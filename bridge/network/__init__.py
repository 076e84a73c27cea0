"""This package gathers the hosts of a cluster and the delays between them."""
