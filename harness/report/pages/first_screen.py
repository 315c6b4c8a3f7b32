"""The first screen of a page: the answers on numbers in question, a picture of them, and sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from harness.evidence import statistics
from harness.evidence.judged import Fact, Judged
from harness.evidence.number_tests import LEVEL, MARGIN
from harness.evidence.settling import counted
from harness.evidence.words import scale
from harness.report.chart import COLOURS, Chart, Row, draw
from harness.report.pages.answers import ENOUGH, Answer, answers_of
from harness.report.pages.cells import verdict_counts
from harness.report.pages.content import Report
from harness.report.sentences import AMONG_MANY, draw_words, level_words, open_words, place_words
from harness.report.tables.model import Table, judged_numbers, reading_order, row_label

MOST_SENTENCES = 3
"""Sentences on settled numbers below the first screen."""

INTERVAL = f"{100 - 200 * LEVEL:.0f} % interval of the mean"
GAIN, SPREAD = "claimed gain", "runs of the compared system"
"""The kinds of marks that are a bar or a line."""
_BAR = "M-1.3,-.55H1.3V.55H-1.3Z"
KINDS = {
    "reported": ("diamond", "ink"),
    "independent run": ("circle", "series-1"),
    "independent mean": ("square", "series-1"),
    "median of sources": ("M0,-1.1L0,1.1", "ink"),
    INTERVAL: (_BAR, "series-1"),
    "its authors again": ("triangle-up", "series-5"),
    "ours": ("M-.7,-.7L.7,.7M-.7,.7L.7,-.7", "series-2"),
    GAIN: ("M-1.3,0H1.3", "ink"),
    SPREAD: (_BAR, "muted"),
}
"""The shape and the colour of each kind of mark, in the order of the legend."""
CROWD = 12
"""Most runs in one line of the first picture; more take three lines."""
PLURALS = {
    "replicates": "replicate",
    "is": "are",
    "was": "were",
    "has": "have",
    "its": "their",
    "reach it": "reach them",
}
"""Singular -> plural, for sentences on several numbers."""


def answer_values(report: Report, tables: Sequence[Table], page: str = "") -> dict[str, Any]:
    """Returns the content of a page's first screen; it counts the numbers of `tables`."""
    answers = answers_of(report, page)
    again = {
        source for _, _, judged in judged_numbers(tables) for source in judged.others.independent.sources
    }
    return {
        "answers": answers,
        "forest": forest_of(answers, f"numbers-{page}" if page else "numbers") if answers else None,
        "counts": verdict_counts(*tables),
        "sources": len(again),
        "shared": shared_sentences(answers),
        "telling": telling_sentences(tables),
    }


def forest_of(answers: Sequence[Answer], key: str) -> Chart:
    """Returns the first picture: independent runs and ours as differences from each number."""
    rows = [row for answer in answers for row in marks_of(answer)]
    return draw(
        "answers",
        rows,
        key=key,
        title="Reported numbers and independent runs of the same recipe",
        caption=(
            "Each mark is a score minus the reported one. In the green band, within "
            f"{MARGIN:g} points, it counts as the same. The interval of the mean of independent sources, in "
            "which each source counts once, decides the level. Whether a number is in the range of single "
            "runs is a second question. Where no independent run is known, the line is the gain that the "
            "paper claims, from its compared system to the number, and the grey bar is the middle "
            "90\N{NO-BREAK SPACE}% of known single runs of that system."
        ),
        says=conclusion(answers),
        margin=MARGIN,
        below=-MARGIN,
        kinds=[*KINDS],
        shapes=[shape for shape, _ in KINDS.values()],
        strokes=[COLOURS[colour] for _, colour in KINDS.values()],
        interval=INTERVAL,
        gain=GAIN,
        spread=SPREAD,
    )


def marks_of(answer: Answer) -> list[Row]:
    """Returns the marks of one number: measurements minus the reported value, in points."""
    judged, reported = answer.judged, answer.judged.number.value
    pool, same_authors = judged.others.independent, judged.others.pools["same authors"]
    means = [value for source, value in pool.sources.items() if source not in pool.runs]
    kinds = {
        "independent run": sorted(pool.values),
        "independent mean": means,
        "median of sources": [] if pool.median is None else [pool.median],
        "its authors again": sorted(same_authors.values) or list(same_authors.sources.values()),
        "reported": [reported],
        "ours": list(judged.values),
    }
    labels: Row = {
        "reported": answer.reported,
        "verdict": f"{judged.word.sign} {judged.text}".strip(),
        "basis": "; ".join(filter(None, [open_words(judged) or basis_of(judged), gain_words(answer)])),
        "colour": COLOURS[judged.word.colour],
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
    interval = judged.by_others.interval
    if interval is not None:
        ends = {"low": round(interval.low, 4), "high": round(interval.high, 4)}
        rows.append({"name": answer.name, "kind": INTERVAL, **ends})
    return rows + gain_rows(answer)


def shows_gain(answer: Answer) -> bool:
    """Returns whether a claimed gain is all that there is to show."""
    return answer.gain is not None and not answer.judged.others.independent.sources


def gain_rows(answer: Answer) -> list[Row]:
    """Returns the line of the claimed gain and the bar of the other system's runs, as differences."""
    if answer.gain is None or not shows_gain(answer):
        return []
    ends = {"low": round(-answer.gain.points, 4), "high": 0.0}
    rows: list[Row] = [{"name": answer.name, "kind": GAIN, **ends}]
    if answer.gain.spread is not None:
        low, high = (round(end - answer.judged.number.value, 4) for end in answer.gain.spread)
        rows.append({"name": answer.name, "kind": SPREAD, "low": low, "high": high})
    return rows


def gain_words(answer: Answer) -> str:
    """Returns the claimed gain in words; empty if independent runs are shown instead."""
    if answer.gain is None or not shows_gain(answer):
        return ""
    over = answer.gain.over
    if answer.gain.rerun is not None:
        over = f"its own {over} run ({answer.gain.rerun:.2f})"
    return f"claims {answer.gain.points:+.2f} over {over}"


def basis_of(judged: Judged) -> str:
    """Returns the basis of a verdict: our runs, or the number of sources and runs of others."""
    if judged.values:
        return f"{counted(len(judged.values), 'run')} of ours"
    pool = judged.others.independent
    if not pool.sources:
        return "no independent run found"
    if judged.answer.source:
        return f"{judged.answer.count} single runs of one lab"
    sources = counted(len(pool.sources), "independent source")
    return f"{sources}, {counted(len(pool.values), 'single run')}"


def conclusion(answers: Sequence[Answer]) -> str:
    """Returns the conclusion of the first picture, in one sentence; the control is mentioned separately."""
    asked = [answer for answer in answers if not answer.control]
    controls = [f" The control {answer.judged.says}." for answer in answers if answer.control]
    parts = counted_verdicts([answer.judged for answer in asked])
    if len(asked) == 1:
        return f"The one well-known number {parts[0].removeprefix('1 ')}." + "".join(controls)
    several = counted(len(asked), "well-known number")
    known = any(answer.judged.verdict.agrees for answer in asked)
    lead = f"Of {several}," if known or not asked else f"None of {several} is known to replicate:"
    return f"{lead} {'; '.join(parts)}." + "".join(controls)


def counted_verdicts(numbers: Sequence[Judged]) -> list[str]:
    """Returns the number of verdicts of each kind that has one, in words, in the order of the scale."""
    kinds = {word: place for place, word in enumerate(scale())}
    says = [judged.says for judged in sorted(numbers, key=lambda judged: kinds[judged.word])]
    return [
        f"{count} {sentence if count == 1 else plural(sentence)}" for sentence, count in Counter(says).items()
    ]


def plural(sentence: str) -> str:
    """Returns the predicate of a sentence on several numbers."""
    return re.sub(rf"\b({'|'.join(PLURALS)})\b", lambda words: PLURALS[words[0]], sentence)


def shared_sentences(answers: Sequence[Answer]) -> list[str]:
    """Returns what is worth sharing of the numbers: how many only their authors measured, and which are the
    best of the seeds that their authors report elsewhere.
    """
    asked = [answer for answer in answers if not answer.control]
    alone = sum(answer.judged.verdict.by == "authors" for answer in asked)
    sentences = []
    if alone and len(asked) > 1:
        verb = "was" if alone == 1 else "were"
        sentences.append(
            f"{alone} of {len(asked)} headline numbers {verb} only ever measured by their authors."
        )
    for answer in asked:
        number, runs = answer.judged.number, answer.judged.others.pools["same authors"].values
        if (
            len(runs) >= ENOUGH
            and number.seeds in (None, 1)
            and abs(number.value - max(runs)) <= number.rounding
        ):
            below = number.value - statistics.mean(runs)
            sentences.append(
                f"{answer.name}: {answer.reported} is the best of its authors’ "
                f"{len(runs)} seeds, {below:.2f} above their mean."
            )
    return sentences


def telling_sentences(tables: Iterable[Table]) -> list[str]:
    """Returns up to MOST_SENTENCES on settled numbers, those with most evidence first. A number in several
    tables is named once, and of a system only the mean of the test sets.
    """
    sentences: dict[Fact, tuple[int, str]] = {}
    for table, row, known in judged_numbers(sorted(tables, key=reading_order)):
        weight = len(known.others.independent.sources) + len(known.values)
        if known.number.column == "Avg" and weight and known.verdict.is_settled:
            label = f"{row_label(row)}, {known.number.value:.2f} in {table.title.partition(':')[0]}"
            sentences.setdefault(known.fact, (weight, f"{label}: {both_answers(known)}."))
    ranked = [words for _, words in sorted(sentences.values(), key=lambda entry: -entry[0])]
    return ranked[:MOST_SENTENCES]


def both_answers(judged: Judged) -> str:
    """Returns the level, the draw and the percentile of a number in one sentence."""
    answer = judged.answer
    parts = [level_words(answer), f"the number is {draw_words(answer.verdict.draw, judged.number)}"]
    if answer.verdict.draw == "not known":
        parts[1] = "too few single runs to tell whether the number is in their range"
    if judged.among_many:
        parts.append(AMONG_MANY)
    if judged.percentile is not None:
        parts.append(place_words(judged.percentile))
    return "; ".join(parts)
