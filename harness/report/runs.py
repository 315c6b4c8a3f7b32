"""Details of a run besides its scores: its record and its training curve."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.evidence.curves import DevEvaluation, read_curve
from harness.evidence.schema import ResultFile, RunRecord, ScoreRecord


def slug(text: str) -> str:
    """Returns the text as part of an id: lower-case letters and digits, anything else as one hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def selected_scores(result: ResultFile) -> list[ScoreRecord]:
    """Returns the scores of the selected weights of a run, which come first."""
    return [score for score in result.scores if score.selection == result.scores[0].selection]


@dataclass(frozen=True)
class RunDetail:
    """One run: its result, and its evaluations during training, if it was trained."""

    result: ResultFile
    curve: tuple[DevEvaluation, ...] = ()

    @property
    def about(self) -> RunRecord:
        """Identity of the run."""
        return self.result.run

    @property
    def system(self) -> str:
        """Key shared by its seeds: method, variant and backbone."""
        return " · ".join(filter(None, (self.about.method, self.about.variant, self.about.backbone)))

    @property
    def made_from(self) -> str:
        """Identity of its code: the stated commit, otherwise the fingerprint of the code, if known."""
        provenance = self.result.provenance
        if provenance.git_commit:
            return f"commit {provenance.git_commit[:10]}"
        return f"code {provenance.code_sha256[:10]}" if provenance.code_sha256 else "not recorded"

    @property
    def anchor(self) -> str:
        """The id of its system's section on a page."""
        return f"system-{slug(self.system)}"


class RunRecords(NamedTuple):
    """The records of the runs of a system. same: what is equal in all of them, by its heading; heads: the
    other headings; rows: a run's values under them.
    """

    same: Mapping[str, str]
    heads: Sequence[str]
    rows: Sequence[tuple[RunDetail, Sequence[str]]]


def records_of(runs: Sequence[RunDetail]) -> RunRecords:
    """Returns the records of the runs of a system, with each equal value of several runs once."""
    values: dict[str, list[str]] = {
        "Untrained": [f"{100 * run.result.selection.initial_dev:.2f}" for run in runs],
        "Device": [run.result.provenance.device for run in runs],
        "Precision": [run.result.provenance.precision for run in runs],
        "Code": [run.made_from for run in runs],
        "Encoder": [run.result.provenance.encoder_sha256[:16] for run in runs],
    }
    same = {head: texts[0] for head, texts in values.items() if len(runs) > 1 and len(set(texts)) == 1}
    heads = [head for head in values if head not in same]
    rows = [(run, [values[head][place] for head in heads]) for place, run in enumerate(runs)]
    return RunRecords(same, heads, rows)


def run_list(keys: Sequence[str]) -> str:
    """Returns keys of runs as one short text for the pages' script: their common start, then their ends,
    which are their seeds unless they differ before."""
    start = keys[0].rstrip("0123456789")
    start = start if all(key.startswith(start) for key in keys) else ""
    return f"{start}|{' '.join(key.removeprefix(start) for key in keys)}"


def run_details(results: Iterable[ResultFile], *, curves: Path) -> dict[str, RunDetail]:
    """Returns the detail of every run by its key; curves: folder of RUN.json, the evaluations of trainings.

    Errors: InputError for an invalid file.
    """
    details = {}
    for result in results:
        path = curves / f"{result.run.key}.json"
        curve = read_curve(path, again="delete the file and run its stage again") if path.is_file() else []
        details[result.run.key] = RunDetail(result, tuple(curve))
    return details
