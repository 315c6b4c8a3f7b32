"""`sentbench check`: compare first losses and results with the committed ones.

First losses identify the systems whose training changed, in a second each and without training them. Runs of
systems that pass them must have identical results, by the rule of harness/evidence/moved.py.
"""

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.evidence.further import read_recorded
from harness.evidence.history import changed_files, committed_results, results_of
from harness.evidence.moved import Answer, answer_of_losses, score_title
from harness.evidence.reproduction import (
    Reproduction,
    compare_with_committed,
    explained,
    of_other_packages,
)
from harness.evidence.schema import ResultFile
from harness.evidence.settling import counted
from harness.io.outputs import check_file
from harness.paths import FIRST_LOSSES, REPORTS, need_checkout, stored_vectors
from harness.plan.entries import Params
from harness.plan.identity import library_versions
from harness.plan.params_file import read_params
from harness.plan.stale import outdated, outdated_line, refuse_old_plan, stale
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


@dataclass
class Findings:
    """Outcome of a check. problems: one line each. lines: further output, the answer last; counts: for
    `--json`. agrees: whether the results agree, True if they are not compared.
    """

    problems: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    agrees: bool = True

    @property
    def answer(self) -> str:
        """The last line, which begins with `not reproduced` if anything is wrong."""
        if not self.problems:
            return self.lines[-1]
        rest = self.lines[-1].removeprefix("not ").removeprefix("compared: ").removeprefix("reproduced: ")
        return f"not reproduced: {counted(len(self.problems), 'problem')} above; {rest}"


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


def check_results(
    findings: Findings,
    params: Params,
    losses: Mapping[str, Answer],
    committed: tuple[Sequence[ResultFile], str],
    arguments: argparse.Namespace,
) -> None:
    """Compares the plan's results; they agree if there are no committed ones. A run counts as evaluated if
    its vectors exist, because a fresh clone has all committed scores.

    committed: the results to compare with, and the reason if there are none.
    """
    against = arguments.against
    here = {result.run.key: result for result in read_recorded().results}
    there, why = committed
    former = {result.run.key: result for result in there if result.run.key in params.runs}
    if not former:
        why = why or f"no run of the plan {', '.join(params.plan)} has a committed result"
        findings.counts["results"] = {"agrees": None, "why": why}
        findings.lines.append(f"nothing to compare with: {why}")
        return
    planned = {key: here[key] for key in params.runs if key in here}
    computed = {key: result for key, result in planned.items() if stored_vectors(key).is_file()}
    upgraded, packages = of_other_packages(computed, library_versions())
    options: dict[str, Any] = {
        "outdated": outdated(params, {key: result.run.recipe for key, result in planned.items()}),
        "upgraded": upgraded,
    }
    if against is not None:
        options |= {"against": against, "not_evaluated": [key for key in planned if key not in computed]}
    results = computed if against is None else planned
    left = [key for key in former if not (params.runs[key].is_first or key in results)]
    options["further"] = {key: former.pop(key) == planned.get(key) for key in left}
    compared = compare_with_committed(former, results, machine=platform.machine(), **options)
    if is_exact():
        needs = {key: run.needs() for key, run in params.runs.items()}
        findings.problems += not_identical(compared, former, results, losses, needs)
    changed = [] if against is not None else changed_files("dvc.lock", str(REPORTS))
    findings.counts["results"] = reproduction_json(compared, changed)
    findings.lines += explained(compared, changed, details=arguments.details)
    lines = [outdated_line(params, compared.outdated), upgraded_line(compared, packages)]
    findings.lines += [*(f"  {line}" for line in lines if line), compared.headline]
    findings.agrees = compared.agrees


def upgraded_line(compared: Reproduction, packages: Sequence[str]) -> str | None:
    """Returns a line with the number of results of other packages and the packages; None without one."""
    if not compared.upgraded:
        return None
    return (
        f"{len(compared.upgraded)} of {len(compared.systems)} results were computed with "
        f"{', '.join(packages)}, and not measured again; `dvc repro --force` runs all of them"
    )


def not_identical(
    compared: Reproduction,
    former: Mapping[str, ResultFile],
    here: Mapping[str, ResultFile],
    losses: Mapping[str, Answer],
    needs: Mapping[str, set[str]],
) -> list[str]:
    """Returns a line for each run with passed first losses and a result that is not identical.

    losses: the measured ones; a run without training passes. Both sides have portable arithmetic. needs: the
    runs that each one starts from or learns from; if their results differ, its may.
    """
    lines = []
    for key, answer in compared.answers.items():
        portable = {result.provenance.arithmetic for result in (former[key], here[key])} == {"portable"}
        passes = losses.get(key) == "identical" or (losses and here[key].selection.last_step == 0)
        caused = any(compared.answers.get(need, "identical") != "identical" for need in needs.get(key, ()))
        if answer == "identical" or not portable or not passes or caused:
            continue
        changes = [change for change in compared.changes if change.run == key]
        scores = ", ".join(score_title(change.name) for change in changes[:3]) or "none"
        lines.append(
            f"{key}: passes its first losses, and its result is not identical ({answer}): "
            f"{len(changes)} other scores ({scores}{', ...' if len(changes) > 3 else ''})"
        )
    return lines


def reproduction_json(compared: Reproduction, changed: Sequence[str]) -> dict[str, Any]:
    """Returns the comparison as plain values; scores in points."""
    return {
        "agrees": compared.agrees,
        "headline": compared.headline,
        "runs": len(compared.systems),
        "identical": compared.identical,
        "answers": dict(compared.answers),
        "moved": compared.moved,
        "missing": list(compared.missing),
        "not_evaluated": list(compared.not_evaluated),
        "outdated": list(compared.outdated),
        "upgraded": list(compared.upgraded),
        "further": dict(compared.further),
        "reasons": list(compared.reasons),
        "changed_files": list(changed),
        "changes": [
            {**change.name._asdict(), "run": change.run, "before": change.before, "after": change.after}
            | {"answer": change.answer}
            for change in compared.changes
        ],
    }
