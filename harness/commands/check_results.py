"""The part of `sentbench check` that compares results with the committed ones."""

import argparse
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.check.first_losses import is_exact
from harness.evidence.further import left_out_line, read_recorded
from harness.evidence.history import changed_files
from harness.evidence.moved import Answer, score_title
from harness.evidence.reproduction import Reproduction, compare_with_committed, explained, of_other_packages
from harness.evidence.schema import ResultFile
from harness.evidence.settling import counted
from harness.paths import REPORTS, stored_vectors
from harness.plan.entries import Params
from harness.plan.identity import library_versions
from harness.plan.stale import outdated, outdated_line


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
    recorded = read_recorded()
    here = {result.run.key: result for result in recorded.results}
    findings.problems += [left_out_line(name) for name in recorded.left_out if name in params.further]
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
