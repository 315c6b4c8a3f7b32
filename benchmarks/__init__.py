"""Speed compared with what a user would otherwise run: `python -m benchmarks` or `make bench`.

A benchmark is a function of (rounds, short) that returns its results, with `device` if it can use one. All
sides get equal inputs in one process, their results are compared before a time counts, and they take turns.
`runner` times them, `record` keeps the figures of every machine, `machine` describes this one, `inputs` has
the texts and encoders.
"""

BENCHMARKS = {
    "evaluation": "evaluation:measure",
    "training": "training:measure",
    "arithmetic": "arithmetic:measure",
    "methods": "methods:measure",
    "memory": "memory:measure",
    "start": "commands:start",
    "full_scale": "full_scale:measure",
    "launch": "commands:launch",
    "tests": "commands:tests",
}
"""Name -> module of this package and function, in the order in which `python -m benchmarks` runs them."""

GPU_CHECK = "gpu-check"
"""What `sentbench gpu-check` writes next to them on a machine with a GPU."""
