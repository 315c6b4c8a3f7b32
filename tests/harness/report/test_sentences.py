"""The sentences of the site agree with its cells, and disagree if two of their words are exchanged."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.evidence.others import nothing_known
from harness.report.pages import first_screen
from harness.report.pages.answers import Answer
from harness.report.pages.cells import ShownCell, show_cell
from harness.report.pages.first_screen import both_answers, conclusion
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import alone, judged

FIVE = (-0.4, -0.2, 0.0, 0.2, 0.4)
TEN = (-1.0, -0.8, -0.5, -0.2, 0.0, 0.0, 0.2, 0.5, 0.8, 1.0)
MANY = tuple(
    0.84 * deviation
    for deviation in (-1.6, -1.2, -0.9, -0.6, -0.4, -0.2, 0.0, 0.0, 0.2, 0.4, 0.6, 0.9, 1.2, 1.6)
)
"""Seeds and sources around their mean; the reported number is 75."""


Cases = tuple[tuple[Sequence[float], Sequence[float]], ...]


def judged() -> Iterator[Verification]:
    """Yields numbers judged by our seeds and by independent runs, with every verdict of both scales."""
    number, nothing = alone(1)
    ours: Cases = ((FIVE, (0.0, 0.3, 1.1, 2.0)), (TEN, (1.2,)))
    others: Cases = ((FIVE[1:4], (0.0, 0.3, 1.0, 2.0)), (MANY, (1.1,)))
    for runs, shifts in ours:
        for shift in {*shifts, *(-shift_up for shift_up in shifts)}:
            yield judged(number, nothing_known(), values=[75.0 + shift + run for run in runs])
    for runs, shifts in others:
        for shift in {*shifts, *(-shift_up for shift_up in shifts)}:
            sources = {str(index): 75.0 + shift + run for index, run in enumerate(runs)}
            pool = replace(
                nothing.independent,
                sources=sources,
                runs={name: (value,) for name, value in sources.items()},
            )
            yield judged(number, replace(nothing, pools={**nothing.pools, "independent": pool}))


def cell_of(actual: Verification) -> tuple[ShownCell, Table]:
    """Returns the cell of a number as on a page, in a table with one cell."""
    value = sum(actual.values) / len(actual.values) if actual.values else None
    cell = Cell(
        value=value,
        n=len(actual.values),
        values=actual.values,
        runs=tuple(map(str, range(len(actual.values)))),
        published=actual.number.value,
        verdict=actual.verdict,
        evidence=actual,
    )
    table = Table("toy/table1", "Toy table 1", (Column("Avg", "Avg"),), (TableRow("a@b", "A", (cell,)),))
    return show_cell(table, table.columns[0], cell, {}), table


def side_of(cell: ShownCell, actual: Verification) -> str:
    """Returns on which side of the number the runs are by the cell: its mark, or the mean that it shows."""
    for side, marks in (("lower", "≲↓"), ("higher", "≳↑")):
        if set(cell.glyph) & set(marks):
            return side
    runs = list(actual.values or actual.others.independent.sources.values())
    return "lower" if sum(runs) / len(runs) < actual.number.value else "higher"


POSITIONS = {"≈": "inside", "≲": "at the edge", "≳": "at the edge", "↓": "outside", "↑": "outside"}
"""Sign of a cell -> where it says that the number is; the others say nothing of it."""


def faults(sentence: str, cell: ShownCell, actual: Verification) -> list[str]:
    """Returns the contradictions between a sentence with both answers and the cell."""
    level, draw = re.split("; the number is |; too few|draw +", sentence, maxsplit=1)
    said = set(re.findall("lower|higher", level))
    wrong = [f"{side}, cell {cell.glyph}" for side in said if side != side_of(cell, actual)]
    if said != ({side_of(cell, actual)} if set(cell.glyph) & set(POSITIONS) else set()):
        wrong.append(f"sides {said}, cell {cell.glyph}")
    (position,) = re.findall("^(inside|at the edge|outside)", draw)[:1] or [""]
    due = POSITIONS.get(cell.glyph[-1], position)
    return wrong if position == due else [*wrong, f"{position}, cell {cell.glyph}"]


def answer_of(actual: Verification) -> Answer:
    return Answer(actual, "A", "", "", "", "")


def all_faults() -> list[str]:
    """Returns the contradictions of text, lists, details and first screen with the cell of any number."""
    wrong = []
    for actual in judged():
        cell, _ = cell_of(actual)
        facts = dict(cell.facts)
        text = "\n".join(line for line in to_text(actual).splitlines() if line.startswith(("level", "draw")))
        details = f"{facts['Level']}; the number is {facts['Draw']}"
        for sentence in (both_answers(actual), text, details):
            wrong += faults(sentence, cell, actual)
        wrong += first_screen_faults(conclusion([answer_of(actual)]), cell, actual)
    return wrong


def first_screen_faults(sentence: str, cell: ShownCell, actual: Verification) -> list[str]:
    """Returns the contradictions between the first line of the site and the cell of a number."""
    wrong = []
    position = POSITIONS.get(cell.glyph[-1], "")
    side = {"lower": "above", "higher": "below"}[side_of(cell, actual)]
    due = {
        "inside": ["inside"],
        "at the edge": [side, "edge"],
        "outside": [side],
        "": [],
    }[position]
    positions = re.findall("above|below|inside|edge", sentence)
    if positions != due:
        wrong.append(f"{positions}, cell {cell.glyph}")
    return wrong


def test_every_sentence_agrees_with_its_cell() -> None:
    actual = list(judged())
    assert {cell_of(verification)[0].glyph for verification in actual} == {
        *("=", "?", "≈", "≲", "≳", "↓", "↑"),
        *("○=", "○?", "○≈", "○≲", "○≳", "○↓", "○↑"),
    }
    assert all_faults() == []


def exchanged(texts: Sequence[str], first: str, second: str) -> list[str]:
    """Returns texts with two words exchanged."""
    names = {first: second, second: first}
    return [re.sub(f"\\b({first}|{second})\\b", lambda word: names[word[0]], text) for text in texts]


@pytest.mark.parametrize(
    ("where", "table", "pair"),
    [
        (words, "LEVEL_SAYS", ("lower", "higher")),
        (words, "DRAW_SAYS", ("inside", "outside")),
        (first_screen, "GROUPS", ("above", "below")),
        (first_screen, "GROUPS", ("above", "inside")),
    ],
)
def test_two_words_exchanged_make_a_sentence_that_disagrees_with_its_cell(
    monkeypatch: pytest.MonkeyPatch, where: Any, table: str, pair: tuple[str, str]
) -> None:
    phrases = getattr(where, table)
    if table == "GROUPS":
        changed = dict(zip(exchanged(list(phrases), *pair), phrases.values(), strict=True))
    else:
        changed = dict(zip(phrases, exchanged(list(phrases.values()), *pair), strict=True))
    assert changed != phrases
    monkeypatch.setattr(where, table, changed)
    assert all_faults()


@pytest.mark.parametrize("pair", [("lower", "higher"), ("inside", "outside")])
def test_two_answers_exchanged_make_a_sentence_that_disagrees_with_its_cell(
    monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str]
) -> None:
    table = "LEVEL_SAYS" if pair[0] == "lower" else "DRAW_SAYS"
    phrases = getattr(words, table)
    first, second = pair
    monkeypatch.setattr(words, table, {**phrases, first: phrases[second], second: phrases[first]})
    assert all_faults()
