"""`sentbench check`: compare first steps and scores with the committed ones.

First steps come first (harness/check/reference_losses.py): they name the number that a changed meaning
changes, which a score half a point lower does not.

Example: `sentbench check --format github`
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial

from harness.assembly.tables import contributed_results
from harness.check.reference_losses import (
    compared_runs,
    differences,
    measure_run,
    measure_runs,
    read_reference,
    with_tolerances,
    write_reference,
)
from harness.commands import FORMAT, JSON, format_of
from harness.disk.outputs import check_file
from harness.errors import InputError
from harness.paths import REFERENCE_LOSSES, SCORES, need_checkout
from harness.plan.entries import Params, read_params
from harness.report.formats.markdown import annotation
from harness.results.agreement import bands_of, outside
from harness.results.history import results_of
from harness.results.store import read_results

SHOWN = 4
"""Numbers of a run with other first steps that are named."""
ARGUMENTS = {
    "--against": {
        "default": "HEAD",
        "metavar": "A",
        "help": "a git revision, or a folder of scores, that scores are compared with (default: HEAD)",
    },
    "--measure": {"action": "store_true", "help": "write the reference losses of this code"},
    "--contributed": {
        "action": "store_true",
        "help": "check the results in reports/contributed, and nothing else",
    },
    "--json": JSON,
    "--format": FORMAT,
}


def execute(arguments: argparse.Namespace) -> int:
    """Checks code and scores, or measures the reference losses; returns 1 if anything differs."""
    need_checkout("the check of scores")
    form = format_of(arguments)
    if arguments.measure and form != "text":
        raise InputError("--measure prints one line, expected no --json and no --format; drop it")
    contributed, refused = contributed_results(read_results(SCORES.glob("*.json")))
    if arguments.contributed:
        return told(
            refused, {"contributed": len(contributed)}, f"{len(contributed)} contributed results", form
        )
    params = read_params()
    if arguments.measure:
        check_file(REFERENCE_LOSSES)
        found = {key: with_tolerances(partial(measure_run, params, key)) for key in compared_runs(params)}
        write_reference(REFERENCE_LOSSES, found)
        print(f"{REFERENCE_LOSSES}: {len(found)} runs, {sum(map(len, found.values()))} numbers")
        return 0
    known, scores = read_reference(REFERENCE_LOSSES), results_of(str(SCORES))
    bands = bands_of(results_of(arguments.against))
    problems = [*refused, *loss_problems(params, known), *outside(bands, scores), *scoring_problems()]
    counts = {"reference_losses": len(known), "bands": len(bands), "runs": len(scores)}
    summary = (
        f"first steps of {len(known)} runs, {len(bands)} bands from {arguments.against}, {len(scores)} runs"
    )
    return told(problems, counts, summary, form)


def told(problems: Sequence[str], counts: Mapping[str, int], summary: str, form: str) -> int:
    """Prints what was checked and each problem; returns 1 if there is one."""
    if form == "json":
        print(json.dumps({**counts, "problems": list(problems)}))
    else:
        lines = [one if form == "text" else annotation("error", "sentbench check", one) for one in problems]
        print("\n".join([*lines, f"{summary}, {len(problems)} problems"]))
    return 1 if problems else 0


def loss_problems(params: Params, known: Mapping[str, Mapping[str, list[float]]]) -> list[str]:
    """Returns lines for every run of the plan with other first steps, SHOWN at most for each."""
    keys = compared_runs(params)
    problems = [f"{key}: no reference losses; measure them" for key in keys if key not in known]
    for key, found in measure_runs(params, [key for key in keys if key in known]).items():
        lines = differences(key, known[key], found)
        more = [f"{key}: {len(lines) - SHOWN} more numbers differ"] if len(lines) > SHOWN else []
        problems += lines[:SHOWN] + more
    return problems


def scoring_problems() -> list[str]:
    """Returns one line for every encoder of known score that is not scored as theory says."""
    from harness.check.sanity import problems_of
    from harness.tasks.registry import build_tasks

    tasks = build_tasks(["STSB", "STSB-dev", "sts-part"], text="raw")
    return [problem for task in tasks for problem in problems_of(task)]
