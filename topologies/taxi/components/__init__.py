"""The operators as thin adapters between streamparse and the queries' logic.

All tuples are flat: Storm 2.3 and later refuse nested values between workers.
"""
