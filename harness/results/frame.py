"""The scores of result files as one table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from harness.results.schema import ResultFile, RunRecord
from harness.results.store import read_results

COLUMNS = [*RunRecord.model_fields, "task", "metric", "setting", "selection", "text", "value", "n"]


def to_frame(results: Iterable[ResultFile]) -> pd.DataFrame:
    """Returns one row per score with the columns of `COLUMNS`, values in raw units."""
    rows = [
        {**result.run.model_dump(), **score.model_dump(), "text": result.provenance.text}
        for result in results
        for score in result.scores
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def read_scores(folder: Path) -> pd.DataFrame:
    """Returns all scores of a folder of result files as one long frame (see `to_frame`)."""
    return to_frame(read_results(folder.glob("*.json")))
