"""Speed compared with alternative libraries: `python -m benchmarks` or `make bench`.

A benchmark is a module with a function `measure` of (rounds, short, device) that returns its results. All
sides get equal inputs in one process and take turns; times count only after their results were compared.
`runner` has texts and encoders, measures times, and keeps the figures of every machine. The module `steps`
and the studies `portability`, `verdicts` and `small_setting` have separate commands.
"""

BENCHMARKS = ("evaluation", "training")
"""The modules in the order of `python -m benchmarks`."""
