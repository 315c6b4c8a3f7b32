"""Speed against what a user would otherwise run, by hand: `python -m benchmarks` or `make bench`.

A benchmark's module offers `measure(rounds, short) -> list[Result]`, with `device` where it can use one. All
sides get equal inputs in one process, their results are compared before a time counts, and they take turns in
changing order. `measurement` times them, `machine` says where, `record` keeps the figures of every machine;
`material` is what they work on, `evaluation_peers` what others do.
"""

BENCHMARKS = (
    "evaluation",
    "training",
    "methods",
    "memory",
    "pcl",
    "dclr",
    "ptbert",
    "sct",
    "una",
    "transfer",
    "start",
    "full_scale",
    "pipeline",
    "pages",
    "launch",
)
"""Modules of this package that `python -m benchmarks` runs, in this order."""
