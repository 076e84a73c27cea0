"""Hosts that are emptied for maintenance: what leaves them, and what keeps off those that are announced."""
