"""The number to cite: reported, by its authors, independent or ours, with its interval and origin."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from harness.evidence import statistics
from harness.evidence.judged import Judged
from harness.evidence.number_tests import LOOKS
from harness.evidence.numbers import PublishedNumber
from harness.evidence.settling import counted
from harness.evidence.statistics import Interval, mean_interval
from harness.evidence.studies import Study, Summary, runs_of
from harness.evidence.verdicts import FEW_SOURCES


@dataclass(frozen=True)
class Citation:
    """The value to cite in points with its 95 % interval or None.

    how: description; origin: source; note: what the ledger says about it.
    """

    kind: Literal["reported", "authors", "independent", "ours"]
    value: float
    interval: Interval | None
    how: str
    origin: str
    note: str = ""

    @property
    def text(self) -> str:
        """The value with its interval, and what it is."""
        reach = (
            f" (95 % interval {self.interval.low:.2f} to {self.interval.high:.2f})" if self.interval else ""
        )
        return f"{self.value:.2f}{reach}, {self.how}"

    def lines(self) -> list[str]:
        """Returns the citation as the last lines of `sentbench verify`."""
        lines = [f"cite       {self.text}", f"from       {self.origin}"]
        return [*lines, f"note       {self.note}"] if self.note else lines


@dataclass(frozen=True)
class AuthorsMean:
    """A value by the authors of a number that replaces it: a mean of more runs, or of a later version.

    runs: the single runs, if known; count: their number, 1 for a later version.
    """

    study: Study
    value: float
    count: int
    runs: tuple[float, ...] = ()


def citation_of(judged: Judged) -> Citation:
    """Returns the value to cite for a published number.

    Our mean is cited after the first look, otherwise the mean of at least FEW_SOURCES sources, unless the
    reported number replicates or independent runs agree. Otherwise what its authors put in its place, the
    mean of more runs or the number of a later version, and last the reported number. For a deterministic
    system one run of ours is enough.
    """
    verdict, values = judged.verdict, judged.values
    sources = judged.others.independent.sources
    authors = authors_mean(judged)
    settled = verdict.by == "ours" and verdict.is_settled
    also = "" if authors is None else f"; its authors' {_runs_in_words(authors)} is {authors.value:.2f}"
    if not verdict.agrees and values and (settled or len(values) >= LOOKS[0]):
        how = f"mean of {len(values)} runs of this project{also}"
        origin = "this project; the report names its runs"
        return Citation("ours", statistics.mean(values), mean_interval(values, 0.95), how, origin)
    if not verdict.agrees and len(sources) >= FEW_SOURCES:
        measured = tuple(sources.values())
        how = (
            f"mean of {len(sources)} independent sources; runs that fell short are reported more often{also}"
        )
        interval = mean_interval(measured, 0.95)
        return Citation("independent", statistics.mean(measured), interval, how, ", ".join(sources))
    few = ""
    if not verdict.agrees and sources:
        mean, count = statistics.mean(tuple(sources.values())), counted(len(sources), "independent source")
        few = f"; the mean of {count}, too few to replace it, is {mean:.2f}"
    if authors is not None:
        interval = mean_interval(authors.runs, 0.95) if authors.runs else None
        how = f"{_runs_in_words(authors)} by its authors; {_headline(judged, authors)}{few}"
        place = f", {authors.study.file}" if authors.study.file else ""
        return Citation(
            "authors", authors.value, interval, how, f"{authors.study.link}{place}", authors.study.note
        )
    how = f"as reported ({_reported_runs(judged.number)}){few}"
    return Citation("reported", judged.number.value, None, how, judged.number.source)


def authors_mean(judged: Judged) -> AuthorsMean | None:
    """Returns the authors' own value that replaces a number: of a later version, otherwise the mean of most
    runs, if they are more than the number has. None without one.
    """
    found = [*_means_by_authors(judged)]
    later = [mean for mean in found if mean.study.supersedes]
    known = judged.number.seeds or 1
    means = [mean for mean in found if not mean.study.supersedes and mean.count > known]
    return max(later or means, key=lambda mean: mean.count, default=None)


def _means_by_authors(judged: Judged) -> Iterator[AuthorsMean]:
    column, others = judged.number.column, judged.others
    if others.listed is not None:
        runs = others.listed.runs
        yield AuthorsMean(others.listed.study, statistics.mean(runs), len(runs), runs)
    later = [study for study in others.uncounted if study.supersedes and study.by == others.by]
    for study in (*others.pools["same authors"].studies, *later):
        score = study.scores[column]
        runs, middle = tuple(runs_of(score)), score.mean if isinstance(score, Summary) else None
        if len(runs) > 1 or (runs and study.supersedes):
            yield AuthorsMean(study, statistics.mean(runs), len(runs), runs if len(runs) > 1 else ())
        elif isinstance(score, Summary) and middle is not None and score.n:
            yield AuthorsMean(study, middle, score.n)


def _runs_in_words(mean: AuthorsMean) -> str:
    return "later version" if mean.study.supersedes else f"mean of {mean.count} runs"


def _headline(judged: Judged, mean: AuthorsMean) -> str:
    """Returns what the reported number is, next to its authors' mean."""
    number, listed = judged.number, judged.others.listed
    if listed is not None and listed.is_mean:
        return f"the reported {number.value:.2f} is this mean as printed"
    near = [run for run in mean.runs if abs(run - number.value) <= number.rounding + 1e-9]
    if mean.study.supersedes:
        return f"the reported {number.value:.2f} is of the version before"
    if near:
        return (
            f"the reported {number.value:.2f} is {'the best' if near[0] == max(mean.runs) else 'one'} of them"
        )
    return f"the reported number is {number.value:.2f} ({_reported_runs(number)})"


def _reported_runs(number: PublishedNumber) -> str:
    runs = {None: "number of runs not stated", 1: "one run"}
    return runs.get(number.seeds, f"mean of {number.seeds} runs")
