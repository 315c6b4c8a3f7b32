"""From the scores of all runs to the seeds that fill one cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from harness.errors import InputError
from harness.facts import statistics
from harness.facts.run_choice import RunChoice, RunSystem
from harness.facts.spec import ColumnSpec, TableSpec
from harness.results.schema import ResultFile

ScoreKey = tuple[str, str, str, str, str]
"""Task, metric, setting, selection and text form: what a column asks for."""


class SeedScore(NamedTuple):
    """One run in one column: its score there and its development score, in raw units; `pairs` is the size of
    the test set.
    """

    key: str
    system: str
    backbone: str
    seed: int
    recipe: str
    value: float
    pairs: int
    dev: float


@dataclass(frozen=True)
class ScoreIndex:
    """All scores by column and system, and the systems they belong to in the order of their first score."""

    by_column: Mapping[tuple[ScoreKey, str], Sequence[SeedScore]]
    systems: Sequence[RunSystem]

    def seeds(self, spec: TableSpec, column: ColumnSpec, choice: RunChoice) -> list[SeedScore]:
        """Returns the chosen runs' scores in a column, one a seed, by seed.

        The score of a mean is the unrounded mean of its parts, for the runs that have all of them.
        Errors: InputError if two runs claim one seed or come from different recipes.
        """
        if column.mean_of:
            return _mean_scores([self.seeds(spec, spec.column(key), choice) for key in column.mean_of])
        key = (column.task or "", column.metric, column.setting, column.selection, column.text)
        found = [
            score
            for score in self.by_column.get((key, choice.system), ())
            if score.backbone == choice.backbone and (not choice.seeds or score.seed in choice.seeds)
        ]
        found.sort(key=lambda score: score.seed)
        for one, other in pairwise(found):
            if one.key == other.key:
                raise InputError(
                    f"run {one.key!r} states {column.task} {column.metric} {column.setting} "
                    f"({column.selection}) twice, expected once; evaluate the run again"
                )
            if one.seed == other.seed or one.recipe != other.recipe:
                fault = f"both have seed {one.seed}" if one.seed == other.seed else "have different recipes"
                raise InputError(
                    f"table {spec.key}, column {column.key}: runs {one.key!r} and {other.key!r} fill "
                    f"one cell but {fault}, expected one recipe and one run a seed; narrow the row's runs"
                )
        return found


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


def index_scores(results: Iterable[ResultFile]) -> ScoreIndex:
    """Returns the index over all scores of result files."""
    by_column: dict[tuple[ScoreKey, str], list[SeedScore]] = {}
    systems: dict[RunSystem, None] = {}
    for result in results:
        run, text = result.run, result.provenance.text
        named = run.key, run.id, run.backbone, run.seed, run.recipe
        for score in result.scores:
            key = (score.task, score.metric, score.setting, score.selection, text)
            seed = SeedScore(*named, score.value, score.n, result.selection.best_dev)
            by_column.setdefault((key, run.id), []).append(seed)
        systems[RunSystem.of(run.id, run.method, run.variant, run.backbone)] = None
    return ScoreIndex(by_column, list(systems))
