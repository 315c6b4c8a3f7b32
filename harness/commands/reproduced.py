"""`sentbench reproduced`: compare the results of the plan with the committed ones.

Example: `sentbench reproduced --details`
"""

import argparse
import json
import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.commands import JSON
from harness.errors import InputError
from harness.paths import EMBEDDINGS, REPORTS, SCORES, need_checkout
from harness.plan.entries import read_params
from harness.results.agreement import Averages, Difference, averages, differences, is_identical, reasons
from harness.results.history import changed_files, results_of
from harness.results.schema import ResultFile

SHOWN = 10
"""Scores that do not agree, and runs that are missing, that are named without --details."""


@dataclass(frozen=True)
class Comparison:
    """The runs of the plan that have a committed result, compared with it.

    identical: how many of the runs are equal bit for bit. missing: those that were not evaluated here.
    reasons: why the others have other digits.
    """

    systems: int
    runs: int
    identical: int
    missing: list[str]
    differences: list[Difference]
    averages: Averages | None
    reasons: list[str]
    failing: list[str]
    """Systems with a score that does not agree."""

    @property
    def agrees(self) -> bool:
        """Whether every committed run was evaluated here and agrees."""
        return not self.failing and not self.missing


ARGUMENTS = {
    "--against": {"metavar": "A", "help": "a git revision, or a folder of scores; default: HEAD"},
    "--details": {"action": "store_true", "help": "list every score that is not equal"},
    "--json": JSON,
}


def execute(arguments: argparse.Namespace) -> int:
    """Prints whether the results agree; returns 1 if they do not, 0 if there is nothing to compare with.

    Errors: InputError outside a checkout, and if what `--against` names holds no scores.
    """
    need_checkout("the comparison with committed results")
    params = read_params()
    here = results_of(str(SCORES)) if SCORES.is_dir() and any(SCORES.glob("*.json")) else []
    try:
        there = results_of(arguments.against or "HEAD")
    except InputError:
        if arguments.against:
            raise
        return nothing("this folder has no git commit with results", arguments.json)
    committed = {result.run.key: result for result in there if result.run.key in params.runs}
    if not committed:
        return nothing(f"no run of the plan {', '.join(params.plan)} has a committed result", arguments.json)
    evaluated = {result.run.key: result for result in here if (EMBEDDINGS / result.run.key).is_dir()}
    found = compare(committed, {key: evaluated[key] for key in params.runs if key in evaluated})
    changed = [] if arguments.against else changed_files("dvc.lock", str(REPORTS))
    if arguments.json:
        print(json.dumps({"agrees": found.agrees, **asdict(found), "changed_files": changed}))
    else:
        print("\n".join([headline(found), *explanation(found, changed, details=arguments.details)]))
    return 0 if found.agrees else 1


def nothing(why: str, as_json: bool) -> int:
    """Prints that there is nothing to compare with; returns 0."""
    print(json.dumps({"agrees": None, "why": why}) if as_json else f"nothing to compare with: {why}")
    return 0


def compare(committed: Mapping[str, ResultFile], here: Mapping[str, ResultFile]) -> Comparison:
    """Returns how results agree with committed ones, both by run key."""
    pairs = [(old, here[key]) for key, old in committed.items() if key in here]
    other = [pair for pair in pairs if not is_identical(pair)]
    missing = [key for key in committed if key not in here]
    found = differences(pairs)
    systems = {key: f"{result.run.id}@{result.run.backbone}" for key, result in committed.items()}
    return Comparison(
        systems=len(set(systems.values())),
        runs=len(committed),
        identical=len(pairs) - len(other),
        missing=missing,
        differences=found,
        averages=averages(pairs) if other else None,
        reasons=reasons(other, platform.machine()) if other else [],
        failing=sorted({systems[entry.run] for entry in found if not entry.agrees}),
    )


def headline(found: Comparison) -> str:
    """Returns the answer in one line."""
    bits = f"{found.identical} of {found.runs} runs bit-identical"
    if len(found.missing) == found.runs:
        return f"not reproduced: none of {found.runs} runs was evaluated here; run `make reproduce`"
    if found.agrees:
        return f"reproduced: all {found.systems} systems agree with the committed results; {bits}"
    verb, parts = "does" if len(found.failing) == 1 else "do", []
    if found.failing:
        systems = f"{len(found.failing)} of {found.systems} systems"
        parts.append(f"{systems} {verb} not agree with the committed results")
    if found.missing:
        parts.append(f"{len(found.missing)} of {found.runs} runs not evaluated here")
    return f"not reproduced: {'; '.join([*parts, bits])}"


def explanation(found: Comparison, changed: list[str], *, details: bool) -> list[str]:
    """Returns the details after the answer, one line for each."""
    lines = []
    if 0 < len(found.missing) < found.runs:
        shown = found.missing if details else found.missing[:SHOWN]
        more = f" and {len(found.missing) - len(shown)} more" if shown < found.missing else ""
        lines.append(f"not evaluated here: {', '.join(shown)}{more}")
    if found.failing:
        lines.append(f"systems that do not agree: {', '.join(found.failing)}")
    wrong = [str(difference) for difference in found.differences if not difference.agrees]
    if not details:
        lines += wrong[:SHOWN]
        lines += [f"and {len(wrong) - SHOWN} more scores that do not agree"] if len(wrong) > SHOWN else []
    if found.averages:
        over = found.averages
        sd = "" if over.spread is None else f", where the standard deviation over seeds is {over.spread:.2f}"
        lines.append(
            f"{over.equal} of {over.number} averages over seeds are equal to the reported digit; the largest "
            f"difference is {over.largest:.2f} points ({over.where}){sd}"
        )
    if found.reasons:
        lines.append(f"reason: {'; '.join(found.reasons)}")
    if changed:
        lines.append(changed_line(changed))
    if details:
        lines += [f"{'' if entry.agrees else 'does not agree: '}{entry}" for entry in found.differences]
    elif found.differences:
        lines.append(f"scores with other digits: {len(found.differences)}; `--details` lists them")
    return [f"  {line}" for line in lines]


def changed_line(changed: list[str]) -> str:
    """Returns which committed files have changed, by folder, and the command that restores them."""
    folders = Counter(Path(name).parent.as_posix() if "/" in name else name for name in changed)
    counts = [name if name in changed else f"{number} in {name}" for name, number in folders.items()]
    tops = dict.fromkeys(name.split("/")[0] for name in changed)
    return f"changed files: {', '.join(counts)}; `git restore {' '.join(tops)}` restores them"
