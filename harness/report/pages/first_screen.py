"""The first screen of a page: the answers on numbers in question, a picture of them, and sentences."""

from collections.abc import Iterable, Sequence
from typing import Any

from harness.evidence.number_tests import LEVEL, MARGIN
from harness.evidence.verdicts import NOT_SETTLED, Verdict
from harness.report.chart import Chart, Row, colour_of, draw
from harness.report.formats.text import MARKS
from harness.report.pages.answers import Answer, answers_of
from harness.report.pages.cells import verdict_counts
from harness.report.pages.content import Report
from harness.report.tables.model import Table, reading_order, row_label, verifications
from harness.report.verification import MANY, Verification, counted
from harness.report.words import draw_words, level_words, place_words

MOST = 3
"""Sentences that the first screen has."""

CROWD = 12
"""Most runs in one line of the first picture; more take three lines."""
GROUPS: dict[str, tuple[Verdict, ...]] = {
    "replicates": ("replicates", "independent runs agree"),
    "is off the mean of other runs and inside the range of single runs": (
        "replicates within run-to-run variation",
        "independent runs agree within run-to-run variation",
    ),
    "is above the mean of other runs, and at the edge of single runs or with too few of them": (
        "borderline (lower)",
        "independent mean is lower",
    ),
    "is below the mean of other runs, and at the edge of single runs or with too few of them": (
        "borderline (higher)",
        "independent mean is higher",
    ),
    "is above the range of single runs": ("does not replicate (lower)", "independent runs score lower"),
    "is below the range of single runs": ("does not replicate (higher)", "independent runs score higher"),
    "is not settled": NOT_SETTLED,
    "was measured by its authors only": ("authors only",),
    "has no second measurement": ("no independent result",),
}
SEVERAL = {"replicates": "replicate", "is": "are", "was": "were", "its": "their", "has": "have"}
"""Singular -> plural, for sentences on several numbers."""


def answer_values(report: Report, tables: Sequence[Table], page: str = "") -> dict[str, Any]:
    """Returns the content of a page's first screen; it counts the numbers of `tables`."""
    answers = answers_of(report, page)
    again = {
        source
        for _, _, verification in verifications(tables)
        for source in verification.others.independent.sources
    }
    return {
        "answers": answers,
        "forest": forest_of(answers, f"numbers-{page}" if page else "numbers") if answers else None,
        "counts": verdict_counts(*tables),
        "sources": len(again),
        "telling": telling_sentences(tables, answers),
    }


def forest_of(answers: Sequence[Answer], key: str) -> Chart:
    """Returns the first picture: independent runs and ours as differences from each number."""
    return draw(
        "answers",
        [row for answer in answers for row in marks_of(answer)],
        key=key,
        title="Reported numbers and independent runs of the same recipe",
        caption=(
            "Each mark is a score minus the reported one. In the green band, within "
            f"{MARGIN:g} points, it counts as the same. The blue bar is the {1 - 2 * LEVEL:.0%} interval of "
            "the mean of independent sources, which decides the level; each source counts once. Whether a "
            "number is in the range of single runs is a second question."
        ),
        says=conclusion(answers),
        margin=MARGIN,
        below=-MARGIN,
    )


def marks_of(answer: Answer) -> list[Row]:
    """Returns the marks of one number: measurements minus the reported value, in points."""
    verification, reported = answer.verification, answer.verification.reported.value
    pool, same_authors = verification.others.independent, verification.others.pools["same authors"]
    means = [value for source, value in pool.sources.items() if source not in pool.runs]
    kinds = {
        "independent run": sorted(pool.values),
        "independent mean": means,
        "median of sources": [] if pool.median is None else [pool.median],
        "its authors again": list(same_authors.sources.values()),
        "reported": [reported],
        "ours": list(verification.values),
    }
    labels: Row = {
        "reported": answer.reported,
        "verdict": f"{MARKS[answer.verdict]} {answer.verdict}".strip(),
        "basis": basis_of(verification),
        "colour": colour_of(answer.verdict),
        "link": f"#{answer.anchor}",
    }
    rows: list[Row] = [
        {
            "name": answer.name,
            "kind": kind,
            "value": round(value, 4),
            "difference": round(value - reported, 4),
            "lane": index % 3 - 1 if len(values) > CROWD else 0,
            "says": f"{answer.name}, {kind}: {value:.2f}",
            **(labels if kind == "reported" else {}),
        }
        for kind, values in kinds.items()
        for index, value in enumerate(values)
    ]
    interval = verification.by_others.interval
    if interval is not None:
        ends = {"low": round(interval.low, 4), "high": round(interval.high, 4)}
        rows.append({"name": answer.name, "kind": "interval", **ends})
    return rows


def basis_of(verification: Verification) -> str:
    """Returns the basis of a verdict: our runs, or the number of sources and runs of others."""
    if verification.values:
        return f"{counted(len(verification.values), 'run')} of ours"
    pool = verification.others.independent
    if not pool.sources:
        return "no independent run found"
    sources = counted(len(pool.sources), "independent source")
    return f"{sources}, {counted(len(pool.values), 'single run')}"


def conclusion(answers: Sequence[Answer]) -> str:
    """Returns the conclusion of the first picture, in one sentence; the control is mentioned separately."""
    asked = [answer for answer in answers if not answer.control]
    controls = [
        f" The control {says}."
        for answer in answers
        for says, verdicts in GROUPS.items()
        if answer.control and answer.verdict in verdicts
    ]
    parts = counted_verdicts([answer.verdict for answer in asked])
    if len(asked) == 1:
        return f"The one well-known number {parts[0].removeprefix('1 ')}." + "".join(controls)
    return f"Of {counted(len(asked), 'well-known number')}, {', '.join(parts)}." + "".join(controls)


def counted_verdicts(verdicts: Sequence[Verdict]) -> list[str]:
    """Returns the number of verdicts of each group that has one, in words, in the order of GROUPS."""
    parts = []
    for says, group in GROUPS.items():
        count = sum(verdict in group for verdict in verdicts)
        words = says.split() if count == 1 else [SEVERAL.get(word, word) for word in says.split()]
        if count:
            parts.append(f"{count} {' '.join(words)}")
    return parts


def telling_sentences(tables: Iterable[Table], answers: Sequence[Answer]) -> list[str]:
    """Returns up to MOST sentences, each computed from the evidence of the tables.

    First the settled number with most evidence, then the count of numbers measured only by their authors,
    then the other settled numbers by the number of sources. A number in several tables is named once, and of
    a system only the mean of the test sets.
    """
    sentences: dict[tuple[str, str, float], tuple[int, str]] = {}
    for table, row, known in verifications(sorted(tables, key=reading_order)):
        weight = len(known.others.independent.sources) + len(known.values)
        if known.reported.column == "Avg" and weight and known.verdict not in NOT_SETTLED:
            label = f"{row_label(row)}, {known.reported.value:.2f} in {table.title.partition(':')[0]}"
            sentences.setdefault(known.reported.fact, (weight, f"{label}: {both_answers(known)}."))
    ranked = [words for _, words in sorted(sentences.values(), key=lambda entry: -entry[0])]
    asked = [answer for answer in answers if not answer.control]
    alone = sum(answer.verdict == "authors only" for answer in asked)
    if alone and len(asked) > 1:
        verb = "is" if alone == 1 else "are"
        ranked.insert(1, f"{alone} of the {len(asked)} numbers below {verb} known from the authors alone.")
    return ranked[:MOST]


def both_answers(verification: Verification) -> str:
    """Returns the level, the draw and the percentile of a number in one sentence."""
    answer = verification.ours or verification.by_others
    parts = [level_words(answer), f"the number is {draw_words(answer.draw, verification.reported.stated)}"]
    if answer.draw == "not known":
        parts[1] = "too few single runs to tell whether the number is in their range"
    if verification.among_many:
        parts.append(MANY)
    if verification.percentile is not None:
        parts.append(place_words(verification.percentile))
    return "; ".join(parts)
