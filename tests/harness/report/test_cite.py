"""Which number to cite: by the verdict, with intervals worked by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.facts.evidence.others import ReportedNumber, nothing_known
from harness.facts.statistics import KnownSd
from harness.report.cite import Advice, advice_on, to_text
from harness.report.verification import verify


def advice(
    reported: float,
    *,
    ours: Sequence[float] = (),
    sources: Sequence[float] = (),
    known: KnownSd | None = None,
) -> Advice:
    others = nothing_known()
    measured = replace(others.independent, sources={str(n): value for n, value in enumerate(sources)})
    others = replace(others, pools={**others.pools, "independent": measured}, searched=True)
    number = ReportedNumber("toy/table1", "a@b", "Avg", reported, "toy", 1, 0.005)
    return advice_on(verify(number, others, values=ours, known=known), "@misc{toy}")


FIVE = [74.8, 75.0, 75.2, 75.4, 75.6]
"""Mean 75.2, error 0.14142, t(0.975, 4) = 2.77645: 0.39265 each way."""


def test_our_mean_is_cited_after_the_first_look_unless_the_number_replicates() -> None:
    found = advice(77.5, ours=FIVE)
    assert found.recommended.kind == "ours"
    assert found.recommended.interval == pytest.approx((75.2 - 0.39265, 75.2 + 0.39265), abs=1e-4)
    assert "does not replicate (lower)" in found.why
    assert advice(75.2, ours=FIVE).recommended.kind == "reported"
    assert advice(77.5, ours=FIVE[:4]).recommended.kind == "reported"
    assert advice(76.0, ours=FIVE).recommended.kind == "ours", "inconclusive after the first look"
    assert "cite        75.20 (74.81 to 75.59), mean of 5 runs of this project" in to_text(found, "@misc{us}")
    assert to_text(found, "@misc{us}").endswith("@misc{toy}\n@misc{us}")


def test_three_independent_sources_are_cited_where_they_do_not_agree() -> None:
    assert advice(77.5, sources=FIVE).recommended.kind == "independent"
    assert advice(75.2, sources=FIVE).recommended.kind == "reported"
    assert advice(77.5, sources=FIVE[:2]).recommended.kind == "reported"
    assert advice(77.5, ours=FIVE, sources=FIVE).recommended.kind == "ours"


def test_one_run_without_random_draws_is_cited_where_the_number_does_not_replicate() -> None:
    exact = KnownSd(0.0, 0)
    found = advice(57.6, ours=[56.7], sources=FIVE, known=exact)
    assert (found.recommended.kind, found.recommended.interval) == ("ours", None)
    assert advice(56.9, ours=[56.7], known=exact).recommended.kind == "reported"
    assert advice(57.6, ours=[56.7]).recommended.kind == "reported"
