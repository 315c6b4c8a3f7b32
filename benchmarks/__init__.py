"""Speed compared with what a user would otherwise run: `python -m benchmarks` or `make bench`.

A benchmark is a module with a function `measure` of (rounds, short), and of `device` if it can use one, that
returns its results. All sides get equal inputs in one process, their results are compared before a time
counts, and they take turns. `runner` has texts and encoders and times them, `record` keeps the figures of
every machine.
"""

BENCHMARKS = ("evaluation", "training", "arithmetic", "methods", "memory", "start")
"""The modules, in the order in which `python -m benchmarks` runs them."""

GPU_CHECK = "gpu-check"
"""What `sentbench gpu-check` writes next to them on a machine with a GPU."""
