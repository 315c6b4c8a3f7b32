"""Speed against what a user would otherwise run, by hand: `python -m benchmarks` or `make bench`.

Every module here but `measurement` offers `measure(rounds, short) -> list[Result]`. Both sides get equal
inputs in one process, their results are compared before a time counts, and rounds alternate in changing order.
"""

BENCHMARKS = ("evaluation", "training", "memory", "pcl", "dclr", "ptbert", "transfer", "start", "pipeline")
"""Modules of this package that `python -m benchmarks` runs, in this order."""
