"""Ends outside Storm, and the ways between sites that streams share."""
