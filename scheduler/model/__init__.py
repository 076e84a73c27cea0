"""The problem: application, network, objective, constraints."""
