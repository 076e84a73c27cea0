"""The report of an evaluation: one HTML file that needs nothing else.

`evaluation.html.j2` has its text and the order of its parts. It asks `response`, `way` and `city` for plots,
and `sentences` for the words that go with them. `contents` is what it shows;
`experiments.evaluation.evaluation_run` fills that in and writes the file.
"""
