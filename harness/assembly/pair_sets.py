"""The sentence pairs of the plan's test sets with what every system makes of them, for the report."""

from __future__ import annotations

from typing import Any

from harness.compute.pairs import stored_cosines
from harness.data.sources import source_named
from harness.paths import EMBEDDINGS, STORE_RECORD
from harness.plan.entries import Params
from harness.report.disagreement import PairSet
from harness.results.embeddings import EmbeddingStore
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask, Subsets


def pair_sets(params: Params) -> tuple[PairSet, ...]:
    """Returns the test sets of the plan by the vectors that its runs stored; nothing where none are stored.

    Development sets and tasks that pick pairs of another one (a name with arguments) are left out.
    Errors: InputError if a store is damaged, or the data of a stored evaluation is missing.
    """
    stores: dict[str, list[EmbeddingStore]] = {}
    wanted: dict[tuple[str, str], None] = {}
    for key, run in params.runs.items():
        if (EMBEDDINGS / key / STORE_RECORD).is_file():
            stores.setdefault(f"{run.id}@{run.backbone_name}", []).append(
                EmbeddingStore.load(EMBEDDINGS / key)
            )
            wanted |= dict.fromkeys((name, run.text) for name in run.tasks if ":" not in name)
    return tuple(
        PairSet(
            task=task.name,
            licence=source_named(task.source).licence,
            cosines={name: values.tolist() for name, values in stored_cosines(task, stores).items()},
            **described(task.subsets),
        )
        for name, text in wanted
        for task in build_tasks([name], text=text)
        if isinstance(task, StsTask) and not task.name.endswith("-dev")
    )


def described(subsets: Subsets) -> dict[str, Any]:
    """Returns what a set says of its pairs, subset after subset: names, gold scores, lengths, sentences."""
    named = [(subset, pair) for subset, pairs in subsets.items() for pair in pairs]
    return {
        "subsets": tuple(subset for subset, _ in named),
        "gold": tuple(float(pair.score) for _, pair in named),
        "words": tuple((len(pair.first.split()) + len(pair.second.split())) / 2 for _, pair in named),
        "texts": tuple((pair.first, pair.second) for _, pair in named),
    }
