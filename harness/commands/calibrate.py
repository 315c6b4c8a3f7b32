"""`sentbench calibrate`: measure this machine for a minute: the faster library, and what a step takes.

Native training multiplies by that library; `plan`, `launch` and `verify` estimate hours by the steps. On a
GPU, `--gpu` chooses how layers are computed; `sentbench gpu-check` measures each way.

Example: `sentbench calibrate`
"""

from __future__ import annotations

import argparse
from typing import get_args

from harness.disk.files import write_record
from harness.identity import kept_products
from harness.paths import CALIBRATION, need_checkout
from harness.plan.estimate import cores_here
from harness.plan.step_times import BASELINE, StepTime, calibration, committed_step_times
from harness.process import compute_with
from methods.core.fast.choices import GpuLayers, use_for_training

BATCHES = {"bert-tiny": 64, "bert-mini": 64, "bert-small": 32, "bert-base-uncased": 8}
"""Backbones whose step is measured, with the sentences of a batch, so that each takes a second or less."""
ARGUMENTS = {
    "--again": {"action": "store_true", "help": "replace the choice that is kept; native runs may change"},
    "--gpu": {
        "choices": get_args(GpuLayers),
        "help": (
            "how a GPU trains layers from now on: attention in padded rows, in rows of their own lengths, "
            "or layers compiled by torch; runs on a GPU may change"
        ),
    },
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the measurements and writes them with the choice; keeps earlier ones unless `--again`."""
    need_checkout("calibrating")
    known = {} if arguments.again else calibration()
    if arguments.gpu:
        write_record(CALIBRATION, {**known, "gpu_layers": arguments.gpu})
        print(f"training on a GPU computes layers {arguments.gpu} from now on ({CALIBRATION})")
        return
    if {"training_products", "steps"} <= known.keys():
        print(f"{CALIBRATION}: native training multiplies by {kept_products()}; measure again with --again")
        return
    compute_with("native")
    from harness.compute.products import training_rates

    if "training_products" not in known:
        rates = training_rates()
        chosen = max(rates, key=lambda library: rates[library])
        known |= {"training_products": chosen, "gflops": rates}
        told = ", ".join(f"{library} {rate:.0f}" for library, rate in rates.items())
        print(f"{told} GFLOP/s; native training multiplies by {chosen} from now on")
    use_for_training(known["training_products"])
    steps = own_steps()
    write_record(CALIBRATION, {**known, "steps": [row.model_dump() for row in steps]})
    told = ", ".join(f"{row.backbone} {row.seconds:.3g} s (batch {row.batch})" for row in steps)
    print(f"a step of SimCSE with every core at work: {told}")
    print(f"kept in {CALIBRATION}; `plan`, `launch` and `verify` estimate hours on this machine by it")


def own_steps() -> list[StepTime]:
    """Returns SimCSE's step on this machine by backbone, each with one run of one thread on every core."""
    from harness.commands.calibrate_steps import LONGEST, seconds_of_steps
    from harness.plan.recipes import load_recipes
    from harness.plan.resolve import resolve

    (run,) = resolve(load_recipes(), [f"baselines/{BASELINE}"], seeds=1).runs.values()
    shapes, cores = committed_step_times().shapes, cores_here()
    found = seconds_of_steps(run, {name: (shapes[name], batch) for name, batch in BATCHES.items()}, cores)
    return [
        StepTime(
            device="cpu",
            machine=f"this machine, {cores} runs at once",
            threads=1,
            system=BASELINE,
            method=BASELINE,
            backbone=name,
            batch=BATCHES[name],
            length=LONGEST,
            precision="fp32",
            seconds=float(f"{seconds:.4g}"),
            command="sentbench calibrate",
        )
        for name, seconds in found.items()
    ]
