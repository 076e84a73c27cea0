"""The topologies that experiments can run: one file each, which makes a `Description`.

The runner of an experiment asks for the description that it runs (`taxi_query`), and `experiments.lab_steps`
runs the commands that the description names.
"""
