"""What a reader is told of a number agrees with its level and its draw, wherever it is told.

Numbers with every verdict are shown on every surface: table files, cells with their details and counts, the
first screen with its picture, `sentbench verify` as text and JSON, the number to cite. Each text is read by
rules written here. If two words are exchanged where they are declared, the texts disagree.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from harness.commands.verify import sentence_of
from harness.evidence import words
from harness.evidence.cite import citation_of
from harness.evidence.judged import Judged
from harness.evidence.others import nothing_known
from harness.evidence.words import WORDS, Verdict
from harness.report import sentences
from harness.report.chart import COLOURS
from harness.report.formats.judged import in_one_line, judged_json, judged_text
from harness.report.formats.markdown import to_markdown
from harness.report.formats.summary import to_csv
from harness.report.formats.text import to_terminal
from harness.report.pages.answers import Answer
from harness.report.pages.cells import cell_facts
from harness.report.pages.content import Paper, Report
from harness.report.pages.first_screen import both_answers, conclusion, counted_verdicts, marks_of
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import judged, measured, printed, with_verdict
from tests.harness.report.shown import show_paper

FIVE = (-0.4, -0.2, 0.0, 0.2, 0.4)
TEN = (-1.0, -0.8, -0.5, -0.2, 0.0, 0.0, 0.2, 0.5, 0.8, 1.0)
TWENTY = tuple(1.3 * deviation for deviation in TEN * 2)
MANY = tuple(
    0.84 * deviation
    for deviation in (-1.6, -1.2, -0.9, -0.6, -0.4, -0.2, 0.0, 0.0, 0.2, 0.4, 0.6, 0.9, 1.2, 1.6)
)
"""Seeds and sources around their mean; the reported number is 75."""
SHIFTS = (0.0, 0.3, 1.0, 1.1, 1.2, 2.0)
COLUMN = Column("Avg", "Avg")


def numbers() -> Iterator[Judged]:
    """Yields numbers that our seeds or independent runs judge, of one run or of runs not stated."""
    for seeds in (1, None):
        number = printed(75.0, seeds, source="Toy 2020")
        for shift in {*SHIFTS, *(-shift for shift in SHIFTS)}:
            for runs in (FIVE, TEN, TWENTY):
                yield judged(number, nothing_known(), values=[75.0 + shift + run for run in runs])
            for runs in (FIVE[1:4], MANY):
                yield judged(number, measured({str(i): 75.0 + shift + run for i, run in enumerate(runs)}))
        yield judged(number, nothing_known())
        yield judged(number, replace(nothing_known(), searched=True))
    yield from (
        replace(with_verdict(75.0, by, side, "outside"), among_many=True)  # type: ignore[arg-type]
        for by in ("ours", "others")
        for side in ("lower", "higher")
    )


ALL = list(numbers())


def contradictions(text: str, actual: Judged) -> list[str]:
    """Returns what a text on a number says that is not so."""
    verdict, picked = actual.verdict, actual.number.drawn.picked
    runs = [*actual.values, *actual.others.independent.values]
    reached = {"lower": any(run >= 74.995 for run in runs), "higher": any(run <= 75.005 for run in runs)}
    tested = "outside" if actual.among_many else verdict.draw
    rules = {
        r"(?<!not )(?<!be )replicates?\b(?! alone)|runs agree": verdict.agrees,
        r"is within half a point(?! \()(?<!whether)": verdict.agrees or not verdict.is_settled,
        r"mean is (\d\.\d\d )?lower|sources is \d\.\d\d lower|score lower|\(lower\)|above the mean": (
            verdict.level == "lower"
        ),
        r"mean is (\d\.\d\d )?higher|sources is \d\.\d\d higher|score higher|\(higher\)|below the mean": (
            verdict.level == "higher"
        ),
        r"runs reach (it|them)": (
            verdict.draw == "inside" and verdict.is_off and reached.get(verdict.level, False)
        ),
        r"would be reached|within reach|above every single run": (
            verdict.draw == "inside as a best" and picked > 1 and not reached["lower"]
        ),
        r"does not replicate|runs score": verdict.fails,
        r"(?<!whether )inside the range": verdict.draw in ("inside", "inside as a best"),
        r"(?<!whether )inside the range of single runs(?! and)": picked == 1,
        r"at the edge of": verdict.draw == "at the edge" and not actual.among_many,
        r"outside the range|outside of": tested == "outside",
        r"not settled|not known whether (our|the) mean": not verdict.is_settled,
        r"not known whether inside|too few single runs": verdict.draw == "not known",
        r"authors only|its authors only": verdict.by == "authors",
        r"no independent result|no second measurement": verdict.by == "nobody",
    }
    return [
        f"{pattern}: {text}" for pattern, holds in rules.items() if not holds and re.search(pattern, text)
    ]


LEVELS_SAID = {
    "within half a point": r"replicates|runs agree",
    "lower": r"mean is (\d\.\d\d )?lower|score lower|\(lower\)|above the mean|sources is \d\.\d\d lower",
    "higher": r"mean is (\d\.\d\d )?higher|score higher|\(higher\)|below the mean|sources is \d\.\d\d higher",
    "not known": r"not settled|authors only|no independent result|no second measurement",
}


def silent(text: str, actual: Judged) -> list[str]:
    """Returns a text that does not say the level of a number."""
    return [] if re.search(LEVELS_SAID[actual.verdict.level], text) else [f"no level: {text}"]


SIGNS = {"=": "within half a point", "≤": "lower", "<": "lower", "↓": "lower"}
SIGNS |= {"≥": "higher", ">": "higher", "↑": "higher", "?": "not known", "‡": "not known", "": "not known"}


def sign_faults(sign: str, actual: Judged) -> list[str]:
    """Returns whether a sign disagrees with the verdict of a number."""
    verdict, bare = actual.verdict, sign.removeprefix("○").removesuffix("k")
    said = {
        "level": SIGNS.get(bare) == verdict.level,
        "fails": (bare in ("↓", "↑")) == verdict.fails,
        "reached": (bare in ("≤", "≥")) == (verdict.is_off and verdict.draw.startswith("inside")),
        "as a best": sign.endswith("k") == (verdict.is_off and verdict.draw == "inside as a best"),
        "by": sign.startswith("○") == (verdict.by == "others"),
    }
    return [f"{sign}, {what}: {verdict}" for what, holds in said.items() if not holds]


def colour_faults(colour: str, actual: Judged) -> list[str]:
    """Returns whether a colour disagrees with the verdict of a number; green is for equal levels alone."""
    named = {COLOURS[name]: name for name in COLOURS}.get(colour, colour)
    due = {"holds": actual.verdict.agrees, "departs": actual.verdict.fails}
    return [f"{named}: {actual.verdict}" for name, holds in due.items() if (named == name) != holds]


def table_of(actual: Judged) -> Table:
    """Returns a table with the cell of a number."""
    value = sum(actual.values) / len(actual.values) if actual.values else None
    runs = tuple(map(str, range(len(actual.values))))
    cell = Cell(value, None, len(runs), actual.number, actual, runs=runs, values=actual.values)
    return Table("toy/table1", "Toy table 1", (COLUMN,), (TableRow("a@b", "A", (cell,)),))


def file_faults(actual: Judged) -> list[str]:
    """Returns what the files of a table say wrongly of its number: sign, legend, record."""
    table, faults, sign = table_of(actual), [], actual.word.sign
    for form, row in ((to_terminal, "A "), (to_markdown, "| A ")):
        text = form(table)
        (line,) = (line for line in text.splitlines() if line.startswith(row))
        signs = re.findall(r"(?:^| )((?:○?[=?≤≥<>↓↑]|‡)k?)(?=[ +]|$)", line) or [""]
        legend = re.findall(rf"(?m)(?:^|[ .]){re.escape(sign)} ([^:.]+):", text) if sign else []
        faults += sign_faults(signs[0], actual)
        for said in legend:
            faults += contradictions(said.replace("best of several", "best of ten"), actual)
        if sign and not legend:
            faults.append(f"no legend of {sign}")
    (record,) = re.findall(r",Avg,,[^\n]*\n", to_csv([table]))
    return faults + contradictions(record, actual) + silent(record, actual)


def page_faults(actual: Judged) -> list[str]:
    """Returns what the page of a paper says wrongly of its number: cell, details, count."""
    table, faults = table_of(actual), []
    page = html.unescape(show_paper(Report("T", "abc"), Paper("toy", "Toy", "", (table,))))
    (cell,) = re.findall(r"<td id=.*?</td>", page)
    for colour, sign, text in re.findall(
        r'class="glyph (\w+) [\w-]+" aria-hidden="true">(\S+)</span><span class="unseen"> ([^<]+) <', cell
    ):
        faults += sign_faults(sign, actual) + colour_faults(colour, actual)
        faults += contradictions(text, actual) + silent(text, actual)
    entry = r'<span class="v (\w+)"><span class="glyph" aria-hidden="true">(\S*)</span> ([^<:]+):'
    (tally,) = set(re.findall(entry, page))
    faults += colour_faults(tally[0], actual) + sign_faults(tally[1], actual) + silent(tally[2], actual)
    faults += contradictions(tally[2].replace("best of several", "best of ten"), actual)
    facts = dict(cell_facts(table, COLUMN, table.rows[0].cells[0], {}))
    for label in ("Verdict", "Level", "Draw"):
        faults += contradictions(facts.get(label, ""), actual)
    return faults + silent(facts["Verdict"], actual)


def first_screen_faults(actual: Judged) -> list[str]:
    """Returns what the first screen says wrongly: its sentence, its picture, the line on a telling number."""
    answer = Answer(actual, "A", "", "", "", "")
    (mark,) = (row for row in marks_of(answer) if row["kind"] == "reported")
    sign = mark["verdict"].partition(" ")[0] if actual.word.sign else ""
    said = conclusion([answer])
    faults = sign_faults(sign, actual) + colour_faults(mark["colour"], actual)
    faults += contradictions(mark["verdict"], actual) + silent(mark["verdict"], actual)
    faults += contradictions(said, actual) + silent(said, actual)
    if actual.answer.difference is not None:
        faults += contradictions(both_answers(actual), actual)
    (heading,) = counted_verdicts([actual])
    return faults + contradictions(heading, actual)


def verify_faults(actual: Judged) -> list[str]:
    """Returns what `sentbench verify` says wrongly of a number, and a citation against its verdict."""
    text, faults = judged_text(actual), []
    lines = [line for line in text.splitlines() if line.startswith(("verdict", "level", "draw"))]
    for said in (*lines, sentence_of(actual), *in_one_line([actual]), judged_json(actual)["verdict"]):
        faults += contradictions(said, actual)
    faults += silent(lines[0], actual) + silent(judged_json(actual)["verdict"], actual)
    cited, sources = citation_of(actual), actual.others.independent.sources
    measured_again = actual.values[4:] or len(sources) >= 3
    if (cited.kind == "reported") != (actual.verdict.agrees or not measured_again):
        faults.append(f"cites the {cited.kind} number: {actual.verdict}")
    if actual.verdict.agrees and not cited.how.startswith("as reported"):
        faults.append(cited.how)
    return faults


PARTS = (file_faults, page_faults, first_screen_faults, verify_faults)


def all_faults() -> list[str]:
    """Returns the contradictions of all texts on all numbers."""
    return [fault for actual in ALL for part in PARTS for fault in part(actual)]


def test_every_text_on_a_number_agrees_with_its_level_and_its_draw() -> None:
    met = {actual.word for actual in ALL}
    assert met == set(words.scale()), "numbers with every word are judged"
    assert all_faults() == []


def test_a_number_is_said_to_be_reached_only_if_a_run_on_record_is_as_high_or_it_may_be_a_best() -> None:
    """Nine sources around 75: one run of 76.4 reaches 76.25 or not."""
    runs = {
        str(i): 75.0 + 0.84 * d for i, d in enumerate((-1.6, -1.2, -0.8, -0.4, 0.0, 0.3, 0.6, 0.9, 1.2, 1.45))
    }
    texts = {}
    for seeds in (1, None):
        for highest in (76.218, 76.4):
            actual = judged(printed(76.25, seeds), measured({**runs, "9": highest}))
            assert actual.verdict.level == "lower"
            texts[seeds, highest > 76.25] = actual.text
    assert texts == {
        (1, True): "independent mean is lower; single runs reach it",
        (1, False): "independent mean is lower",
        (None, True): "independent mean is lower; single runs reach it",
        (None, False): "independent mean is lower; as the best of ten on dev it would be reached",
    }


@pytest.mark.parametrize(
    ("table", "first", "second"),
    [
        ("LEVEL_SAYS", "lower", "higher"),
        ("LEVEL_SAYS", "not known", "lower"),
        ("DRAW_SAYS", "inside", "outside"),
        ("DRAW_SAYS", "inside", "at the edge"),
        ("DRAW_SAYS", "inside as a best", "inside"),
        ("DRAW_SAYS", "not known", "outside"),
    ],
)
def test_two_answers_exchanged_disagree_with_their_numbers(
    monkeypatch: pytest.MonkeyPatch, table: str, first: str, second: str
) -> None:
    phrases = getattr(sentences, table)
    monkeypatch.setattr(sentences, table, {**phrases, first: phrases[second], second: phrases[first]})
    assert all_faults()


KNOWN = [verdict for verdict in WORDS if any(actual.verdict == verdict for actual in ALL)]
PAIRS = [
    (first, second)
    for first, second in pairwise(KNOWN)
    if first.by == second.by and WORDS[first] != WORDS[second]
]
"""Neighbours on the scale that a number has."""


@pytest.mark.parametrize("field", ["text", "sign", "colour", "says"])
def test_a_field_of_two_words_exchanged_disagrees_with_their_numbers(
    monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    """Each field of each pair of neighbours on the scale, one pair at a time."""
    assert len(PAIRS) >= 12
    for first, second in PAIRS:
        one, other = WORDS[first], WORDS[second]
        if getattr(one, field) == getattr(other, field):
            continue
        with monkeypatch.context() as changed:
            for verdict, word in list(WORDS.items()):
                if word in (one, other):
                    value = getattr(other if word == one else one, field)
                    changed.setitem(WORDS, verdict, word._replace(**{field: value}))
            assert quick_faults(first, second), (field, first, second)


def quick_faults(*verdicts: Verdict) -> list[str]:
    """Returns the contradictions of the texts on numbers with these verdicts."""
    some = [next(actual for actual in ALL if actual.verdict == verdict) for verdict in verdicts]
    return [fault for actual in some for part in PARTS for fault in part(actual)]
