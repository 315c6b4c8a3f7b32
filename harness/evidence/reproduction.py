"""Comparison of a plan's results with the committed ones, in one line and in details."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev

from harness.evidence.history import DETERMINES, changed_files
from harness.evidence.moved import (
    Answer,
    Pair,
    ScoreChange,
    System,
    answers_of_runs,
    changes_of,
    is_watched,
    system_of,
)
from harness.evidence.schema import ResultFile, ScoreName

SCORES_NAMED = 10
"""Number of moved scores and missing runs that are listed without `--details`."""


@dataclass(frozen=True)
class Averages:
    """Means over seeds of the watched scores, in points; the largest difference and its score. equal: number
    of means equal to the reported digit. spread: the standard deviation over the committed seeds at the
    largest difference, None for one seed.
    """

    number: int
    equal: int
    largest: float
    where: str
    spread: float | None


@dataclass(frozen=True)
class Reproduction:
    """The runs of a plan that have a committed result, compared with it.

    answers: of each run with a result here. missing: the other runs. systems: system of each run, by its key.
    reasons: why runs are not identical. averages: None if all are identical. against: name of the former
    results. not_evaluated: the runs in `answers` whose result is a file that was not computed here. outdated:
    the runs in `answers` whose result here was made with other settings than the plan has. upgraded: those
    whose result was computed here with other packages than are installed now; nothing is reproduced by
    comparing outdated and upgraded ones. further: seeds that `launch --first-seeds` leaves out and that were
    not computed here -> whether their result is still as committed.
    """

    systems: Mapping[str, str]
    answers: Mapping[str, Answer]
    changes: Sequence[ScoreChange]
    missing: Sequence[str]
    averages: Averages | None
    reasons: Sequence[str]
    against: str = "the committed results"
    not_evaluated: Sequence[str] = ()
    outdated: Sequence[str] = ()
    upgraded: Sequence[str] = ()
    further: Mapping[str, bool] = field(default_factory=dict)

    @property
    def identical(self) -> int:
        """Number of bit-identical runs of the plan's settings and the installed packages."""
        compared = self.answers.keys() - {*self.outdated, *self.upgraded}
        return sum(self.answers[key] == "identical" for key in compared)

    @property
    def moved(self) -> list[str]:
        """The systems with a score that moved."""
        return sorted({self.systems[key] for key, answer in self.answers.items() if answer == "moved"})

    @property
    def agrees(self) -> bool:
        """Whether every former run has a result of the plan's settings and the installed packages here,
        without a moved score."""
        as_committed = all(self.further.values())
        return as_committed and not (self.moved or self.missing or self.outdated or self.upgraded)

    @property
    def headline(self) -> str:
        """The answer in one line. Only results that were computed here can be reproduced; results with files
        of others among them are compared.
        """
        runs, systems = len(self.systems), len(set(self.systems.values()))
        if len(self.missing) == runs:
            return f"not reproduced: none of {runs} runs was evaluated here; run `make reproduce`"
        bits = [f"{self.identical} of {runs} runs here are bit-identical"]
        if as_committed := sum(self.further.values()):
            bits.append(f"{as_committed} further seeds are as committed")
        if self.not_evaluated:
            here = len(self.answers) - len(self.not_evaluated)
            bits.append(f"{here} results evaluated here, {len(self.not_evaluated)} files as checked out")
        if self.agrees:
            word = "compared" if self.not_evaluated else "reproduced"
            return f"{word}: all {systems} systems agree with {self.against}; {'; '.join(bits)}"
        parts = []
        if self.moved:
            verb = "does" if len(self.moved) == 1 else "do"
            parts.append(f"{len(self.moved)} of {systems} systems {verb} not agree with {self.against}")
        if self.missing:
            parts.append(f"{len(self.missing)} of {runs} runs not evaluated here")
        if self.outdated:
            parts.append(f"{len(self.outdated)} of {runs} results are of other settings than the plan's")
        if other := len(self.further) - sum(self.further.values()):
            parts.append(f"{other} further seeds are not as committed; `sentbench launch` trains them")
        if self.upgraded:
            parts.append(
                f"{len(self.upgraded)} of {runs} results are of other packages than the installed ones"
            )
        return f"not reproduced: {'; '.join([*parts, *bits])}"


def compare_with_committed(
    committed: Mapping[str, ResultFile],
    here: Mapping[str, ResultFile],
    *,
    machine: str,
    against: str = "the committed results",
    not_evaluated: Sequence[str] = (),
    outdated: Sequence[str] = (),
    upgraded: Sequence[str] = (),
    further: Mapping[str, bool] | None = None,
) -> Reproduction:
    """Compares results with former ones, both by the key of their run.

    machine: the architecture of this machine, as `platform.machine` names it. against, not_evaluated,
    outdated, upgraded, further: see Reproduction.
    """
    pairs = [(old, here[key]) for key, old in committed.items() if key in here]
    changes = changes_of(pairs)
    answers = answers_of_runs(pairs, changes)
    other = [pair for pair in pairs if answers[pair[0].run.key] != "identical"]
    return Reproduction(
        systems={key: "@".join(system_of(result)) for key, result in committed.items()},
        answers=answers,
        changes=changes,
        missing=[key for key in committed if key not in here],
        averages=averages_of(pairs) if other else None,
        reasons=reasons_of(other, machine) if other else [],
        against=against,
        not_evaluated=[key for key in not_evaluated if key in answers],
        outdated=[key for key in outdated if key in answers],
        upgraded=[key for key in upgraded if key in answers],
        further=further or {},
    )


def of_other_packages(
    results: Mapping[str, ResultFile], installed: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Returns the keys of the results that other packages computed, and each difference in words.

    installed: the version of each package that affects a number; packages without a recorded version do not
    count.
    """
    keys, differences = [], dict[str, None]()
    for key, result in results.items():
        recorded = result.provenance.versions
        other = [name for name, version in installed.items() if recorded.get(name, version) != version]
        if other:
            keys.append(key)
        differences |= {f"{name} {recorded[name]}, here is {installed[name]}": None for name in other}
    return keys, list(differences)


def averages_of(pairs: Sequence[Pair]) -> Averages | None:
    """Compares the means over seeds with the committed ones; None without a common score."""
    before, after = (watched_points(side) for side in zip(*pairs, strict=True))
    shared = [key for key in before if key in after]
    if not shared:
        return None
    moves = {key: abs(fmean(after[key]) - fmean(before[key])) for key in shared}
    system, name = where = max(moves, key=lambda key: moves[key])
    return Averages(
        number=len(shared),
        equal=sum(f"{fmean(before[key]):.2f}" == f"{fmean(after[key]):.2f}" for key in shared),
        largest=moves[where],
        where=f"{'@'.join(system)} {name.task}",
        spread=stdev(before[where]) if len(before[where]) > 1 else None,
    )


def watched_points(results: Iterable[ResultFile]) -> dict[tuple[System, ScoreName], list[float]]:
    """Returns the watched scores in points of the seeds of each system."""
    points: dict[tuple[System, ScoreName], list[float]] = {}
    for result in results:
        for score in result.scores:
            if is_watched(score.name):
                points.setdefault((system_of(result), score.name), []).append(100 * score.value)
    return points


def reasons_of(pairs: Iterable[Pair], machine: str) -> list[str]:
    """Returns the reasons for other digits, from the provenance of the runs."""
    reasons: dict[str, None] = {}
    for old, new in pairs:
        before, after = old.provenance, new.provenance
        for name in ("arithmetic", "device", "precision", "text"):
            committed, here = getattr(before, name), getattr(after, name)
            if committed and here and committed != here:
                reasons[f"{name} is {here} here, {committed} in the committed results"] = None
        for name, version in before.versions.items():
            if after.versions.get(name) != version:
                reasons[f"{name} is {after.versions.get(name, 'missing')} here, {version} committed"] = None
        if before.data_sha256 != after.data_sha256:
            reasons["the data differ from the committed ones"] = None
        if before.code_sha256 != after.code_sha256:
            reasons["the code differs from the committed one"] = None
        if old.run.recipe != new.run.recipe:
            reasons["the settings of the plan differ from the committed ones"] = None
    if machine not in ("x86_64", "AMD64"):
        reasons[f"this machine is {machine}: results are bit-identical on x86-64 only"] = None
    if reasons:
        return list(reasons)
    return [
        "not recorded: code, data and packages are equal, so the processor or the number of threads differs"
    ]


def explained(reproduction: Reproduction, changed: Sequence[str], *, details: bool) -> list[str]:
    """Returns the lines after the answer. changed: committed files that differ from the commit, by path."""
    lines = [*missing_lines(reproduction, details=details)]
    if reproduction.moved:
        lines.append(f"systems that do not agree: {', '.join(reproduction.moved)}")
    moved = [str(change) for change in reproduction.changes if change.answer == "moved"]
    if not details:
        lines += moved[:SCORES_NAMED]
        if len(moved) > SCORES_NAMED:
            lines.append(f"and {len(moved) - SCORES_NAMED} more scores that do not agree")
    if reproduction.averages is not None:
        lines.append(averages_line(reproduction.averages))
    if reproduction.reasons:
        lines.append(f"reason: {'; '.join(reproduction.reasons)}")
    if changed:
        lines.append(changed_line(changed, changed_files(*DETERMINES)))
    if details:
        lines += [f"{change.answer}: {change}" for change in reproduction.changes]
    elif reproduction.changes:
        lines.append(f"scores with other digits: {len(reproduction.changes)}; `--details` lists them")
    return [f"  {line}" for line in lines]


def missing_lines(reproduction: Reproduction, *, details: bool) -> list[str]:
    """Returns a line about runs that were not evaluated, no line if all or none were evaluated."""
    if not 0 < len(reproduction.missing) < len(reproduction.systems):
        return []
    shown = reproduction.missing if details else reproduction.missing[:SCORES_NAMED]
    more = len(reproduction.missing) - len(shown)
    return [f"not evaluated here: {', '.join(shown)}" + (f" and {more} more" if more else "")]


def averages_line(over: Averages) -> str:
    """Returns a line with the number of equal averages over seeds and the largest difference."""
    spread = ""
    if over.spread is not None:
        spread = f", where the standard deviation over seeds is {over.spread:.2f}"
    return (
        f"{over.equal} of {over.number} averages over seeds are equal to the reported digit; the largest "
        f"difference is {over.largest:.2f} points ({over.where}){spread}"
    )


def changed_line(changed: Sequence[str], sources: Sequence[str]) -> str:
    """Returns a line about changed committed files, by folder, and the command that restores them. sources:
    changed files that determine numbers, without which a launch restores the outputs too.
    """
    folders = Counter(Path(name).parent.as_posix() if "/" in name else name for name in changed)
    counts = [name if name in changed else f"{number} in {name}" for name, number in folders.items()]
    tops = dict.fromkeys(name.split("/")[0] for name in (*sources, *changed))
    restore = f"git restore {' '.join(tops)}"
    undo = f"`{restore}` restores them until the next launch"
    if sources:
        undo = f"`{restore} && sentbench launch` undoes them and the changes of {', '.join(sources)}"
    return f"changed files: {', '.join(counts)}; {undo}"
