"""The eight operators as thin adapters between streamparse and the query's logic.

All tuples are flat: Storm 2.3 and later refuse nested values between workers. The last tuple of a run is a
marker: its field `end`, empty in all others, holds the encoded `Totals`; each component adds what it knows.
"""
