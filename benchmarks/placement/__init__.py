"""The evaluation of paper 000 (section 7 and appendix C) over all strategies of the registry.

python -m benchmarks.placement [--full] [--out DIR]      measure; goes on where it was interrupted
python -m benchmarks.placement.steps [--out DIR]         time per improving step against size
python -m benchmarks.placement.report DIR                tables and plots
"""
