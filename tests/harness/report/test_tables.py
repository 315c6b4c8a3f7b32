"""`build_table`: seeds of a cell, averages, winners, and notes."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.errors import InputError
from harness.evidence.ledger import Ledger
from harness.evidence.spec import RunChoice, TableSpec
from harness.evidence.studies import Study
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import Cell, Table
from tests.harness.report.conftest import NO_STUDIES, rescored

PCL = "pcl/released@bert-base-uncased"
SIMCSE = "simcse/released@bert-base-uncased"
OURS: dict[str, object] = {"title": "PCL", "run": "pcl-released@bert-base-uncased"}
REPORTED = {**OURS, "published": "pcl@bert-base-uncased"}
"""A row of our runs of PCL, and the same next to what PCL's table reports: 79.72 on STS-B."""
TWELVE = [79.0 + 0.84 * sign for sign in (-1, 1)] * 6
"""Twelve seeds with an sd of 0.8774."""


def studied(system: str) -> Ledger:
    """A ledger with one study of the STS-B scores of a system."""
    study = Study.model_validate(
        {"system": system, "kind": "re-run", "source": "x/y", "scores": {"STSB": TWELVE}}
    )
    return Ledger((study,), NO_STUDIES.scope)


MakeEvidence = Callable[..., Evidence]


def spec_of(*rows: dict[str, object], columns: tuple[object, ...] = (), **more: object) -> TableSpec:
    """A table over STSB, SICKR and their mean, unless told otherwise."""
    tasks = [{"key": "STSB", "task": "STSB"}, {"key": "SICKR", "task": "SICKR"}]
    shown = list(columns) or [*tasks, {"key": "Avg", "mean_of": ["STSB", "SICKR"]}]
    return TableSpec.model_validate(
        {"key": "toy", "title": "Toy", "columns": shown, "rows": list(rows), **more}
    )


def cell(table: Table, row: int = 0, column: int = 0) -> Cell:
    return table.rows[row].cells[column]


def said(cell: Cell) -> str | None:
    """Returns the verdict of a cell in words."""
    return None if cell.judged is None else cell.judged.text


def test_a_cell_is_mean_sd_n_and_runs_of_its_seeds(evidence: MakeEvidence) -> None:
    """70, 72 and 74 of one system; another system, variant, backbone and task must not leak in."""
    records = [(PCL, seed, "STSB", value) for seed, value in ((2, 0.72), (1, 0.70), (3, 0.74))]
    others = ["pcl/paper@bert-base-uncased", "pcl/released@roberta-base", SIMCSE]
    records += [(system, 1, "STSB", 0.1) for system in others] + [(PCL, 1, "SICKR", 0.2)]
    table = cell(build_table(spec_of(OURS), evidence(records)))
    assert (table.value, table.sd, table.n) == (pytest.approx(72.0), pytest.approx(2.0), 3)
    assert table.runs == tuple(f"pcl-released-bert-base-uncased-{seed}" for seed in (1, 2, 3))
    assert table.judged is None


@pytest.mark.parametrize("seeds", [(1,), (2, 3), (1, 3)])
def test_a_row_or_a_column_that_names_seeds_shows_these_alone(
    seeds: tuple[int, ...], evidence: MakeEvidence
) -> None:
    """Seed s scores 70 + s; in the cell of a task and in the mean of two."""
    records = [(PCL, seed, task, (70 + seed) / 100) for seed in (1, 2, 3) for task in ("STSB", "SICKR")]
    mean = pytest.approx(70 + sum(seeds) / len(seeds))
    row = build_table(spec_of({**OURS, "seeds": [*seeds]}), evidence(records))
    for column in (0, 2):
        assert (cell(row, column=column).value, cell(row, column=column).n) == (mean, len(seeds))
    columns = ({"key": "some", "task": "STSB", "seeds": [*seeds]}, {"key": "all", "task": "STSB"})
    table = build_table(spec_of(OURS, columns=columns), evidence(records))
    assert (cell(table).value, cell(table, column=1).n) == (mean, 3)


@pytest.mark.parametrize(
    ("field", "value"),
    [("metric", "pearson"), ("setting", "wmean"), ("selection", "last"), ("text", "raw")],
)
def test_a_score_under_another_protocol_does_not_fill_a_cell(
    field: str, value: str, evidence: MakeEvidence
) -> None:
    changed = rescored(evidence([(PCL, 1, "STSB", 0.7)]), **{field: value})
    assert cell(build_table(spec_of(OURS), changed)).n == 0
    if field in ("metric", "setting"):
        other = spec_of(OURS, columns=({"key": "A", "task": "STSB", field: value},))
        assert cell(build_table(other, changed)).n == 1


def test_the_average_is_of_unrounded_scores_over_the_runs_that_have_all_parts(evidence: MakeEvidence) -> None:
    """Seed 1: (70 + 60) / 2 = 65, seed 2: (74 + 64) / 2 = 69; seed 3 lacks SICKR. Mean 67, sd sqrt(8)."""
    stsb = [(PCL, seed, "STSB", value) for seed, value in ((1, 0.70), (2, 0.74), (3, 0.9))]
    made = evidence([*stsb, (PCL, 1, "SICKR", 0.60), (PCL, 2, "SICKR", 0.64)])
    table = build_table(spec_of(OURS), made)
    average = cell(table, column=2)
    assert (average.value, average.sd, average.n) == (pytest.approx(67.0), pytest.approx(8**0.5), 2)
    assert cell(table).n == 3


def test_without_runs_a_cell_is_wanted_and_without_a_choice_of_runs_cited(
    evidence: MakeEvidence,
) -> None:
    rows = (REPORTED, {"title": "CT", "published": "ct@bert-base-uncased"})
    table = build_table(spec_of(*rows, published="pcl/table2"), evidence([]))
    ours, cited = cell(table, 0), cell(table, 1)
    assert (ours.value, ours.published, ours.wanted) == (None, 79.72, True)
    assert (cited.value, cited.published, cited.wanted) == (None, 74.31, False)
    assert ours.judged is not None
    assert cited.judged is not None
    assert ours.judged.text == cited.judged.text == "no independent result"
    assert table.rows[0].source == "this paper"
    assert table.rows[1].source == "cited: Gao et al. 2021 (SimCSE)"


@pytest.mark.parametrize("by", ["row", "recipe"])
def test_runs_that_may_not_judge_are_shown_with_the_reason_and_no_more_are_asked_for(
    by: str, evidence: MakeEvidence
) -> None:
    """Twelve seeds far below 79.72 do not replicate it, unless row or recipe says why they cannot tell."""
    made = evidence([(PCL, seed, "STSB", 0.5 + seed / 1000) for seed in range(12)])
    before = cell(build_table(spec_of(REPORTED, published="pcl/table2"), made))
    assert said(before) == "does not replicate (lower)"
    reason = {"no_verdict": "another corpus"}
    spec = spec_of({**REPORTED, **(reason if by == "row" else {})}, published="pcl/table2")
    settings = {"pcl-released": reason if by == "recipe" else {}}
    table = build_table(spec, replace(made, settings=settings))
    awaited = cell(build_table(spec, replace(made, results=[], settings=settings)))
    for actual in (cell(table), awaited):
        assert (said(actual), actual.more) == ("no independent result", None)
    assert (cell(table).n, cell(table).delta) == (12, before.delta)
    assert table.rows[0].note.startswith("no verdict from our runs: another corpus")


def test_a_study_of_a_system_widens_its_own_interval_and_plans_for_others(evidence: MakeEvidence) -> None:
    """Before the first look there is no verdict; a study says which means settle it at five seeds."""
    records, spec = [(PCL, 1, "STSB", 0.75)], spec_of(REPORTED, published="pcl/table2")
    studied_cell = cell(build_table(spec, evidence(records, studied("pcl@bert-base-uncased"))))
    other = cell(build_table(spec, evidence(records, studied("simcse@bert-base-uncased"))))
    nobody = cell(build_table(spec, evidence(records)))
    plans = [actual.judged.plan for actual in (studied_cell, other, nobody) if actual.judged is not None]
    assert [(said(actual), actual.more) for actual in (studied_cell, other, nobody)] == [
        ("not settled", 4)
    ] * 3
    reasons = [plan.why.rpartition("; sd ")[2] for plan in plans if plan is not None]
    assert reasons[0].endswith("by a study of 12 seeds")
    assert reasons[1].endswith("of another system on this backbone")
    assert reasons[2] == "its chance is not known, as no standard deviation is before two seeds"


def test_a_column_of_settings_shows_the_recipe_next_to_the_reported_value(evidence: MakeEvidence) -> None:
    """SCT prints 0.0005 and 131072 for BERT-Tiny; a setting is equal or not, however near it is."""
    columns = (
        {"key": "learning-rate", "recipe": "train.learning_rate", "unit": "plain"},
        {"key": "queue-size", "recipe": "config.queue_size", "unit": "plain"},
    )
    row = {"title": "Tiny", "run": "sct@bert-tiny", "published": "sct@bert-tiny"}
    spec = spec_of(row, columns=columns, published="sct/table1", scale=1.0)
    settings = {"sct": {"train": {"learning_rate": 5.0e-4}, "config": {"queue_size": 131073}}}
    table = build_table(spec, replace(evidence([]), settings=settings))
    shown = [(actual.value, actual.as_reported, said(actual)) for actual in table.rows[0].cells]
    assert shown == [(5.0e-4, True, None), (131073.0, False, None)]
    assert "≠" in to_markdown(table)
    assert r"\neq" in to_latex(table)
    assert list(spec.choices()) == []
    with pytest.raises(InputError, match=r"sct has None at train\.learning_rate of its recipe"):
        build_table(spec, replace(evidence([]), settings={"sct": {"train": {}}}))


def test_rows_from_runs_are_in_the_order_of_the_plan_and_keep_unrun_systems(evidence: MakeEvidence) -> None:
    """Those that are not ranked come last, in the order of the scores as the others."""
    spec = spec_of(rows_from="runs", compete="table", unranked=["oracle-v", "a-w"])
    systems = (("oracle/v@x", 0.9), ("b/v@x", 0.6), ("a/v@x", 0.5), ("a/w@x", 0.8))
    records = [(system, 1, "STSB", value) for system, value in systems]
    table = build_table(spec, evidence(records))
    assert [row.title for row in table.rows] == ["b/v@x", "a/v@x", "oracle/v@x", "a/w@x"]
    assert [row.cells[0].ranks for row in table.rows] == [(1, 2), (1, 2), None, None]
    plan = {RunChoice(f"{name}-v", "x"): f"{name}/v@x" for name in ("a", "new", "b")}
    planned = build_table(spec, replace(evidence(records), systems=plan))
    assert [row.title for row in planned.rows] == ["a/v@x", "new/v@x", "b/v@x"]
    assert (cell(planned, 1).value, cell(planned, 1).wanted) == (None, True)


@pytest.mark.parametrize(("better", "order"), [("higher", "bac"), ("lower", "cab")])
def test_rows_from_runs_are_ordered_by_a_column_the_best_first(
    better: str, order: str, evidence: MakeEvidence
) -> None:
    """Scores 0.5, 0.6 and 0.4: the lowest is the best of a distance such as uniformity."""
    column = {"key": "STSB", "task": "STSB", "better": better}
    spec = spec_of(rows_from="runs", order_by="STSB", columns=(column,))
    records = [(f"{name}/v@x", 1, "STSB", value) for name, value in (("a", 0.5), ("b", 0.6), ("c", 0.4))]
    table = build_table(spec, evidence(records))
    assert [row.title for row in table.rows] == [f"{name}/v@x" for name in order]


def test_the_single_run_is_the_seed_best_on_dev(evidence: MakeEvidence) -> None:
    """Seed 2 has the best dev score, 72. The verdict is over all seeds: 71 to 73 against 80.01."""
    row = {**OURS, "published": "pcl/single-run@bert-base-uncased"}
    spec = spec_of({**row, "statistic": "best-by-dev"}, published="pcl/table2")
    values = enumerate((0.71, 0.72, 0.73, 0.715, 0.725), start=1)
    records = [(PCL, seed, "STSB", value) for seed, value in values]
    dev = {f"pcl-released-bert-base-uncased-{seed}": 0.9 if seed == 2 else 0.8 for seed in range(1, 6)}
    table = cell(build_table(spec, evidence(records, dev=dev)))
    assert (table.value, table.sd, table.n) == (pytest.approx(72.0), None, 1)
    assert table.runs == ("pcl-released-bert-base-uncased-2",)
    assert (table.delta, said(table)) == (pytest.approx(-8.01), "does not replicate (lower)")
    mean = cell(build_table(spec_of(row, published="pcl/table2"), evidence(records, dev=dev)))
    assert mean.best_by_dev == pytest.approx(72.0)


def test_the_sd_over_seeds_is_shown_and_gets_no_verdict(evidence: MakeEvidence) -> None:
    columns = ({"key": "Std", "task": "STSB", "statistic": "sd"},)
    row = {**OURS, "published": "simcse/nt-xent@bert-base-uncased"}
    spec = spec_of(row, columns=columns, published="una/table-d7", scale=1.0, decimals=4)
    records = [(PCL, seed, "STSB", 0.68 + 0.02 * seed) for seed in (1, 2, 3)]
    table = cell(build_table(spec, evidence(records)))
    assert (table.value, table.sd, table.published) == (pytest.approx(2.0), None, 0.79), "in points"
    assert (said(table), table.ranks) == (None, None)
    assert cell(build_table(spec, evidence(records[:1]))).value is None


@pytest.mark.parametrize(("pairs", "same"), [(1379, True), (1378, False)])
def test_the_size_of_a_test_set_agrees_or_differs_exactly(
    pairs: int, same: bool, evidence: MakeEvidence
) -> None:
    column = {"key": "STSB", "task": "STSB", "statistic": "pairs", "unit": "plain", "better": "none"}
    row = {**OURS, "published": "dataset-size"}
    counted = rescored(evidence([(PCL, 1, "STSB", 0.7)]), n=pairs)
    spec = spec_of(row, columns=(column,), published="una/table-a1", scale=1.0, decimals=0)
    table = cell(build_table(spec, counted))
    assert (table.value, table.as_reported, said(table)) == (pairs, same, None)


def test_the_size_of_an_average_is_the_sum_of_its_test_sets(evidence: MakeEvidence) -> None:
    """Each has 1,379 pairs."""
    tasks = [{"key": key, "task": key} for key in ("STSB", "SICKR")]
    size = {
        "key": "Avg",
        "mean_of": ["STSB", "SICKR"],
        "statistic": "pairs",
        "unit": "plain",
        "better": "none",
    }
    made = evidence([(PCL, 1, "STSB", 0.7), (PCL, 1, "SICKR", 0.6)])
    assert cell(build_table(spec_of(OURS, columns=(*tasks, size)), made), column=2).value == 2 * 1379


def test_a_cell_about_one_seed_asks_for_no_other(evidence: MakeEvidence) -> None:
    """Of a column of seed 42 no further seed is a test; a column of all seeds says how many would be."""
    columns = ({"key": "seed-42", "task": "STSB", "seeds": [42]}, {"key": "Mean", "task": "STSB"})
    row = {**OURS, "published": "simcse/nt-xent@bert-base-uncased"}
    spec = spec_of(row, columns=columns, published="una/table-d7", scale=1.0, decimals=4)
    records = [(PCL, seed, "STSB", 0.745 + 0.01 * (seed % 2)) for seed in (41, 42, 43)]
    table = build_table(spec, evidence(records))
    single, every = cell(table), cell(table, 0, 1)
    assert (single.n, said(single), single.more) == (1, "not settled", None)
    assert every.n == 3
    assert every.more is not None


def test_two_runs_for_one_seed_or_two_recipes_in_one_cell_are_refused(evidence: MakeEvidence) -> None:
    spec, full = spec_of(OURS), evidence([(PCL, 1, "STSB", 0.7)])
    for fault, changes in (
        ("both have seed 1", {"key": "other"}),
        ("have different recipes", {"key": "other", "seed": 2, "recipe": "other"}),
    ):
        (record,) = full.results
        other = record.model_copy(update={"run": record.run.model_copy(update=changes)})
        with pytest.raises(InputError, match=fault):
            build_table(spec, replace(full, results=[record, other]))
