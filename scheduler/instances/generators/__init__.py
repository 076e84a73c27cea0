"""Seeded generators of applications, networks and whole problems; pure functions of their arguments."""
