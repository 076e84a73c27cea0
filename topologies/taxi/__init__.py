"""Query 1 of the DEBS 2015 Grand Challenge: the ten most frequent taxi routes of the last 30 minutes.

The query's logic lives in modules that know nothing of Storm (`trip`, `grid`, `window`, `ranking`, `progress`
and others); `components` adapts it to streamparse, `topology` wires the components (paper 000, appendix E).
"""
