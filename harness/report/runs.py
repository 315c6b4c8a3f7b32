"""What the report knows of a run besides its scores: its record and its training curve."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import InputError
from harness.records import read_lines
from harness.report.charts.curves import CurvePoint
from harness.results.schema import ResultFile, Selection

AGAIN = "delete the file and run its stage again"


def slug(text: str) -> str:
    """Returns the text as part of an id: lower-case letters and digits, anything else as one hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True)
class RunDetail:
    """One run: what it is, what its numbers depend on, and the command that makes them again.

    curve: its evaluations, if any. by: who ran it and may be named, nothing for a run of ours. code: the
    sha256 of the code that made it. git_commit: of that code where others ran it, else empty. date: of that
    commit, if it is known.
    """

    key: str
    method: str
    variant: str
    backbone: str
    seed: int
    command: str
    git_commit: str
    device: str
    precision: str
    data_sha256: Mapping[str, str]
    code: str = ""
    identity: str = ""
    encoder_sha256: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    selection: Selection | None = None
    curve: tuple[CurvePoint, ...] = ()
    by: str = ""
    date: str = ""

    @property
    def system(self) -> str:
        """What its seeds have in common: method, variant and backbone."""
        return " · ".join(part for part in (self.method, self.variant, self.backbone) if part)

    @property
    def made_from(self) -> str:
        """What names its code: the commit where others ran it, else the fingerprint of the code, if known."""
        if self.git_commit:
            return f"commit {self.git_commit[:10]}"
        return f"code {self.code[:10]}" if self.code else "not recorded"

    @property
    def trains(self) -> bool:
        """Whether it took a training step."""
        return self.selection is None or self.selection.last_step > 0

    @property
    def anchor(self) -> str:
        """The id of its system's section on a page."""
        return f"system-{slug(self.system)}"

    @classmethod
    def from_result(
        cls,
        result: ResultFile,
        *,
        curve: tuple[CurvePoint, ...] = (),
        by: str = "",
        date: str = "",
    ) -> RunDetail:
        """Returns the detail of a result file; what the file does not hold is given beside it."""
        run, provenance = result.run, result.provenance
        return cls(
            key=run.key,
            method=run.method,
            variant=run.variant,
            backbone=run.backbone,
            seed=run.seed,
            command=f"dvc repro evaluate@{run.key}",
            code=provenance.code_sha256 or "",
            git_commit=provenance.git_commit or "",
            device=provenance.device,
            precision=provenance.precision,
            data_sha256=provenance.data_sha256,
            identity=run.identity,
            encoder_sha256=provenance.encoder_sha256,
            versions=provenance.versions,
            selection=result.selection,
            curve=curve,
            by=by,
            date=date,
        )


def run_details(
    results: Iterable[ResultFile],
    *,
    curves: Path,
    contributors: Mapping[str, str],
    dates: Mapping[str, str],
) -> dict[str, RunDetail]:
    """Returns the detail of every run by its key.

    curves: folder of RUN.jsonl, the evaluations during training. contributors: who ran a run that is not
    ours, by its key. dates: of commits.
    Errors: InputError for a file there that is not what training or evaluation wrote.
    """
    return {
        result.run.key: RunDetail.from_result(
            result,
            curve=read_curve(curves / f"{result.run.key}.jsonl", result.run.seed),
            by=contributors.get(result.run.key, ""),
            date=dates.get(result.provenance.git_commit or "", ""),
        )
        for result in results
    }


def read_curve(path: Path, seed: int) -> tuple[CurvePoint, ...]:
    """Returns the evaluations of one run; none where the file is absent."""
    if not path.is_file():
        return ()
    expected = "an evaluation a line"
    entries = read_lines(path, expected=expected, again=AGAIN)
    wrong = next((entry for entry in entries if not {"step", "score"} <= set(entry)), None)
    if wrong is not None:
        raise InputError(f"{path}: expected {expected} with step and score, not {str(wrong)[:80]}; {AGAIN}")
    return tuple(
        CurvePoint(seed, entry["step"], entry["score"], entry.get("alignment"), entry.get("uniformity"))
        for entry in entries
    )
