"""`sentbench calibrate`: measure which library multiplies faster in native training, and keep it.

Example: `sentbench calibrate`
"""

from __future__ import annotations

import argparse

from harness.disk.files import write_record
from harness.identity import kept_products
from harness.paths import CALIBRATION, need_checkout
from harness.process import compute_with


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "--again",
        action="store_true",
        help="replace the choice that is kept; native runs may change",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Prints the rates and writes the choice; keeps an earlier one unless `--again`."""
    need_checkout("calibrating")
    if CALIBRATION.is_file() and not arguments.again:
        print(f"{CALIBRATION}: native training multiplies by {kept_products()}; measure again with --again")
        return
    compute_with("native")
    from harness.compute.products import training_rates

    rates = training_rates()
    chosen = max(rates, key=lambda library: rates[library])
    write_record(CALIBRATION, {"training_products": chosen, "gflops": rates})
    told = ", ".join(f"{library} {rate:.0f}" for library, rate in rates.items())
    print(f"{told} GFLOP/s; native training multiplies by {chosen} from now on ({CALIBRATION})")
