"""The number to cite: reported, independent or ours, with its interval and origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.evidence import statistics
from harness.evidence.number_tests import LOOKS
from harness.evidence.numbers import PublishedNumber
from harness.evidence.settling import counted
from harness.evidence.statistics import Interval, mean_interval
from harness.evidence.verdicts import FEW_SOURCES
from harness.evidence.words import Verdict


@dataclass(frozen=True)
class Citation:
    """The value to cite in points with its 95 % interval or None. kind: `reported`, `independent` or `ours`.
    how: description; origin: source.
    """

    kind: str
    value: float
    interval: Interval | None
    how: str
    origin: str

    def lines(self) -> list[str]:
        """Returns the citation as the last two lines of `sentbench verify`."""
        reach = (
            f" (95 % interval {self.interval.low:.2f} to {self.interval.high:.2f})" if self.interval else ""
        )
        return [f"cite       {self.value:.2f}{reach}, {self.how}", f"from       {self.origin}"]


def citation_of(
    reported: PublishedNumber,
    verdict: Verdict,
    *,
    values: Sequence[float] = (),
    sources: Mapping[str, float],
) -> Citation:
    """Returns the value to cite for a reported number.

    values: our seeds in points; sources: the mean of each independent source. Our
    mean is cited after the first look, otherwise the mean of at least FEW_SOURCES sources, otherwise the
    reported number. A reported number stays if it replicates or independent runs agree. For a deterministic
    system one run of ours is enough.
    """
    settled = verdict.by == "ours" and verdict.is_settled
    if not verdict.agrees and values and (settled or len(values) >= LOOKS[0]):
        how = f"mean of {len(values)} runs of this project"
        origin = "this project; the report names its runs"
        return Citation("ours", statistics.mean(values), mean_interval(values, 0.95), how, origin)
    if not verdict.agrees and len(sources) >= FEW_SOURCES:
        measured = tuple(sources.values())
        how = f"mean of {len(sources)} independent sources; runs that fell short are reported more often"
        interval = mean_interval(measured, 0.95)
        return Citation("independent", statistics.mean(measured), interval, how, ", ".join(sources))
    runs = {None: "number of runs not stated", 1: "one run"}.get(
        reported.seeds, f"mean of {reported.seeds} runs"
    )
    how = f"as reported ({runs})"
    if not verdict.agrees and sources:
        few = statistics.mean(tuple(sources.values()))
        count = counted(len(sources), "independent source")
        how += f"; the mean of {count}, too few to replace it, is {few:.2f}"
    return Citation("reported", reported.value, None, how, reported.source)
