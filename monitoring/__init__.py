"""Measures hosts, links and rates, and publishes them as readings in ZooKeeper."""
