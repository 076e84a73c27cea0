"""Both queries of the DEBS 2015 Grand Challenge: the most frequent routes, and the most profitable areas.

The queries' logic lives in modules that know nothing of Storm (`trip`, `grid`, `window`, `ranking`, `areas`
and others); `components` adapts it to streamparse, `topology` wires the components. What goes to Redis and
comes from it: `scripts`, `epochs`, `taxi_collector`, `replay`.

Query 1 follows appendix E of paper 000: M. Nardelli, V. Cardellini, V. Grassi, F. Lo Presti, "Efficient
Operator Placement for Distributed Data Stream Processing Applications", 2019.
"""
