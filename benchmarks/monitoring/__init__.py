"""Measurements of agents, coordinates and readings: accuracy, cost, scale."""
