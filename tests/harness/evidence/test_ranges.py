"""Ranges and scales of values: of each metric, of tables without scores, of numbers that are the same."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.evidence.curves import losses_of, read_curve
from harness.evidence.further import FURTHER_SCHEMA, read_further
from harness.evidence.numbers import Misprint
from harness.evidence.printed import PublishedPaper, PublishedTable
from harness.evidence.published import numbers_of
from harness.evidence.schema import RunRecord, ScoreRecord, Selection
from harness.evidence.spec import ColumnSpec
from harness.evidence.store import read_result
from harness.io.files import write_record
from tests.harness.report.made_judged import judged, measured, printed
from tests.support.results import raw_result

RANGES = {
    **dict.fromkeys(("spearman", "pearson", "anisotropy"), (-1.0, 1.0)),
    **dict.fromkeys(("accuracy", "dev-accuracy", "f1", "map", "mrr"), (0.0, 1.0)),
    **dict.fromkeys(("p@1", "p@5", "share-above"), (0.0, 1.0)),
    "alignment": (0.0, 4.0),
    "uniformity": (-8.0, 0.0),
}  # fmt: skip
"""Correlations and cosines, shares, and squared distances of unit vectors (0 to 4), or -2 times them."""


def is_taken(make: Callable[..., Any], **values: Any) -> bool:
    try:
        make(**values)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("metric", "ends"), RANGES.items())
def test_a_score_is_in_the_range_of_its_metric_ends_included(metric: str, ends: tuple[float, float]) -> None:
    record: dict[str, Any] = {"task": "T", "metric": metric, "setting": "all", "selection": "last", "n": 1}
    for end, out in zip(ends, (-1, 1), strict=True):
        assert is_taken(ScoreRecord, **record, value=end)
        assert is_taken(ScoreRecord, **record, value=end + out * 0.9e-9)
        assert not is_taken(ScoreRecord, **record, value=end + out * 1e-6)
    assert is_taken(ScoreRecord, **{**record, "metric": "of a method"}, value=1234.5)


@pytest.mark.parametrize(
    ("model", "field", "inside", "outside"),
    [
        (Selection, "best_step", (0, 10**9), (-1, 10**9 + 1)),
        (Selection, "last_step", (0, 10**9), (-1, 10**9 + 1)),
        *((Selection, name, (-1.0, 1.0), (-1.01, 1.01)) for name in ("best_dev", "last_dev", "initial_dev")),
        (RunRecord, "seed", (0, 2**63 - 1), (-1, 2**63)),
        (ScoreRecord, "n", (1, 10**12), (0, 10**12 + 1)),
    ],
)
def test_steps_developments_seeds_and_counts_have_ranges(
    model: Any, field: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    raw = raw_result()
    record = {Selection: raw["selection"], RunRecord: raw["run"], ScoreRecord: raw["scores"][0]}[model]
    for values, taken in ((inside, True), (outside, False)):
        assert [is_taken(model, **{**record, field: value}) for value in values] == [taken] * 2


@pytest.mark.parametrize("metric", ["none", "pairs"])
def test_a_setting_and_a_count_are_not_in_points(metric: str) -> None:
    """A score of 0.75 on a scale of 1 is 75 points; a setting of 0.75 is 0.75, rounded by half its digit."""
    row = {"system": "s", "source": "this-paper", "values": [0.75, 12.0]}
    about = {"about": "t", "scale": 1.0, "decimals": 2, "columns": ["A", "B"], "rows": [row]}
    for name, value, rounding in ((metric, 0.75, 0.005), ("spearman", 75.0, 0.5)):
        table = PublishedTable.model_validate({**about, "metric": name})
        first, second = numbers_of(table, "toy/table1", {"s": "a source"})
        assert (first.value, second.value) == (value, 12.0 * value / 0.75)
        assert first.rounding == pytest.approx(rounding)


def test_a_misprint_is_in_points_like_its_number() -> None:
    erratum = {"column": "A", "kind": "cell", "reported": 0.85, "recomputed": 0.75, "reason": "a slip"}
    row = {"system": "s", "source": "this-paper", "values": [0.85], "errata": [erratum]}
    about = {"about": "t", "scale": 1.0, "decimals": 2, "columns": ["A"], "rows": [row], "metric": "spearman"}
    (number,) = numbers_of(PublishedTable.model_validate(about), "toy/table1", {"s": "a source"})
    assert number.misprints == (Misprint("cell", 85.0, 75.0, "a slip"),)
    assert (number.value, number.printed) == (75.0, 85.0)


@pytest.mark.parametrize(("apart", "same"), [(0.00004, True), (0.0002, False)])
def test_numbers_of_one_system_are_one_fact_if_four_decimals_are_equal(apart: float, same: bool) -> None:
    """Tables print 74.56 and 0.7456; in points they differ by rounding of floats at most."""
    one, other = (judged(printed(value), measured({"a": 74.0})).fact for value in (74.56, 74.56 + apart))
    assert (one == other) is same


@pytest.mark.parametrize(
    "given",
    [
        {"task": "STSB", "mean_of": ["a"]},
        {"task": "STSB", "recipe": "train.steps"},
        {"mean_of": ["a"], "recipe": "train.steps"},
    ],
)
def test_a_column_is_of_one_kind(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has several of task, mean_of and recipe"):
        ColumnSpec(key="k", **given)
    for name, value in given.items():
        ColumnSpec.model_validate({"key": "k", name: value})


READERS: dict[str, tuple[Callable[[Path], object], dict[str, Any]]] = {
    "a result": (read_result, raw_result(variant="\x1b[31mred")),
    "further seeds": (read_further, {"schema": FURTHER_SCHEMA, "method": "\x1b[31mred"}),
    "a curve": (
        partial(read_curve, again="again"),
        {"evaluations": [{"step": 1, "score": 0.5, "a": "\x1b"}]},
    ),
}


@pytest.mark.parametrize(("read", "raw"), READERS.values(), ids=list(READERS))
def test_a_text_that_would_steer_a_terminal_is_refused(
    read: Callable[[Path], object], raw: dict[str, Any], tmp_path: Path
) -> None:
    write_record(tmp_path / "a.json", raw)
    with pytest.raises(InputError, match=r"a\.json: character '\\x1b' is not allowed"):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("read", [read_result, read_further])
def test_a_file_of_another_schema_is_named_in_a_short_line(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    write_record(tmp_path / "a.json", {"schema": "x" * 500})
    with pytest.raises(InputError, match=r'schema "x{79}, expected'):
        read(tmp_path / "a.json")


def test_a_paper_may_only_cite_works_that_it_lists() -> None:
    row = {"system": "s", "source": "cited", "work": "w", "values": [1.0]}
    table = {"about": "t", "scale": 1.0, "decimals": 0, "columns": ["A"], "rows": [row], "metric": "none"}
    paper: dict[str, Any] = {"paper": "p", "title": "P", "venue": "V", "tables": {"t": table}}
    assert PublishedPaper.model_validate({**paper, "works": {"w": "A work"}}).works
    with pytest.raises(ValueError, match="cites 'w', which is not in works"):
        PublishedPaper.model_validate(paper)


@pytest.mark.parametrize(
    ("steps", "kept", "second"), [(500, 500, 2), (501, 251, 3), (1000, 500, 3), (1001, 334, 4)]
)
def test_a_loss_curve_has_at_most_500_points_at_equal_steps(
    steps: int, kept: int, second: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f'{{"step": {step}, "loss": 0.5}}\n' for step in range(1, steps + 1)))
    curve = losses_of(log)
    assert [point["step"] for point in curve[:2]] == [1, second]
    assert len(curve) == kept
    log.write_text('{"step": 3, "score": 0.5}\n')
    assert losses_of(log) == [{"step": 0, "loss": None}]
