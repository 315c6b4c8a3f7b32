"""How rounds alternate, what a ratio is, when a target is met, and that disagreeing sides stop them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks import BENCHMARKS, __main__, dclr, ptbert
from benchmarks.measurement import Disagreement, Peer, Result, Spread, agree, alternate, compare, summarised


def test_ratios_are_taken_within_rounds_and_then_their_median() -> None:
    """Ours 1, 2, 4 s and theirs 2, 6, 4 s: ratios 2, 3, 1, median 2; that of the medians 4 / 2."""
    result = summarised(
        "x", {"ours": [1.0, 2.0, 4.0], "other": [2.0, 6.0, 4.0]}, [180.0], targets={"other": 2.5}, unit="s"
    )
    assert result.ours == Spread(2.0, 1.0, 4.0)
    assert result.peers == (Peer("other", Spread(4.0, 2.0, 6.0), Spread(2.0, 1.0, 3.0), 2.5),)
    assert result.met is False
    assert "NOT MET" in result.lines()[0]


def test_every_second_round_runs_in_reverse_order() -> None:
    ran: list[str] = []
    times, rates = alternate({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, rounds=3)
    assert ran == ["a", "b", "b", "a", "a", "b"]
    assert [len(taken) for taken in times.values()] == [3, 3]
    assert len(rates) == 4
    assert min(rates) > 0


def test_each_form_runs_once_before_it_is_measured() -> None:
    ran: list[str] = []
    result = compare("x", {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, rounds=1)
    assert ran == ["a", "b", "a", "b"]
    assert result.met is None


def test_a_limit_and_every_target_must_hold() -> None:
    peer = Peer("other", Spread(2, 2, 2), Spread(2, 2, 2), 1.5)
    assert Result("x", "s", Spread(1, 1, 1), (peer,), limit=1.0).met is True
    assert Result("x", "s", Spread(1, 1, 1), (peer,), limit=0.9).met is False
    assert (
        Result("x", "s", Spread(1, 1, 1), (Peer("other", Spread(2, 2, 2), Spread(2, 2, 2), 2.1),)).met
        is False
    )


def test_sides_that_differ_stop_the_benchmark() -> None:
    one = torch.tensor([1.0, 10.0])
    assert "agree" in agree([one], [one + 1e-6], tolerance=1e-6, what="values")
    with pytest.raises(Disagreement, match=r"values differ by 0\.1 of the largest entry"):
        agree([torch.tensor([1.0, 9.0])], [one], tolerance=0.05, what="values")
    with pytest.raises(Disagreement):
        agree([one], [torch.tensor([1.0, float("nan")])], tolerance=0.1, what="values")


@pytest.mark.parametrize("module", [dclr, ptbert])
def test_fast_forms_agree_with_plain_ones(module: object) -> None:
    results = module.measure(1, True)  # type: ignore[attr-defined]
    assert results
    assert all("agree within" in result.agreement for result in results)


def test_every_benchmark_is_a_module_with_measure() -> None:
    folder = Path(__main__.__file__).parent
    assert len(set(BENCHMARKS)) == len(BENCHMARKS) >= 9
    for name in BENCHMARKS:
        assert "\ndef measure(rounds: int, short: bool" in (folder / f"{name}.py").read_text(
            encoding="utf-8"
        ), name
