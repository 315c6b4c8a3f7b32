"""`sentbench doctor`: show what the plan needs on this machine other than data, and what provides it.

Example: `sentbench doctor`
"""

import argparse

from harness.plan.entries import read_params
from harness.plan.estimate import Estimate
from harness.plan.needs import needs_of
from harness.plan.step_times import read_step_times


def execute(arguments: argparse.Namespace) -> int:
    """Prints one line per requirement; returns 1 if one of them is not met."""
    params = read_params()
    needs = needs_of(params, Estimate(params, read_step_times()))
    for need in needs:
        print(f"{'ok' if need.met else 'missing':<8} {need.line}")
    return 0 if all(need.met for need in needs) else 1
