"""`sentbench check`: compare first losses and results with the committed ones.

First losses identify the systems whose training changed, in a second each and without training them. Runs of
systems that pass them must have identical results, by the rule of harness/evidence/moved.py.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence

from harness.check.first_losses import (
    is_exact,
    measure_runs,
    measured_runs,
    read_losses,
    representatives,
    write_losses,
)
from harness.check.workers import preload
from harness.commands import FORMAT, JSON, format_of
from harness.commands.check_results import Findings, check_results
from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.evidence.history import committed_results, results_of
from harness.evidence.moved import Answer, answer_of_losses
from harness.evidence.schema import ResultFile
from harness.io.outputs import check_file
from harness.paths import FIRST_LOSSES, need_checkout
from harness.plan.entries import Params
from harness.plan.params_file import read_params
from harness.plan.stale import refuse_old_plan, stale
from harness.report.formats.markdown import annotation
from methods.core.progress import progress_bar

CHECKS = ("losses", "scoring", "results")
ARGUMENTS = {
    "--only": {"choices": CHECKS, "help": "one part of the check (default: all)"},
    "--against": {
        "metavar": "A",
        "help": "a git revision, or a folder of scores, to compare results with (default: what is committed)",
    },
    "--details": {"action": "store_true", "help": "list every score that is not identical"},
    "--measure": {"action": "store_true", "help": f"write {FIRST_LOSSES} by this code"},
    "--json": JSON,
    "--format": FORMAT,
}


def execute(arguments: argparse.Namespace) -> int:
    """Checks, or measures the first losses; returns 1 for a problem, or if the results do not agree."""
    need_checkout("the check of results")
    form = format_of(arguments)
    check_options(arguments, form)
    if arguments.measure:
        refuse_old_plan()
        return measure_losses(read_params())
    findings = findings_of(arguments)
    good = findings.agrees and not findings.problems
    if form == "json":
        print(json.dumps({**findings.counts, "problems": findings.problems, "answer": findings.answer}))
        return 0 if good else 1
    problems = findings.problems
    if form == "github":
        errors = problems if good or problems else [findings.answer]
        problems = [annotation("error", "sentbench check", problem) for problem in errors]
    print("\n".join([*problems, *findings.lines[:-1], findings.answer]))
    return 0 if good else 1


def check_options(arguments: argparse.Namespace, form: str) -> None:
    """Raises InputError for an option that the chosen part of the check, or --measure, would ignore."""
    given = ["--against"] * (arguments.against is not None) + ["--details"] * arguments.details
    if arguments.only not in (None, "results") and given:
        raise InputError(f"{given[0]} is for results, and --only is {arguments.only}")
    if arguments.measure and (given or arguments.only is not None or form != "text"):
        raise InputError("--measure takes no --only, --against, --details, --json or --format")
    if arguments.details and form == "json":
        raise InputError("--json has every score: leave --details out")


def findings_of(arguments: argparse.Namespace) -> Findings:
    """Returns the outcome of all parts of the check, or of one."""
    wanted = [part for part in CHECKS if arguments.only in (None, part)]
    findings, params = Findings(), read_params()
    former: tuple[list[ResultFile], str] = ([], "")
    if "results" in wanted:  # before the long work, so that a wrong --against is refused at once
        former = committed_results() if arguments.against is None else (results_of(arguments.against), "")
    check_plan(findings)
    losses: dict[str, Answer] = {}
    if "losses" in wanted:
        losses = check_losses(findings, params)
    if "scoring" in wanted:
        check_scoring(findings)
    if "results" in wanted:
        check_results(findings, params, losses, former, arguments)
    return findings


def check_plan(findings: Findings) -> None:
    """Compares the plan with the recipes: an older plan is a problem; an edited one is named on standard
    error, because `dvc exp run -S` edits it.
    """
    found = stale()
    if found and found.edited:
        print(f"sentbench: {found.line}", file=sys.stderr)
    elif found:
        findings.problems.append(found.line)


def measure_losses(params: Params) -> int:
    """Writes the first losses of the plan's runs; returns 0."""
    check_file(FIRST_LOSSES)
    losses = measured_losses(params, measured_runs(params))
    write_losses(FIRST_LOSSES, losses)
    print(f"{FIRST_LOSSES}: {len(losses)} systems")
    return 0


def check_losses(findings: Findings, params: Params) -> dict[str, Answer]:
    """Returns for every run that trains the answer of its first losses, or of its system's first seed.

    Problems are losses that are not identical (in native arithmetic: moved losses) and runs without known
    losses.
    """
    known, firsts, exact = read_losses(FIRST_LOSSES), representatives(params), is_exact()
    seeds = Counter(firsts.values())
    findings.problems += [
        f"{key}: no first losses; `sentbench check --measure`" for key in seeds if key not in known
    ]
    measured = measured_losses(params, [key for key in seeds if key in known])
    answers = {key: answer_of_losses(known[key], losses) for key, losses in measured.items()}
    for key, answer in answers.items():
        if answer == "moved" or (exact and answer != "identical"):
            others = f" (and {seeds[key] - 1} other seeds)" if seeds[key] > 1 else ""
            losses = f"{numbers(measured[key])}, expected {numbers(known[key])}"
            findings.problems.append(f"{key}{others}: first losses {losses}: {answer}")
    same = sum(answer == "identical" for answer in answers.values())
    findings.counts["first_losses"] = answers
    findings.lines.append(f"first losses: {same} of {len(seeds)} systems identical")
    return {key: answers[first] for key, first in firsts.items() if first in answers}


def measured_losses(params: Params, keys: Sequence[str]) -> dict[str, list[float]]:
    """Returns the losses of runs, with a progress bar."""
    with waiting("loading libraries"):
        preload()
    with progress_bar(len(keys), "systems") as bar:
        return measure_runs(params, keys, ended=lambda key: bar.update())


def numbers(losses: Sequence[float]) -> str:
    """Formats losses."""
    return ", ".join(f"{loss:.10g}" for loss in losses)


def check_scoring(findings: Findings) -> None:
    """Adds a problem for each encoder with a known score whose score differs from theory."""
    with waiting("checking the scoring"):
        problems = scoring_problems()
    findings.problems += problems
    findings.lines.append(f"scoring: {len(problems)} encoders differ from their known scores")


def scoring_problems() -> list[str]:
    """Returns one line for each encoder with a known score whose score differs from theory."""
    from harness.check.sanity import problems_of
    from harness.tasks.registry import build_tasks

    tasks = build_tasks(["STSB", "STSB-dev", "sts-part"], text="raw")
    return [problem for task in tasks for problem in problems_of(task)]
