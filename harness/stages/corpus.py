"""A derived corpus: the sentences of its origin with their augmentations."""

from typing import Any

from harness.data.augmentation.augmenters import build_augmenter, column_of, read_columns
from harness.data.augmentation.records import augment_all, count_outcomes
from harness.data.augmentation.views import Copy, Generate, read_views
from harness.data.corpora import evenly_spaced
from harness.stages.inputs import StageInputs

ROWS = "corpus.tsv"


def run(inputs: StageInputs) -> dict[str, Any]:
    """Writes `corpus.tsv`: a line for each row of the origin with its views after tabs, in their order.

    folders: origin, tool and state, from which a killed call continues to the same bytes. Returns the counts
    of rows and of each view's outcomes. Errors: InputError that names the corpus and the view, if a column
    is missing or too many outputs are bad.
    """
    entry, name = inputs.entry, inputs.record["name"]
    views = read_views(entry.views, where=f"corpus {name}")
    rows = evenly_spaced(read_columns(inputs.folders["origin"]), entry.rows)
    columns, described = [[row[0] for row in rows]], []
    for number, view in enumerate(views, 1):
        where = f"corpus {name}, view {number}"
        texts = column_of(rows, 0 if isinstance(view, Copy) else view.column, where=where)
        augmenter = build_augmenter(
            view, rows, seed=entry.seed, number=number, tool=inputs.folders["tool"], device=inputs.device
        )
        records = augment_all(texts, augmenter, inputs.folders["state"] / str(number))
        limit = view.fallback_limit if isinstance(view, Generate) else None
        outcomes = count_outcomes(records, limit=limit, where=where)
        described.append({**view.model_dump(), "outcomes": outcomes})
        columns.append([record.text for record in records])
    lines = ["\t".join(row) + "\n" for row in zip(*columns, strict=True)]
    (inputs.out / ROWS).write_text("".join(lines), encoding="utf-8", newline="\n")
    return {"rows": len(lines), "views": described}
