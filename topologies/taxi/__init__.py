"""Both queries of the DEBS 2015 Grand Challenge: the most frequent routes, and the most profitable areas.

The queries' logic lives in modules that know nothing of Storm (`trip`, `grid`, `window`, `ranking`, `areas`
and others); `components` adapts it to streamparse, `topology` wires the components (query 1: paper 000,
appendix E). What goes to Redis and comes from it: `scripts`, `epochs`, `collect`, `replay`.
"""
