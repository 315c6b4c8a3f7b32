"""What the report knows of a run besides its scores: its record and its training curve."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.report.charts.curves import CurvePoint
from harness.results import curves as stored_curves
from harness.results.schema import ResultFile, Selection

AGAIN = "delete the file and run its stage again"


def slug(text: str) -> str:
    """Returns the text as part of an id: lower-case letters and digits, anything else as one hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True)
class RunDetail:
    """One run: what it is, what its numbers depend on, and the command that makes them again.

    curve: its evaluations, if any. code: the sha256 of the code that made it. git_commit: of that code, empty
    where the result does not state it.
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

    @property
    def system(self) -> str:
        """What its seeds have in common: method, variant and backbone."""
        return " · ".join(part for part in (self.method, self.variant, self.backbone) if part)

    @property
    def made_from(self) -> str:
        """What names its code: the commit that it states, else the fingerprint of the code, if known."""
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
    def from_result(cls, result: ResultFile, *, curve: tuple[CurvePoint, ...] = ()) -> RunDetail:
        """Returns the detail of a result file with its curve, which the file does not hold."""
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
        )


def run_details(results: Iterable[ResultFile], *, curves: Path) -> dict[str, RunDetail]:
    """Returns the detail of every run by its key; curves: folder of RUN.json, the evaluations of trainings.

    Errors: InputError for a file there that is not what training or evaluation wrote.
    """
    return {
        result.run.key: RunDetail.from_result(
            result,
            curve=read_curve(curves / f"{result.run.key}.json", result.run.seed),
        )
        for result in results
    }


def read_curve(path: Path, seed: int) -> tuple[CurvePoint, ...]:
    """Returns the evaluations of one run; none where the file is absent."""
    if not path.is_file():
        return ()
    return tuple(
        CurvePoint(seed, point.step, point.score, point.alignment, point.uniformity)
        for point in stored_curves.read_curve(path, again=AGAIN)
    )
