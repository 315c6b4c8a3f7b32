"""`sentbench calibrate`: measure which library multiplies faster in native training, and keep it.

On a GPU, `--gpu` chooses how layers are computed; `sentbench gpu-check` measures each way.

Example: `sentbench calibrate`
"""

from __future__ import annotations

import argparse
from typing import get_args

from harness.disk.files import write_record
from harness.identity import calibration, kept_products
from harness.paths import CALIBRATION, need_checkout
from harness.process import compute_with
from methods.core.fast.choices import GpuLayers


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "--again",
        action="store_true",
        help="replace the choice that is kept; native runs may change",
    )
    parser.add_argument(
        "--gpu",
        choices=get_args(GpuLayers),
        help="how a GPU trains layers from now on: attention in padded rows, in rows of their own lengths, "
        "or layers compiled by torch; runs on a GPU may change",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Prints the rates and writes the choice; keeps an earlier one unless `--again`."""
    need_checkout("calibrating")
    if arguments.gpu:
        kept = {} if arguments.again else calibration()
        write_record(CALIBRATION, {**kept, "gpu_layers": arguments.gpu})
        print(f"training on a GPU computes layers {arguments.gpu} from now on ({CALIBRATION})")
        return
    if not arguments.again and "training_products" in calibration():
        print(f"{CALIBRATION}: native training multiplies by {kept_products()}; measure again with --again")
        return
    compute_with("native")
    from harness.compute.products import training_rates

    rates = training_rates()
    chosen = max(rates, key=lambda library: rates[library])
    kept = {} if arguments.again else calibration()
    write_record(CALIBRATION, {**kept, "training_products": chosen, "gflops": rates})
    told = ", ".join(f"{library} {rate:.0f}" for library, rate in rates.items())
    print(f"{told} GFLOP/s; native training multiplies by {chosen} from now on ({CALIBRATION})")
