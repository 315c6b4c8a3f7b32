"""The number to cite, by the verdict, with intervals worked by hand."""

from collections.abc import Sequence
from typing import Any

import pytest

from harness.evidence.cite import Citation, citation_of
from harness.evidence.judged import Judged
from harness.evidence.others import nothing_known
from harness.evidence.published import Published
from harness.evidence.statistics import KnownSd
from harness.report.formats.judged import judged_text
from tests.harness.report.made_judged import judged, measured, printed


def verified(
    reported: float,
    *,
    ours: Sequence[float] = (),
    sources: Sequence[float] = (),
    known: KnownSd | None = None,
) -> Judged:
    others = measured({str(n): value for n, value in enumerate(sources)}, runs={})
    return judged(printed(reported, source="Toy 2020"), others, values=ours, known=known)


def cited(reported: float, **rest: Any) -> Citation:
    return citation_of(verified(reported, **rest))


FIVE = [74.8, 75.0, 75.2, 75.4, 75.6]
"""Mean 75.2, error 0.14142, t(0.975, 4) = 2.77645: 0.39265 each way."""


def test_our_mean_is_cited_after_the_first_look_unless_the_number_replicates() -> None:
    actual = cited(77.5, ours=FIVE)
    assert actual.kind == "ours"
    assert actual.interval == pytest.approx((75.2 - 0.39265, 75.2 + 0.39265), abs=1e-4)
    assert cited(75.2, ours=FIVE).kind == "reported"
    assert cited(77.5, ours=FIVE[:4]).kind == "reported"
    assert cited(76.0, ours=FIVE).kind == "ours", "inconclusive after the first look"


def test_a_verification_has_the_citation_below_its_verdict_and_ends_with_its_origin() -> None:
    ours, reported = (verified(number, ours=FIVE) for number in (77.5, 75.2))
    for answered, cite, origin in (
        (
            ours,
            "cite       75.20 (95 % interval 74.81 to 75.59), mean of 5 runs of this project",
            "from       this project; the report names its runs",
        ),
        (reported, "cite       75.20, as reported (one run)", "from       Toy 2020"),
    ):
        lines = judged_text(answered).splitlines()
        assert lines[2].startswith("verdict ")
        assert (lines[3], lines[-1]) == (cite, origin)
        assert lines.count(cite) == 1


def test_a_quoted_number_is_from_the_work_that_reported_it(published: Published) -> None:
    """PCL's table quotes 76.25 from SimCSE and reports 78.14 itself."""
    quoted, own = (
        published.number("pcl/table2", f"{system}@bert-base-uncased", "Avg") for system in ("simcse", "pcl")
    )
    assert quoted is not None
    assert own is not None
    assert quoted.source == "Gao et al. 2021 (SimCSE), quoted in pcl/table2"
    assert own.source.startswith("pcl/table2, PCL: Peer-Contrastive Learning")


def test_three_independent_sources_are_cited_where_they_do_not_agree() -> None:
    assert cited(77.5, sources=FIVE).kind == "independent"
    assert cited(75.2, sources=FIVE).kind == "reported"
    assert cited(77.5, sources=FIVE[:2]).kind == "reported"
    assert cited(77.5, ours=FIVE, sources=FIVE).kind == "ours"


def test_one_run_without_random_draws_is_cited_where_the_number_does_not_replicate() -> None:
    exact = KnownSd(0.0, 0)
    actual = cited(57.6, ours=[56.7], sources=FIVE, known=exact)
    assert (actual.kind, actual.interval) == ("ours", None)
    assert cited(56.9, ours=[56.7], known=exact).kind == "reported"
    assert cited(57.6, ours=[56.7]).kind == "reported"


@pytest.mark.parametrize(
    ("sources", "kind", "value", "how"),
    [
        ((), "reported", 77.5, "as reported (one run)"),
        (
            (74.0,), "reported", 77.5,
            "as reported (one run); the mean of 1 independent source, too few to replace it, is 74.00",
        ),
        (
            (74.0, 75.0), "reported", 77.5,
            "as reported (one run); the mean of 2 independent sources, too few to replace it, is 74.50",
        ),
        (
            (74.0, 75.0, 75.4), "independent", 74.8,
            "mean of 3 independent sources; runs that fell short are reported more often",
        ),
    ],
)  # fmt: skip
def test_the_mean_of_three_or_more_sources_is_cited_and_fewer_are_named_next_to_the_number(
    sources: tuple[float, ...], kind: str, value: float, how: str
) -> None:
    """Four runs of ours are before the first look, so they are not cited."""
    for ours in ((), FIVE[:4]):
        actual = cited(77.5, sources=sources, ours=ours)
        assert (actual.kind, actual.value, actual.how) == (kind, pytest.approx(value), how)


@pytest.mark.parametrize(
    ("seeds", "runs"), [(None, "number of runs not stated"), (1, "one run"), (5, "mean of 5 runs")]
)
def test_a_reported_number_is_cited_with_its_number_of_runs(seeds: int | None, runs: str) -> None:
    actual = citation_of(judged(printed(75.2, seeds), nothing_known(), values=FIVE))
    assert (actual.value, actual.how) == (75.2, f"as reported ({runs})")
