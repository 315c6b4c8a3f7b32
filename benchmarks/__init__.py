"""Speed compared with what a user would otherwise run: `python -m benchmarks` or `make bench`.

A benchmark is a module with a function `measure` of (rounds, short, device) that returns its results. All
sides get equal inputs in one process, their results are compared before a time counts, and they take turns.
`runner` has texts and encoders, times them, and keeps the figures of every machine. The modules `steps`,
`portability`, `verdicts` and `small_setting` have commands of their own.
"""

BENCHMARKS = ("evaluation", "training")
"""The modules, in the order in which `python -m benchmarks` runs them."""
