"""This package plans a round: it keeps, places or moves one topology after the other."""
