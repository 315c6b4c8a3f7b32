"""The tables of docs/error-rates.md: their numbers keep the promises, and a quick run agrees."""

import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from benchmarks.verdicts import tables as verdicts
from benchmarks.verdicts.others import rows_of_others
from benchmarks.verdicts.studies import TRUTHS, ErrorRate, Studies, rows_of_looks, useful
from benchmarks.verdicts.systems import decided_test_sets, won_or_lost
from benchmarks.verdicts.tables import DOCS
from harness.evidence.number_tests import LEVEL

ROOT = Path(__file__).parents[2]
QUICK = 2_000
LINE = re.compile(r"^\| (.+?) \| (.+?) \| (none|[\d.]+ %) \| ([\d.]+) % \| ([\d.]+) % \|$", re.MULTILINE)
USEFUL = re.compile(r"^\| sd ([\d.]+), off ([\d.]+) \| (.+) \|$", re.MULTILINE)


Lines = dict[tuple[str, str], tuple[str, float, float]]
"""Promise and settings -> promised rate, simulated rate and its standard error in per cent."""


@pytest.fixture(scope="module")
def committed() -> Lines:
    text = (ROOT / DOCS).read_text(encoding="utf-8")
    return {
        (promise, how): (limit, float(rate), float(error))
        for promise, how, limit, rate, error in LINE.findall(text)
    }


def test_no_line_of_the_table_is_above_its_promise(committed: Lines) -> None:
    """Up to three standard errors of the simulation; a line without a promise states that it is outside."""
    assert len(committed) > 40
    for line, (limit, rate, error) in committed.items():
        assert (limit == "none") == line[1].endswith("outside of the promise"), line
        assert limit == "none" or rate <= float(limit.removesuffix(" %")) + 3 * error + 0.1, line


@pytest.mark.thorough
def test_a_quick_run_gives_the_rates_of_the_table(committed: Lines) -> None:
    """Within four standard errors of the quick run; a worst of several settings errs upwards."""
    for simulated in (*rows_of_looks(QUICK), *rows_of_others(QUICK)):
        _, rate, _ = committed[simulated.promise, simulated.settings]
        error = 100 * math.sqrt(max(rate, 1) / 100 / (QUICK // 4))
        assert 100 * simulated.rate == pytest.approx(rate, abs=4 * error), simulated
        assert simulated.holds


def test_the_command_writes_rates_and_the_tables_that_show_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rate of 1 in 8, whose standard error is sqrt(0.05 * 0.95 / 19) = 0.05, and one truth."""
    row = ErrorRate("one honest run", "made up", 0.125, 19)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verdicts, "ProcessPoolExecutor", lambda _: ThreadPoolExecutor(1))
    monkeypatch.setattr(verdicts, "SIMULATIONS", (lambda studies: [row],))
    monkeypatch.setattr(verdicts, "useful", lambda studies: [(0.5, 1, [0.25, 0.5, 0.75, 1])])
    DOCS.parent.mkdir()
    DOCS.write_text("## Simulated error rates\n## Usefulness\n## After\n", encoding="utf-8")
    assert verdicts.main(8) == 0
    text = DOCS.read_text(encoding="utf-8")
    assert "| one honest run | made up | 5 % | 12.5 % | 5.0 % |" in text
    assert "| sd 0.5, off 1 | 25 % | 50 % | 75 % | 100 % |" in text
    assert "The share of 8 studies" in text


def test_a_quick_run_is_as_useful_as_the_table_says() -> None:
    text = (ROOT / DOCS).read_text(encoding="utf-8")
    shown = {
        (float(sd), float(off)): [float(cell.removesuffix(" %")) for cell in cells.split(" | ")]
        for sd, off, cells in USEFUL.findall(text)
    }
    assert set(shown) == set(TRUTHS)
    for sd, off, shares in useful(QUICK):
        assert [100 * share for share in shares] == pytest.approx(shown[sd, off], abs=4.6)


def test_a_promise_holds_up_to_three_standard_errors() -> None:
    """The error of 5 % in 400 studies is 1.1 %; of a rate that would be a half if it held, 2.5 %."""
    assert [ErrorRate("x", "y", rate, 400).holds for rate in (0.082, 0.084)] == [True, False]
    assert [ErrorRate("x", "y", rate, 400, chance=0.5).holds for rate in (0.124, 0.126)] == [True, False]
    assert ErrorRate("x", "y", 0.9, 400, None).holds


def test_the_variance_of_the_first_seeds_is_drawn_without_bias() -> None:
    studies = Studies.normal(np.random.default_rng(0), 2.0, np.zeros(QUICK))
    assert (studies.sds[1:10] ** 2).mean(axis=1) == pytest.approx([4.0] * 9, rel=0.1)


def test_two_seeds_of_one_system_differ_on_at_most_one_test_set_of_twenty() -> None:
    different, sets = decided_test_sets(0, 1)
    assert sets >= 100
    assert different <= LEVEL * sets


@pytest.mark.parametrize("seeds", [2, 5])
def test_equal_systems_seldom_differ_on_a_test_set(seeds: int) -> None:
    """By the rule of `sentbench compare`, over seeds and pairs jointly; 500 test sets, three errors."""
    rng = np.random.default_rng(8)
    different = sum(won_or_lost(rng, seeds, 1.0) for _ in range(500)) / 500
    assert different <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 500)
