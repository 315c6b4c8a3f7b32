"""Table specs: all papers are covered, every name resolves, a wrong name is one line."""

from collections import Counter
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.evidence.published import Published
from harness.evidence.spec import RunChoice, TableSpec, check_spec, load_specs
from harness.plan.recipes import declared_systems, load_recipes
from harness.tasks.registry import TASKS
from tests.support.yaml_files import dump_yaml

SYSTEMS = {key: system.backbones for key, system in declared_systems(load_recipes()).items()}
TOY = {
    "key": "toy",
    "title": "Toy",
    "published": "pcl/table3",
    "columns": [{"key": "STS12", "task": "STS12"}, {"key": "Avg", "mean_of": ["STS12"]}],
    "rows": [
        {
            "title": "PCL",
            "run": "pcl@bert-base-uncased",
            "published": "pcl@bert-base-uncased",
        }
    ],
}


def changed(**changes: object) -> TableSpec:
    return TableSpec.model_validate({**TOY, **changes})


def changed_row(**changes: object) -> TableSpec:
    return changed(rows=[{**TOY["rows"][0], **changes}])  # type: ignore[dict-item]


def test_every_table_and_figure_of_the_five_papers_has_a_spec(specs: dict[str, TableSpec]) -> None:
    counts = Counter((key.partition("/")[0], spec.kind) for key, spec in specs.items() if "/" in key)
    tables = {"pcl": 4, "dclr": 2, "ptbert": 7, "sct": 7, "una": 9}
    figures = {"pcl": 3, "dclr": 6, "ptbert": 1, "sct": 2}
    assert counts == {
        **{(paper, "table"): count for paper, count in tables.items()},
        **{(paper, "figure"): count for paper, count in figures.items()},
    }


def test_every_name_in_every_spec_is_known(specs: dict[str, TableSpec], published: Published) -> None:
    for spec in specs.values():
        check_spec(spec, published, tasks=TASKS, systems=SYSTEMS)
    assert len(specs) == 48


def test_every_row_of_a_shown_table_is_in_its_spec(specs: dict[str, TableSpec], published: Published) -> None:
    shown = [spec for spec in specs.values() if spec.published]
    for spec in shown:
        named = {row.published for row in spec.rows}
        named |= {cell.published for row in spec.rows for cell in row.cells.values()}
        assert {row.key for row in published.table(spec.published or "").rows} <= named, spec.key
    assert len(shown) == 39


def test_a_column_completes_a_row_and_a_cell_takes_precedence() -> None:
    spec = changed(
        columns=[
            {"key": "STS12", "task": "STS12", "run": "@roberta-base", "seeds": [7]},
            {"key": "STS13", "task": "STS13", "run": "@roberta-base"},
        ],
        rows=[
            {"title": "PCL", "run": "pcl", "seeds": [4, 5], "cells": {"STS12": {"run": "pcl-k3"}}},
            {"title": "cited"},
            {"title": "one cell", "cells": {"STS13": {"run": "pcl@bert-large-uncased"}}},
        ],
    )
    actual = [[spec.choice(row, column) for column in spec.columns] for row in spec.rows]
    assert actual == [
        [RunChoice("pcl-k3", "roberta-base", (7,)), RunChoice("pcl", "roberta-base", (4, 5))],
        [None, None],
        [None, RunChoice("pcl", "bert-large-uncased")],
    ]
    assert list(spec.choices()) == [choice for row in actual for choice in row if choice]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (changed(columns=[{"key": "STS12", "task": "STS21"}]), "unknown task in table toy 'STS21'"),
        (changed_row(run="pcl@bert-base"), "unknown backbone of pcl in table toy 'bert-base'"),
        (changed_row(run="pcl"), "run has no backbone; write `run: SYSTEM@BACKBONE`"),
        (changed_row(cells={"STS12": {"published": "plc"}}), "unknown published row of pcl/table3 'plc'"),
        (changed(published=None), "add `published` to the table"),
        (changed(scale=1.0), "scale 1.0, expected 100.0 as in pcl/table3"),
        (changed(columns=[{"key": "A", "task": "STS12"}] * 2), "column 'A' appears twice"),
    ],
)
def test_a_wrong_name_gives_one_line(spec: TableSpec, complaint: str, published: Published) -> None:
    with pytest.raises(InputError) as caught:
        check_spec(spec, published, tasks=TASKS, systems=SYSTEMS)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_spec_file_gives_one_line(tmp_path: Path) -> None:
    toy = {**TOY, "rows": [{"title": "PCL", "run": "../x@b"}]}
    (tmp_path / "toy.yaml").write_text(dump_yaml(toy), encoding="utf-8")
    with pytest.raises(InputError, match=r"toy\.yaml: ") as caught:
        load_specs(tmp_path)
    assert "expected a name of lower-case letters" in str(caught.value)
    assert "\n" not in str(caught.value)
