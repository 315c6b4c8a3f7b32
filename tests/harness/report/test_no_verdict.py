"""A row whose corpus or settings are not the paper's has no verdict by our runs, and says so."""

from collections.abc import Iterator
from pathlib import Path

from harness.evidence.spec import CellSpec, TableSpec
from harness.plan.recipes import declared_systems, load_corpora, load_recipes
from harness.plan.resolve import resolve
from harness.report.tables.model import Cell, Table, TableRow

RECIPES = load_recipes()
SYSTEMS = declared_systems(RECIPES)
CORPORA = load_corpora()

TEXTS_OF: dict[str, str] = {
    **dict.fromkeys(["sct", "congen", "ckd", "mse-distill"], "back-translated NLI sentences"),
    **dict.fromkeys(["bert-flow", "bert-whitening"], "all of SNLI and MultiNLI"),
    "simcse/back-translation-fr": "back-translations by translators that are not stated",
    "bt-contrastive": "back-translations that are not stated",
    "mirror-bert": "stsb-train-texts",
    "sg-opt": "stsb-texts",
    "consert": "sts-texts",
}
"""Corpora of reported rows, by system or system and variant; the others were trained on `wiki1m`."""


def scores(
    specs: dict[str, TableSpec], tables: dict[str, Table]
) -> Iterator[tuple[str, str, str, TableRow, Cell]]:
    """Yields every reported score with a run of ours: paper, published row, system, row and cell."""
    for key, spec in specs.items():
        for row, shown in zip(spec.rows, tables[key].rows, strict=False):
            for column, cell in zip(spec.columns, shown.cells, strict=True):
                choice = spec.choice(row, column)
                reported = row.cells.get(column.key, CellSpec()).published or row.published
                if choice and reported and cell.published is not None and column.unit == "scaled":
                    yield key.partition("/")[0], reported, choice.system, shown, cell


def texts(system: str) -> str:
    """Returns the source that a system's corpus was made of."""
    corpus = SYSTEMS[system].corpus
    while corpus in CORPORA:
        corpus = Path(CORPORA[corpus].origin).name
    return corpus


def test_a_row_trained_on_other_texts_than_the_paper_s_has_no_verdict(
    specs: dict[str, TableSpec], tables: dict[str, Table]
) -> None:
    others = 0
    for _, reported, system, row, cell in scores(specs, tables):
        if SYSTEMS[system].method in ("pooled", "glove"):
            continue  # nothing is trained
        name = reported.partition("@")[0]
        if texts(system) != TEXTS_OF.get(name, TEXTS_OF.get(name.partition("/")[0], "wiki1m")):
            others += 1
            assert cell.no_verdict, (system, reported)
            assert "no verdict from our runs" in row.source
    assert others > 200


def test_the_reason_is_not_part_of_a_run() -> None:
    """A changed reason retrains no run."""
    declared, other = RECIPES["sct"].systems, {"no_verdict": "another word"}
    systems = {key: system.model_copy(update=other) for key, system in declared.items()}
    changed = {**RECIPES, "sct": RECIPES["sct"].model_copy(update={"systems": systems})}
    assert any(system.no_verdict for system in declared.values())
    assert resolve(changed, ["sct"], seeds=1) == resolve(RECIPES, ["sct"], seeds=1)
