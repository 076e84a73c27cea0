"""This package serves plans over connections, logs faults and counts metrics."""
