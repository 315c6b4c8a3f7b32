"""Speed compared with what a user would otherwise run: `python -m benchmarks` or `make bench`.

A benchmark is a function of (rounds, short) that returns its results, with `device` if it can use one. All
sides get equal inputs in one process, their results are compared before a time counts, and they take turns.
`runner` times them and keeps the record of every machine, `machine` describes this one, `inputs` has the
texts, encoders and made plans.
"""

BENCHMARKS = {
    "evaluation": "evaluation:measure",
    "training": "training:measure",
    "methods": "methods:measure",
    "memory": "memory:measure",
    "pcl": "losses:pcl",
    "dclr": "losses:dclr",
    "ptbert": "losses:pt_bert",
    "sct": "queue_losses:sct",
    "teacher_queue": "queue_losses:teacher_queue",
    "una": "una:measure",
    "start": "commands:start",
    "full_scale": "full_scale:measure",
    "pipeline": "commands:pipeline",
    "pages": "pages:measure",
    "launch": "commands:launch",
}
"""Name -> module of this package and function, in the order in which `python -m benchmarks` runs them."""

GPU_CHECK = "gpu-check"
"""What `sentbench gpu-check` writes next to them on a machine with a GPU."""
