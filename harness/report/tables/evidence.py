"""Inputs of tables: scores of runs, published numbers and independent results."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.ledger import Ledger
from harness.evidence.published import Published
from harness.evidence.schema import ResultFile, RunRecord
from harness.evidence.settling import Price
from harness.evidence.spec import ColumnSpec, RunChoice, TableSpec


class SeedScore(NamedTuple):
    """One run in one column: its score and its development score, in raw units; `pairs` is the size of the
    test set.
    """

    run: RunRecord
    value: float
    pairs: int
    dev: float


Scores = Mapping[tuple[str, ...], Sequence[SeedScore]]
"""By system, backbone, task, metric and setting, of the weights best on dev and of SentEval's text."""


@dataclass(frozen=True)
class Evidence:
    """All inputs of a table besides its spec.

    ledger: independent results. systems: display names of the systems in tables of runs, in order; by default
    the systems of the scores. prices: costs of a seed, by system and backbone.
    recipes: the recipe that declares a system, by the system's id. settings: `config`, `train` and
    `no_verdict` of every declared system. seeds: of every declared system, in order.
    """

    results: Sequence[ResultFile]
    published: Published
    ledger: Ledger
    systems: Mapping[RunChoice, str] = field(default_factory=dict)
    prices: Mapping[tuple[str, str], Price] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    recipes: Mapping[str, str] = field(default_factory=dict)
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @cached_property
    def scores(self) -> Scores:
        """Our scores; sorted once for all tables."""
        return _sorted(self.results)

    @cached_property
    def untrained(self) -> set[tuple[str, str]]:
        """The systems with their backbones without any training step."""
        steps: Counter[tuple[str, str]] = Counter()
        for result in self.results:
            steps[result.run.id, result.run.backbone] += result.selection.last_step
        return {system for system, count in steps.items() if not count}


def _sorted(results: Iterable[ResultFile]) -> Scores:
    by_key: dict[tuple[str, ...], list[SeedScore]] = {}
    for result in results:
        run = result.run
        for score in result.scores:
            if (score.selection, result.provenance.text) == ("best-dev", "senteval"):
                key = (run.id, run.backbone, score.task, score.metric, score.setting)
                seed = SeedScore(run, score.value, score.n, result.selection.best_dev)
                by_key.setdefault(key, []).append(seed)
    return by_key


def in_declared_order(seeds: Sequence[SeedScore], declared: Sequence[int]) -> tuple[list[SeedScore], int]:
    """Returns scores in the declared order of their seeds, then the rest by number; and the number of scores
    before the first missing declared seed.

    The order is fixed before any run, so verdicts do not depend on the order of finished runs. Without a
    declaration all count, by number.
    """
    if not declared:
        return sorted(seeds, key=lambda score: score.run.seed), len(seeds)
    position = {seed: number for number, seed in enumerate(declared)}
    ordered = sorted(seeds, key=lambda score: (position.get(score.run.seed, len(position)), score.run.seed))
    met = [position.get(score.run.seed) for score in ordered]
    return ordered, sum(declared_number == number for number, declared_number in enumerate(met))


def seeds_of(
    scores: Scores, spec: TableSpec, column: ColumnSpec, choice: RunChoice | None
) -> list[SeedScore]:
    """Returns the chosen runs' scores in a column, one per seed, by seed; empty without a choice.

    The score of a mean is the unrounded mean of its parts, for the runs that have all of them.
    Errors: InputError if two runs claim one seed or come from different recipes.
    """
    if choice is None:
        return []
    if column.mean_of:
        parts = [spec.by_key[key] for key in column.mean_of]
        return _mean_scores([seeds_of(scores, spec, part, choice) for part in parts])
    asked = (choice.system, choice.backbone, column.task or "", column.metric, column.setting)
    chosen = [score for score in scores.get(asked, ()) if not choice.seeds or score.run.seed in choice.seeds]
    chosen.sort(key=lambda score: score.run.seed)
    for first, second in pairwise(score.run for score in chosen):
        if first.seed == second.seed or first.recipe != second.recipe:
            fault = f"both have seed {first.seed}" if first.seed == second.seed else "have different recipes"
            raise InputError(
                f"table {spec.key}, column {column.key}: runs {first.key!r} and {second.key!r} fill "
                f"one cell but {fault}; narrow the row's runs"
            )
    return chosen


def _mean_scores(parts: Sequence[Sequence[SeedScore]]) -> list[SeedScore]:
    """Returns the mean over the parts of every run that has all of them."""
    by_run = [{score.run.key: score for score in part} for part in parts]
    return [
        score._replace(
            value=statistics.mean([scores[key].value for scores in by_run]),
            pairs=sum(scores[key].pairs for scores in by_run),
        )
        for key, score in by_run[0].items()
        if all(key in scores for scores in by_run)
    ]
