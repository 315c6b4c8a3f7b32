"""What the report knows of a run besides its scores: its record, its training curve, its wall time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.records import read_object
from harness.report.charts.curves import CurvePoint
from harness.results.schema import ResultFile, Selection

TIMED = ("train", "evaluate")
"""The stages whose wall time makes up that of a run."""
AGAIN = "delete the file and run its stage again"


def slug(text: str) -> str:
    """Returns the text as part of an id: lower-case letters and digits, anything else as one hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True)
class RunDetail:
    """One run: what it is, what its numbers depend on, and the command that makes them again.

    seconds: wall time of training and evaluation, None if no log has it. curve: its evaluations, if any. by:
    who ran it and may be named, nothing for a run of ours. date: of its commit, nothing if that is not known.
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
    git_dirty: bool = False
    identity: str = ""
    encoder_sha256: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    selection: Selection | None = None
    seconds: float | None = None
    curve: tuple[CurvePoint, ...] = ()
    by: str = ""
    date: str = ""

    @property
    def system(self) -> str:
        """What its seeds have in common: method, variant and backbone."""
        return " · ".join(part for part in (self.method, self.variant, self.backbone) if part)

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
        seconds: float | None = None,
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
            git_commit=provenance.git_commit,
            git_dirty=provenance.git_dirty,
            device=provenance.device,
            precision=provenance.precision,
            data_sha256=provenance.data_sha256,
            identity=run.identity,
            encoder_sha256=provenance.encoder_sha256,
            versions=provenance.versions,
            selection=result.selection,
            seconds=seconds,
            curve=curve,
            by=by,
            date=date,
        )


def run_details(
    results: Iterable[ResultFile],
    *,
    curves: Path,
    costs: Path,
    contributors: Mapping[str, str],
    dates: Mapping[str, str],
) -> dict[str, RunDetail]:
    """Returns the detail of every run by its key.

    curves: folder of RUN.jsonl, the evaluations during training. costs: folder of RUN.STAGE.json with
    `STAGE_seconds`. contributors: who ran a run that is not ours, by its key. dates: of commits.
    Errors: InputError for a file there that is not what training or evaluation wrote.
    """
    return {
        result.run.key: RunDetail.from_result(
            result,
            seconds=read_seconds(costs, result.run.key),
            curve=read_curve(curves / f"{result.run.key}.jsonl", result.run.seed),
            by=contributors.get(result.run.key, ""),
            date=dates.get(result.provenance.git_commit, ""),
        )
        for result in results
    }


def read_curve(path: Path, seed: int) -> tuple[CurvePoint, ...]:
    """Returns the evaluations of one run; none where the file is absent."""
    if not path.is_file():
        return ()
    try:
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return tuple(
            CurvePoint(seed, entry["step"], entry["score"], entry.get("alignment"), entry.get("uniformity"))
            for entry in entries
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, "an evaluation a line", error) from None


def read_seconds(folder: Path, key: str) -> float | None:
    """Returns the wall time of a run's training and evaluation on the machine that ran it last, if logged."""
    paths = {f"{stage}_seconds": folder / f"{key}.{stage}.json" for stage in TIMED}
    if not all(path.is_file() for path in paths.values()):
        return None
    return sum(_number(path, name) for name, path in paths.items())


def _number(path: Path, name: str) -> float:
    value = read_object(path, name, again=AGAIN)[name]
    if not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InputError(f"{path}: {name} is {value!r}, expected seconds; {AGAIN}")
    return float(value)


def _damaged(path: Path, expected: str, error: Any) -> InputError:
    fault = " ".join(f"{type(error).__name__}: {error}".split())
    return InputError(f"{path}: expected {expected} ({fault}); {AGAIN}")
