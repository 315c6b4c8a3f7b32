"""Reading and writing result files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError
from harness.evidence.schema import SCHEMA, ResultFile, RunRecord, ScoreRecord
from harness.io.declarations import check_texts, validated
from harness.io.files import write_record
from harness.io.records import read_object, rounded

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = [*RunRecord.model_fields, "task", "metric", "setting", "selection", "text", "value", "n"]

_SCORE_FIELDS = set(ScoreRecord.model_fields)


def write_result(path: Path, result: ResultFile) -> None:
    """Writes one result file atomically, its numbers rounded; equal results give equal bytes."""
    write_record(path, rounded(result.model_dump(mode="json", by_alias=True, exclude_none=True)))


def read_result(path: Path) -> ResultFile:
    """Returns one result file.

    Errors: InputError if it is not a regular file, not JSON, has another schema number, an unknown or missing
    field, a value that is not finite or out of its metric's range, or a wrong digest.
    """
    again = "delete it and evaluate the run again"
    raw = read_object(path, again=again)
    if raw.get("schema") != SCHEMA:
        shown = json.dumps(raw.get("schema"))[:80]
        raise InputError(f"{path}: result schema {shown}, expected {SCHEMA}; {again}")
    check_texts(raw, where=str(path))
    return validated(ResultFile, raw, where=str(path))


def read_results(
    paths: Iterable[Path], *, kept: Callable[[RunRecord, ScoreRecord], bool] = lambda run, score: True
) -> list[ResultFile]:
    """Returns the result files in the order of their names; two files of one run are an error.

    kept: selects scores; all scores of thousands of files take gigabytes.
    """
    return each_once([slim(read_result(path), kept) for path in sorted(paths)])


def each_once(results: list[ResultFile]) -> list[ResultFile]:
    """Returns the results; InputError if two are of one run."""
    seen: set[str] = set()
    for result in results:
        if result.run.key in seen:
            raise InputError(f"run {result.run.key!r} has two result files; delete the one that is stale")
        seen.add(result.run.key)
    return results


def slim(result: ResultFile, kept: Callable[[RunRecord, ScoreRecord], bool]) -> ResultFile:
    """Returns a result with the selected scores alone."""
    scores = [score for score in result.scores if kept(result.run, score)]
    for score in scores:  # pydantic keeps the names of the given fields for each value; one set serves all
        object.__setattr__(score, "__pydantic_fields_set__", _SCORE_FIELDS)
    return result.model_copy(update={"scores": scores})


def to_frame(results: Iterable[ResultFile]) -> pd.DataFrame:
    """Returns one row per score with the columns of `SCORE_COLUMNS`, values in raw units."""
    import pandas as pd  # takes half a second to import

    rows = [
        {**result.run.model_dump(), **score.model_dump(), "text": result.provenance.text}
        for result in results
        for score in result.scores
    ]
    return pd.DataFrame(rows, columns=SCORE_COLUMNS)
