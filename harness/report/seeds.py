"""From the long frame of scores to the seeds that fill one cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from harness.errors import InputError
from harness.report import statistics
from harness.report.spec import ColumnSpec, Selector, TableSpec

ScoreKey = tuple[str, str, str, str, str]
"""Task, metric, setting, selection and text form: what a column asks for."""


class SeedScore(NamedTuple):
    """One run's score in one column, in raw units; `pairs` is the size of the test set."""

    key: str
    method: str
    variant: str
    backbone: str
    seed: int
    recipe: str
    value: float
    pairs: int


@dataclass(frozen=True)
class ScoreIndex:
    """The scores that the columns of one table ask for."""

    spec: TableSpec
    by_column: Mapping[ScoreKey, Sequence[SeedScore]]

    def seeds(self, column: ColumnSpec, selector: Selector) -> list[SeedScore]:
        """Returns the selected runs' scores in a column, one a seed, by seed.

        The score of a mean is the unrounded mean of its parts, for the runs that have all of them.
        Errors: InputError if two runs claim one seed or come from different recipes.
        """
        if column.mean_of:
            return _mean_scores([self.seeds(self.spec.column(key), selector) for key in column.mean_of])
        wanted = selector.model_dump(exclude_none=True)
        found = [
            score
            for score in self.by_column.get(_score_key(column), ())
            if all(getattr(score, name) == value for name, value in wanted.items())
        ]
        found.sort(key=lambda score: score.seed)
        for one, other in pairwise(found):
            if one.seed == other.seed or one.recipe != other.recipe:
                fault = f"both have seed {one.seed}" if one.seed == other.seed else "have different recipes"
                raise InputError(
                    f"table {self.spec.key}, column {column.key}: runs {one.key!r} and {other.key!r} fill "
                    f"one cell but {fault}, expected one recipe and one run a seed; narrow the row's runs"
                )
        return found


def _score_key(column: ColumnSpec) -> ScoreKey:
    return (column.task or "", column.metric, column.setting, column.selection, column.text)


def _mean_scores(parts: Sequence[Sequence[SeedScore]]) -> list[SeedScore]:
    """Returns the mean over the parts of every run that has all of them."""
    by_run = [{score.key: score for score in part} for part in parts]
    return [
        score._replace(
            value=statistics.mean([scores[key].value for scores in by_run]),
            pairs=sum(scores[key].pairs for scores in by_run),
        )
        for key, score in by_run[0].items()
        if all(key in scores for scores in by_run)
    ]


def index_scores(frame: pd.DataFrame, spec: TableSpec) -> ScoreIndex:
    """Returns the index over `frame` (see `harness.results.store.to_frame`) that one table needs."""
    wanted = {_score_key(column) for column in [*spec.columns, *spec.parts] if column.task}
    by_column: dict[ScoreKey, list[SeedScore]] = {key: [] for key in wanted}
    rows = frame[frame["task"].isin([key[0] for key in wanted])]
    for row in rows.to_dict("records"):
        key = (row["task"], row["metric"], row["setting"], row["selection"], row["text"])
        if key in wanted:
            score = {name: row[name] for name in SeedScore._fields if name != "pairs"}
            by_column[key].append(SeedScore(**score, pairs=int(row["n"])))
    return ScoreIndex(spec, by_column)


def list_systems(frame: pd.DataFrame) -> list[Selector]:
    """Returns the systems (method, variant, backbone) of a frame in the order of their first score."""
    rows = frame[["method", "variant", "backbone"]].drop_duplicates().to_dict("records")
    return [Selector(method=row["method"], variant=row["variant"], backbone=row["backbone"]) for row in rows]
