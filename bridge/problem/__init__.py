"""This package makes a placement problem of one topology in one round."""
