"""Every word of every scale, through the sentence or the mark that a reader sees, each written here by hand.

A word of a scale is right only with its direction: our scores are lower where the reported number is higher.
"""

import html
import re
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from harness.evidence.differences import Difference
from harness.evidence.draws import placed
from harness.evidence.number_tests import Origin
from harness.evidence.statistics import StandardError
from harness.evidence.system_pairs import SystemComparison, TaskName, tally_in_words
from harness.evidence.verdicts import (
    DRAWS,
    FAILED,
    LEVELS,
    TAKEN_BACK,
    VERDICTS,
    Sources,
    by_others,
    judge,
    others_word,
    word_of,
)
from harness.report.chart import COLOURS, colour_of
from harness.report.formats.scores import differences_to_latex, differences_to_text
from harness.report.formats.text import MARKS, MEANINGS, SETTING_MARKS
from harness.report.pages.compare import compare_values
from harness.report.pages.content import Report
from harness.report.pages.first_screen import conclusion, telling_sentences
from harness.report.sentences import draw_words, level_words, place_words
from harness.report.tables.model import Table
from tests.harness.report.made_results import result
from tests.harness.report.shown import show_index


class Word(NamedTuple):
    """A verdict by our seeds and one by others' runs with their marks; what the first screen says of the
    number; the colour of both.
    """

    ours: str
    mark: str
    others: str
    others_mark: str
    says: str
    colour: str


AGREES = Word("replicates", "=", "independent runs agree", "○=", "replicates", "holds")
VARIES = Word(
    *("replicates within run-to-run variation", "≈"),
    *("independent runs agree within run-to-run variation", "○≈"),
    "is off the mean of other runs and inside the range of single runs",
    "holds",
)
ABOVE = Word(
    *("borderline (lower)", "≲", "independent mean is lower", "○≲"),
    "is above the mean of other runs, and at the edge of single runs or with too few of them",
    "open",
)
BELOW = Word(
    *("borderline (higher)", "≳", "independent mean is higher", "○≳"),
    "is below the mean of other runs, and at the edge of single runs or with too few of them",
    "open",
)
TOO_HIGH = Word(
    *("does not replicate (lower)", "↓", "independent runs score lower", "○↓"),
    "is above the range of single runs",
    "departs",
)
TOO_LOW = Word(
    *("does not replicate (higher)", "↑", "independent runs score higher", "○↑"),
    "is below the range of single runs",
    "departs",
)
OPEN = Word("inconclusive", "?", "independent evidence is inconclusive", "○?", "is not settled", "open")
WORDS = {
    "within half a point": dict.fromkeys(DRAWS, AGREES),
    "not known": dict.fromkeys(DRAWS, OPEN),
    "lower": {"inside": VARIES, "at the edge": ABOVE, "not known": ABOVE, "outside": TOO_HIGH},
    "higher": {"inside": VARIES, "at the edge": BELOW, "not known": BELOW, "outside": TOO_LOW},
}
"""Level of our scores, draw of the reported number -> how a reader is told."""
SCALE = dict.fromkeys(word for draws in WORDS.values() for word in draws.values())


def test_two_answers_have_their_word_and_its_mark() -> None:
    for level in LEVELS:
        for draw in DRAWS:
            word = WORDS[level][draw]
            assert (word_of(level, draw), others_word(level, draw)) == (word.ours, word.others)
    marks = {word.ours: word.mark for word in SCALE} | {word.others: word.others_mark for word in SCALE}
    assert marks | {"authors only": "‡", "no independent result": ""} == MARKS
    assert tuple(MARKS) == VERDICTS
    assert SETTING_MARKS == {None: "", True: "=", False: "≠"}


def conclusion_of(*verdicts: str, control: bool = False) -> str:
    """Returns the text of the first picture for numbers with these verdicts."""
    answers: Any = [SimpleNamespace(verdict=verdict, control=control) for verdict in verdicts]
    return conclusion(answers)


@pytest.mark.parametrize("word", SCALE, ids=lambda word: word.ours)
def test_the_first_screen_states_the_side_of_a_number(word: Word) -> None:
    for verdict in (word.ours, word.others):
        assert conclusion_of(verdict) == f"The one well-known number {word.says}."
        assert colour_of(verdict) == COLOURS[word.colour]
    plain = word.says.replace("replicates", "replicate").replace("is ", "are ")
    assert conclusion_of(word.ours, word.others) == f"Of 2 well-known numbers, 2 {plain}."
    assert conclusion_of(word.ours, control=True).endswith(f" The control {word.says}.")


def test_the_first_screen_names_numbers_without_other_measurements() -> None:
    assert conclusion_of("authors only") == "The one well-known number was measured by its authors only."
    assert conclusion_of(*["authors only"] * 2).endswith(" 2 were measured by their authors only.")
    assert conclusion_of("no independent result") == "The one well-known number has no second measurement."
    assert conclusion_of(*["no independent result"] * 3).endswith(" 3 have no second measurement.")
    assert colour_of("authors only") == colour_of("no independent result") == COLOURS["alone"]


def test_the_control_is_none_of_the_numbers_that_authors_alone_have_measured() -> None:
    alone, control = (SimpleNamespace(verdict="authors only", control=is_one) for is_one in (False, True))
    answers: Any = [alone, alone, control]
    assert telling_sentences([], answers) == ["2 of the 2 numbers below are known from the authors alone."]


LOWER = {"borderline (lower)", "does not replicate (lower)"}
LOWER |= {"independent mean is lower", "independent runs score lower"}
HIGHER = {verdict.replace("lower", "higher") for verdict in LOWER}


def sides(sentence: str) -> set[str]:
    """Returns the sides that a text names."""
    return set(re.findall("lower|higher", sentence))


def test_the_legends_of_page_and_text_name_the_side_of_every_verdict() -> None:
    page = html.unescape(show_index(Report("T", "abc", tables=(Table("one", "One", (), ()),))))
    legend = dict(re.findall(r'<span class="glyph">\S*</span> ([^<]+)</dt><dd>([^<]+)</dd>', page))
    assert set(legend) == set(VERDICTS)
    assert set(MEANINGS) == set(VERDICTS) - {"no independent result"}
    for texts in (legend, MEANINGS):
        actual = {verdict: sides(sentence) for verdict, sentence in texts.items()}
        assert {verdict for verdict, said in actual.items() if said == {"lower"}} == LOWER
        assert {verdict for verdict, said in actual.items() if said == {"higher"}} == HIGHER
        assert not any(len(said) == 2 for said in actual.values())


def test_a_verdict_that_many_numbers_take_back_keeps_its_side() -> None:
    assert set(FAILED) == {TOO_HIGH.ours, TOO_LOW.ours, TOO_HIGH.others, TOO_LOW.others}
    assert TAKEN_BACK == {
        "does not replicate (lower)": "borderline (lower)",
        "does not replicate (higher)": "borderline (higher)",
        "independent runs score lower": "independent mean is lower",
        "independent runs score higher": "independent mean is higher",
    }


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
    assert draw_words(judgement.draw) == drawn


@pytest.mark.parametrize(
    ("origin", "numbers"),
    [
        (Origin(1, 1), "single runs"),
        (Origin(5, 1), "means of 5 runs"),
        (Origin(1, 10), "runs that are the best of 10 on dev"),
        (Origin(5, 10), "means of 5 runs, each the best of 10 on dev"),
    ],
)
def test_words_on_the_draw_state_what_kind_of_number_it_is(origin: Origin, numbers: str) -> None:
    assert draw_words("outside", origin) == f"outside the range of {numbers}"


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
            "2 of 3 single runs are above it, and it is above 50 % of the runs of 2 sources, each "
            "independent source weighted as one run",
        ),
    ],
)
def test_a_percentile_states_the_weights_of_its_sources(
    runs: dict[str, tuple[float, ...]], expected: str
) -> None:
    assert place_words(placed(runs, 78.9)) == expected
