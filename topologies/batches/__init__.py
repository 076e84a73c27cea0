"""Batches of rows, epochs and shares: what any component needs to answer exactly at any number of tasks.

Design: docs/design/021-exact-parallel-queries.md. `header` is what each tuple carries, `ordered` puts batches
together and into order, `bolt` holds the base classes of the components; nothing here knows a query.
"""
