"""Predictions for running synthetic topologies."""
