"""Every word of every scale, through the sentence or the mark that a reader sees, each written here by hand.

A word of a scale is right only with its direction: our scores are lower where the reported number is higher.
"""

import html
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.evidence.differences import Difference
from harness.evidence.draws import placed
from harness.evidence.judged import Judged
from harness.evidence.number_tests import Origin
from harness.evidence.statistics import StandardError
from harness.evidence.system_pairs import SystemComparison, TaskName, tally_in_words
from harness.evidence.verdicts import Sources, by_others, judge
from harness.evidence.words import DRAWS, LEVELS, WORDS, By, Verdict, Word, scale
from harness.report.chart import COLOURS
from harness.report.formats.judged import judged_text
from harness.report.formats.latex import SIGNS, to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.readmes import to_scale
from harness.report.formats.scores import differences_to_latex, differences_to_text
from harness.report.formats.summary import to_csv
from harness.report.formats.text import SETTING_MARKS, legend_of, to_terminal
from harness.report.pages.compare import compare_values
from harness.report.pages.content import Report
from harness.report.pages.first_screen import conclusion, marks_of, shared_sentences
from harness.report.sentences import draw_words, level_words, place_words
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import printed, with_verdict
from tests.harness.report.made_results import result
from tests.harness.report.shown import show_small

BY: tuple[tuple[By, int], ...] = (("ours", 0), ("others", 2))
"""Who measured, and the place of its words in a row."""

ABOVE, BELOW = "is above the mean of other runs", "is below the mean of other runs"
BEST = "as the best of several on dev it would be reached"
Row = tuple[str, str, str, str, str]
"""A verdict by our seeds with its sign, one by independent runs with its sign, and its colour."""
AGREES: Row = ("replicates", "=", "independent runs agree", "○=", "holds")
OPEN: Row = ("not settled", "?", "not settled", "○?", "open")


def off(side: str, signs: str) -> dict[str, Row]:
    """Returns the words of a mean that is lower or higher, by the draw."""
    reached, plain, far = signs
    mean: Row = (f"our mean is {side}", plain, f"independent mean is {side}", f"○{plain}", "differs")
    return {
        "inside": (
            *(f"our mean is {side}; single runs reach it", reached),
            *(f"independent mean is {side}; single runs reach it", f"○{reached}", "differs"),
        ),
        "inside as a best": (
            *(f"our mean is lower; {BEST}", "≤k", f"independent mean is lower; {BEST}", "○≤k", "differs"),
        )
        if side == "lower"
        else mean,
        "at the edge": mean,
        "not known": mean,
        "outside": (
            *(f"does not replicate ({side})", far, f"independent runs score {side}", f"○{far}", "departs"),
        ),
    }


EXPECTED: dict[str, dict[str, Row]] = {
    "within half a point": dict.fromkeys(DRAWS, AGREES),
    "lower": off("lower", "≤<↓"),
    "higher": off("higher", "≥>↑"),
    "not known": dict.fromkeys(DRAWS, OPEN),
}
"""Level of the runs, draw of the reported number -> how a reader is told, written here by hand."""
SAYS = {
    "replicates": "replicates",
    "our mean is lower; single runs reach it": f"{ABOVE}, and single runs reach it",
    f"our mean is lower; {BEST}": f"{ABOVE}, but within reach of the best of several runs on dev",
    "our mean is lower": ABOVE,
    "does not replicate (lower)": f"{ABOVE} and outside the range of its kind",
    "our mean is higher; single runs reach it": f"{BELOW}, and single runs reach it",
    "our mean is higher": BELOW,
    "does not replicate (higher)": f"{BELOW} and outside the range of its kind",
    "not settled": "is not settled",
}
"""Verdict by our seeds -> what the first screen says of the number, on the other side of the mean."""


def test_two_answers_have_their_word_its_sign_and_its_colour() -> None:
    expected = {
        Verdict(by, level, draw): (*row[place : place + 2], row[4])
        for level in LEVELS
        for draw, row in EXPECTED[level].items()
        for by, place in BY
    }
    expected[Verdict("authors")] = ("authors only", "‡", "alone")
    expected[Verdict("nobody")] = ("no independent result", "", "alone")
    assert {verdict: (word.text, word.sign, word.colour) for verdict, word in WORDS.items()} == expected
    assert SETTING_MARKS == {None: "", True: "=", False: "≠"}


def test_green_is_for_a_level_within_half_a_point_alone_and_red_for_two_answers_that_are_off() -> None:
    for verdict, word in WORDS.items():
        assert (word.colour == "holds") == verdict.agrees == (verdict.level == "within half a point")
        assert (word.colour == "departs") == verdict.fails
        assert (word.colour == "open") == (not verdict.is_settled and verdict.by in ("ours", "others"))


def test_signs_of_different_words_differ_and_have_a_form_in_latex() -> None:
    signs = [word.sign for word in scale()]
    assert len(set(signs)) == len(signs)
    assert "".join(signs).translate(SIGNS).isascii()


PLURALS = {
    "replicates": "replicate",
    "is not settled": "are not settled",
    "is above": "are above",
    "is below": "are below",
    "of its kind": "of their kind",
    "reach it": "reach them",
}


def plural_of(says: str) -> str:
    """Returns the predicate on several numbers."""
    for one, several in PLURALS.items():
        says = says.replace(one, several)
    return says


def conclusion_of(*several: Judged, control: bool = False) -> str:
    """Returns the text of the first picture for these numbers."""
    answers: Any = [SimpleNamespace(judged=judged, control=control) for judged in several]
    return conclusion(answers)


@pytest.mark.parametrize("verdict", [verdict for verdict in WORDS if verdict.by == "ours"], ids=str)
def test_the_first_screen_states_the_side_of_a_number(verdict: Verdict) -> None:
    says = SAYS[WORDS[verdict].text].replace("several", "ten")
    ours, others = (with_verdict(75.0, by, *verdict[1:], picked=10) for by, _ in BY)
    for judged in (ours, others):
        assert conclusion_of(judged) == f"The one well-known number {says}."
    lead = (
        "Of 2 well-known numbers,"
        if verdict.agrees
        else "None of 2 well-known numbers is known to replicate:"
    )
    assert conclusion_of(ours, others) == f"{lead} 2 {plural_of(says)}."
    assert conclusion_of(ours, control=True).endswith(f" The control {says}.")


def test_the_first_screen_names_numbers_without_other_measurements() -> None:
    authors, nobody = with_verdict(75.0, "authors"), with_verdict(75.0)
    assert conclusion_of(authors) == "The one well-known number was measured by its authors only."
    assert conclusion_of(authors, authors).endswith(" 2 were measured by their authors only.")
    assert conclusion_of(nobody) == "The one well-known number has no second measurement."
    assert conclusion_of(*[nobody] * 3).endswith(" 3 have no second measurement.")


def test_the_control_is_none_of_the_numbers_that_authors_alone_have_measured() -> None:
    judged = with_verdict(75.0, "authors")
    alone, control = (SimpleNamespace(judged=judged, control=is_one) for is_one in (False, True))
    answers: Any = [alone, alone, control]
    assert shared_sentences(answers) == ["2 of 2 headline numbers were only ever measured by their authors."]
    assert shared_sentences([alone, control]) == [], "one of one is no news"  # type: ignore[list-item]


def sides(sentence: str) -> set[str]:
    """Returns the sides that a text names."""
    return set(re.findall("lower|higher", sentence))


def test_the_legends_of_page_and_text_have_every_word_and_name_its_side() -> None:
    number = with_verdict(75.0)
    cells = tuple(Cell(judged=with_verdict(75.0, *verdict)) for verdict in WORDS)
    columns = tuple(Column(str(place), str(place)) for place in range(len(cells)))
    table = Table("one", "One", columns, (TableRow("r", "R", cells),))
    page = html.unescape(show_small(Report("T", "abc", tables=(table,))))
    entry = r'<dt class="v (\w+)"><span class="glyph">(\S*)</span> ([^<]+)</dt><dd>([^<]+)</dd>'
    words = [(word.colour, word.sign, word.text, word.meaning) for word in scale()]
    assert re.findall(entry, page) == words
    named = [(word.sign, f"{word.text}: {word.meaning}") for word in scale() if word.sign]
    assert legend_of(table) == named
    for verdict, word in WORDS.items():
        side = {verdict.level} & {"lower", "higher"}
        assert sides(word.text) == sides(f"{word.text}: {word.meaning}") == side
    assert number.verdict.level == "not known"


def test_a_verdict_that_many_numbers_take_back_keeps_its_side_and_only_that() -> None:
    for by, _ in BY:
        for side in ("lower", "higher"):
            judged = with_verdict(75.0, by, side, "outside")  # type: ignore[arg-type]
            withdrawn = replace(judged, among_many=True)
            assert judged.verdict.fails
            assert withdrawn.text == {"ours": "our", "others": "independent"}[by] + f" mean is {side}"


def test_a_word_is_added_to_the_scale_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables in all forms, the page with its legend, count and colour, the first screen, the terminal and the
    documentation have a new word of one verdict, and no other file is touched."""
    verdict = Verdict("ours", "within half a point", "outside")
    word = Word("toy verdict", "=≤", "a toy", "alone", "is a toy")
    monkeypatch.setitem(WORDS, verdict, word)
    judged = with_verdict(75.0, *verdict, values=(75.0,))
    cell = Cell(75.0, n=1, number=judged.number, judged=judged)
    table = Table("p/t", "T", (Column("Avg", "Avg"),), (TableRow("a@b", "A", (cell,)),))
    page = html.unescape(show_small(Report("T", "abc", tables=(table,))))
    for text in (
        '<span class="glyph alone toy-verdict" aria-hidden="true">=≤</span>',
        '<dt class="v alone"><span class="glyph">=≤</span> toy verdict</dt><dd>a toy</dd>',
        '<span class="v alone"><span class="glyph" aria-hidden="true">=≤</span> toy verdict: 1</span>',
        '<option value="toy-verdict">toy verdict</option>',
    ):
        assert text in page
    for form, sign in ((to_terminal, "=≤"), (to_markdown, "=≤"), (to_latex, r"=\leq ")):
        assert f"{sign}" in form(table)
        assert "toy verdict: a toy" in form(table)
    assert ",toy verdict," in to_csv([table])
    assert conclusion_of(judged) == "The one well-known number is a toy."
    assert "verdict    toy verdict" in judged_text(judged)
    assert "| toy verdict | =≤ | within half a point | outside | a toy |" in to_scale()
    answer: Any = SimpleNamespace(judged=judged, name="A", reported="75.00", anchor="a", gain=None)
    assert {row["verdict"] for row in marks_of(answer) if "verdict" in row} == {"=≤ toy verdict"}
    assert {row["colour"] for row in marks_of(answer) if "colour" in row} == {COLOURS["alone"]}


SEEDS = [74.8, 75.0, 75.2, 75.4, 75.6]
"""Mean 75.20; the first four are no look yet."""
RANGE = "the range of single runs"


@pytest.mark.parametrize(
    ("seeds", "reported", "sentence", "drawn"),
    [
        (5, 75.2, "our mean is within half a point (+0.00, ", f"inside {RANGE}"),
        (5, 76.2, "our mean is 1.00 lower (-1.00, ", f"at the edge of {RANGE}"),
        (5, 74.2, "our mean is 1.00 higher (+1.00, ", f"at the edge of {RANGE}"),
        (5, 77.2, "our mean is 2.00 lower (-2.00, ", f"outside {RANGE}"),
        (5, 73.2, "our mean is 2.00 higher (+2.00, ", f"outside {RANGE}"),
        (
            4,
            75.3,
            "not known whether our mean is within half a point (-0.20, ",
            f"not known whether inside {RANGE}",
        ),
    ],
)
def test_words_on_our_seeds_state_their_side_of_the_number(
    seeds: int, reported: float, sentence: str, drawn: str
) -> None:
    judgement = judge(SEEDS[:seeds], reported, origin=Origin())
    assert level_words(judgement).startswith(sentence)
    assert draw_words(judgement.verdict.draw, printed()) == drawn


@pytest.mark.parametrize(
    ("seeds", "picked", "kind"),
    [
        (1, None, "single runs"),
        (5, None, "means of 5 runs"),
        (1, 10, "runs that are the best of 10 on dev"),
        (None, 5, "runs that are the best of 5 on dev"),
        (5, 10, "means of 5 runs, each the best of 10 on dev"),
        (None, None, "single runs and bests of 10 on dev (the paper does not state the choice)"),
    ],
)
def test_words_on_the_draw_name_the_numbers_that_the_test_used(
    seeds: int | None, picked: int | None, kind: str
) -> None:
    number = printed(75.0, seeds, picked=picked)
    assert draw_words("outside", number) == f"outside the range of {kind}"
    assert draw_words("inside", number) == f"inside the range of {kind}"
    best = draw_words("inside as a best", number)
    assert best == f"above every single run on record, inside the range of {kind}"


@pytest.mark.parametrize(
    ("picked", "text"),
    [(None, "best of ten"), (5, "best of five"), (10, "best of ten"), (20, "best of 20"), (2, "best of two")],
)
def test_a_best_is_named_with_the_number_of_runs_that_it_is_chosen_from(
    picked: int | None, text: str
) -> None:
    """Ten where the paper does not say."""
    judged = with_verdict(75.0, "others", "lower", "inside as a best")
    judged = replace(judged, number=printed(75.0, None, picked=picked))
    assert judged.text == f"independent mean is lower; as the {text} on dev it would be reached"


def test_words_on_our_seeds_state_the_confidence_of_a_look() -> None:
    """Of five seeds with sd 0.3162, t(4) = 3.23 at 98.4 %: 0.46 on either side."""
    said = level_words(judge(SEEDS, 77.2, origin=Origin()))
    assert said == "our mean is 2.00 lower (-2.00, 96.8 % interval -2.46 to -1.54)"


@pytest.mark.parametrize(
    ("reported", "far"),
    [
        (78.2, "3.00 lower (-3.00, 90 % interval -3.34 to -2.66)"),
        (72.2, "3.00 higher (+3.00, 90 % interval +2.66 to +3.34)"),
    ],
)
def test_words_on_others_state_their_side_of_the_number(reported: float, far: str) -> None:
    """Three sources with sd 0.2, t(2) = 2.92 at 95 %: 0.34 on either side."""
    means = {"a": 75.0, "b": 75.2, "c": 75.4}
    runs = Sources(means, dict.fromkeys(means, 1), {name: [value] for name, value in means.items()})
    answer = by_others(runs, reported, origin=Origin(), same_authors=False, searched=True)
    assert level_words(answer) == f"the mean of independent sources is {far}"


OUTCOMES = {
    "won": Difference(0.52, 0.50, (3, 3), StandardError(0.003, 4)),
    "lost": Difference(0.50, 0.52, (3, 3), StandardError(0.003, 4)),
    "inconclusive": Difference(0.51, 0.50, (3, 3), StandardError(0.03, 4)),
    "equal": Difference(0.50, 0.50, (3, 3), StandardError(0.0, 4)),
}
"""The first of two systems on four test sets, of three seeds each."""


def test_a_comparison_prints_won_and_lost_with_the_sign_of_the_difference() -> None:
    tasks = {TaskName(f"T-{word}", "map", "all", "raw"): difference for word, difference in OUTCOMES.items()}
    actual = SystemComparison("a@b", "c@b", tasks, OUTCOMES["lost"])
    lines = differences_to_text(actual).splitlines()
    shown = {line.split()[0]: line.split() for line in lines[1:6]}
    assert {name: (words[4], words[-1]) for name, words in shown.items() if name != "Mean"} == {
        "T-won": ("+2.00", "won"),
        "T-lost": ("-2.00", "lost"),
        "T-inconclusive": ("+1.00", "inconclusive"),
        "T-equal": ("+0.00", "equal"),
    }
    assert (shown["Mean"][3], shown["Mean"][-1]) == ("-2.00", "lost")
    assert "a@b: 1 won, 1 lost, 1 inconclusive, 1 equal of 4 test sets" in lines
    counts: Any = {"won": 5, "lost": 3, "inconclusive": 2, "equal": 1}
    assert tally_in_words(counts, "a") == "a: 5 won, 3 lost, 2 inconclusive, 1 equal of 11 test sets"
    (row,) = (line for line in differences_to_latex(actual).splitlines() if line.startswith("Difference"))
    assert row == r"Difference & $+2.00^{*}$ & $-2.00^{*}$ & $+1.00$ & $+0.00$ & $-2.00^{*}$ \\"


def test_the_page_counts_wins_of_the_best_system_first_and_losses_second() -> None:
    """`a` is best by its mean; it wins STS12 and STS13 against `b` and loses MR."""
    scores = {"STS12": (0.8, 0.5), "STS13": (0.8, 0.5), "MR": (0.4, 0.5)}
    results = [
        result(name, seed, {(task, "all"): values[side] + seed / 1e4}, metric="spearman")
        for side, name in enumerate("ab")
        for task, values in scores.items()
        for seed in range(3)
    ]
    values = compare_values(Report("T", "abc", results=tuple(results)))
    assert values is not None
    ((_, actual),) = values["rows"]
    assert dict(zip(values["outcomes"], actual.tally.values(), strict=True)) == {
        "won": 2,
        "lost": 1,
        "inconclusive": 0,
        "equal": 0,
    }


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ({"a": (77.9,)}, "0 of 1 single run is above it"),
        (
            {"a": (79.0, 79.2), "b": (77.0,)},  # a whole source above, a whole source below: (0 + 1) / 2
            "2 of 3 single runs are above it; with each independent source counted as one run, it is above "
            "50 % of the runs of the 2 sources that report single runs",
        ),
    ],
)
def test_a_percentile_states_the_weights_of_its_sources(
    runs: dict[str, tuple[float, ...]], expected: str
) -> None:
    assert place_words(placed(runs, 78.9)) == expected
