"""The published numbers: completeness, averages, and declared misprints."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.evidence.printed import decimals_in
from harness.evidence.published import Published, load_published
from harness.report.formats.number import Format
from harness.report.tables.cells import misprint_words

TABLE = "pcl/table2"

PAPER = """
paper: toy
title: Toy
venue: nowhere
works: {{gao: "Gao"}}
tables:
  table1:
    about: toy
    metric: spearman
    scale: 100.0
    decimals: 2
    columns: [A, B, Avg]
    averages: {{Avg: [A, B]}}
    rows:
      - {row}
"""


def load(folder: Path, row: str) -> Published:
    (folder / "toy.yaml").write_text(PAPER.format(row=row), encoding="utf-8")
    return load_published(folder)


def test_the_known_misprints_are_flagged_with_both_values(published: Published) -> None:
    actual = {
        (row.key, erratum.column): (erratum.reported, erratum.recomputed)
        for table in published.tables.values()
        for row in table.rows
        for erratum in row.errata
    }
    assert len(actual) == 10
    assert actual["sct@bert-base-uncased", "STS12"] == (78.83, 73.82)


def test_a_misprinted_cell_is_compared_by_its_right_value_and_an_average_as_reported(
    published: Published,
) -> None:
    cell, average, other = (
        published.number("sct/table2", row, column)
        for row, column in (
            ("sct@bert-base-uncased", "STS12"),
            ("simcse@bert-mini", "Avg"),
            ("simcse@bert-mini", "STS12"),
        )
    )
    assert cell is not None
    assert average is not None
    assert other is not None
    assert (cell.value, cell.printed) == (73.82, 78.83)
    assert misprint_words(cell, Format()).startswith("reported 78.83, read as 73.82: ")
    assert misprint_words(cell, Format(1.0, 4)).startswith("reported 0.7883, read as 0.7382: ")
    assert (average.value, average.printed) == (65.94, 65.94)
    assert "average 63.91" in misprint_words(average, Format())
    assert misprint_words(other, Format()) == ""


def test_seed_averages_of_una_give_the_reported_mean_and_sd(published: Published) -> None:
    for row in published.table("una/table-d7").rows:
        values = [value for value in row.values[:10] if value is not None]
        mean = sum(values) / 10
        sd = (sum((value - mean) ** 2 for value in values) / 9) ** 0.5
        assert row.values[10] == pytest.approx(mean, abs=0.00015)
        assert row.values[11] == pytest.approx(sd, abs=0.00005)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("{system: x, source: this-paper, values: [1.0, 2.0]}", "2 values, expected 3"),
        ("{system: x, source: this-paper, values: [1.0, 2.0, 1.6]}", "cells average 1.5000"),
        ("{system: x, source: cited, work: gau, values: [1.0, 2.0, 1.5]}", "cites 'gau'"),
        ("{system: x, source: this-paper, values: [1.0, 2.0, .nan]}", "finite"),
        (
            "{system: x, source: this-paper, values: [1.0, 2.0, 1.5],"
            " errata: [{column: A, kind: cell, reported: 9.0, recomputed: 1.0, reason: r}]}",
            "does not name a reported value",
        ),
        (
            "{system: x, source: this-paper, seeds: 1, values: [1.0, 2.0, 1.5], note: seeds not stated}",
            "seeds 1, but its note says that they are not stated",
        ),
        (
            "{system: x, source: this-paper, values: [1.0, 2.0, 1.5], note: mean of 5 seeds}",
            "seeds None, but its note says 'mean of 5 seeds'",
        ),
        (
            "{system: x, source: this-paper, seeds: 3, values: [1.0, 2.0, 1.5], note: a mean of 5 runs}",
            "seeds 3, but its note says 'mean of 5 runs'",
        ),
        (
            "{system: x, source: this-paper, picked: 4, values: [1.0, 2.0, 1.5], note: best of 5 on dev}",
            "picked 4, but its note says 'best of 5'",
        ),
        ("{system: x, source: this-paper, values: [1.0, 2.123, 1.56]}", "3 decimals, expected at most 2"),
        (
            "{system: x, source: this-paper, decimals: 1, values: [1.0, 2.04, 1.52]}",
            "2 decimals, expected at most 1",
        ),
        (
            "{system: x, source: this-paper, decimals: 2, values: [1.0, 2.0, 1.5]}",
            "expected fewer than the table's",
        ),
    ],
)
def test_a_wrong_row_gives_one_line_that_names_it(tmp_path: Path, row: str, complaint: str) -> None:
    with pytest.raises(InputError, match=r"toy\.yaml: ") as caught:
        load(tmp_path, row)
    assert complaint in str(caught.value)


def test_averages_may_be_off_by_two_reported_units(tmp_path: Path) -> None:
    row = "{system: x, source: this-paper, values: [1.0, 2.0, 1.52]}"
    assert load(tmp_path, row).row("toy/table1", "x").values[2] == 1.52


@pytest.mark.parametrize(
    ("second", "average", "right"), [(2.0, 1.5, True), (2.1, 1.6, True), (2.1, 1.7, False)]
)
def test_the_average_of_a_row_with_fewer_decimals_is_rounded_to_these(
    tmp_path: Path, second: float, average: float, right: bool
) -> None:
    """1.0 and 2.1 average 1.55, which is 1.5 or 1.6 as reported."""
    row = f"{{system: x, source: this-paper, decimals: 1, values: [1.0, {second}, {average}]}}"
    if right:
        assert load(tmp_path, row).row("toy/table1", "x").values[2] == average
    else:
        with pytest.raises(InputError, match=r"cells average 1\.5500"):
            load(tmp_path, row)


def test_a_row_without_a_second_decimal_states_how_many_were_printed(
    tmp_path: Path, published: Published
) -> None:
    """Five values that all end in 0 are no chance; the rounding of each is then half of that digit."""
    five = PAPER.replace("[A, B, Avg]", "[A, B, C, D, Avg]").replace("[A, B]", "[A, B, C, D]")
    row = "{{system: x, source: this-paper, {0}values: [1.1, 2.1, 3.1, 2.1, 2.1]}}"
    (tmp_path / "toy.yaml").write_text(five.format(row=row.format("")), encoding="utf-8")
    with pytest.raises(InputError, match="expected `decimals: 1`"):
        load_published(tmp_path)
    (tmp_path / "toy.yaml").write_text(five.format(row=row.format("decimals: 1, ")), encoding="utf-8")
    assert load_published(tmp_path).row("toy/table1", "x").decimals == 1
    rounding = {
        system: actual.rounding
        for system in ("mirror-bert", "simcse")
        for actual in [published.number(TABLE, f"{system}@roberta-base", "Avg")]
        if actual is not None
    }
    assert rounding == {"mirror-bert": pytest.approx(0.05), "simcse": pytest.approx(0.005)}


@pytest.mark.parametrize(
    ("value", "decimals"), [(69.1, 1), (70.0, 0), (0.7541, 4), (5e-05, 5), (131072.0, 0)]
)
def test_trailing_zeros_are_not_counted_as_decimals(value: float, decimals: int) -> None:
    assert decimals_in(value) == decimals


def test_a_number_is_in_points_whatever_the_scale_of_its_table_and_a_setting_as_printed(
    published: Published,
) -> None:
    """0.7614 and 76.25 are on two scales; a queue, a learning rate and a size of a test set are on none."""
    for table, row, column, value in (
        ("pcl/table2", "simcse@bert-base-uncased", "Avg", 76.25),
        ("una/table2", "una@bert-base-uncased", "Avg", 76.14),
        ("sct/table1", "sct@bert-tiny", "queue-size", 131072.0),
        ("sct/code-hparams-congen", "congen@bert-base-uncased", "learning-rate", 0.00005),
        ("una/table-a1", "dataset-size", "SICKR", 4927.0),
    ):
        number = published.number(table, row, column)
        assert number is not None
        assert number.value == value
