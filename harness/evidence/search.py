"""Search for published numbers in all tables, by a value, by a name, or by both."""

import re
import shlex
from collections.abc import Collection, Iterable

from harness.errors import InputError, near_matches
from harness.evidence.numbers import PublishedNumber
from harness.evidence.published import Published

MEAN_COLUMN = "Avg"
"""The column that stands for a row that is found by its name."""
VALUE = re.compile(r"-?\d+([.,]\d+)?%?")
"""A word of a search that is a value."""
ROUNDING = 1e-9
"""Tolerance of a value that is half a unit away: it rounds up or down, so both values find it."""
DECIMALS_OF_ONE = 3
"""Fewest decimals of a value that a table may print on a scale of 0 to 1."""


def split_search(text: str) -> tuple[list[str], str]:
    """Returns the words of a search in lower case, without its value, and the value as written, empty
    without one. The value is the last word that is a number: `PCL 78.42`, `SimCSE = 76.25`, `78.42`.
    """
    words = [word for word in re.split(r"[\s=:;()]+", text.lower()) if word.strip(",.")]
    places = [place for place, word in enumerate(words) if VALUE.fullmatch(word)]
    value = words.pop(places[-1]).rstrip("%").replace(",", ".") if places else ""
    return [word.strip(",.") for word in words], value


def numbers_like(published: Published, text: str, tables: Collection[str]) -> list[PublishedNumber]:
    """Returns the numbers of these tables that a text means, the means first, in the order of the tables.

    text: a value, as printed or in points, which finds every cell that rounds to it; parts of the name of a
    row, which find the mean of each of its rows, or else the row's first column; or both, which find the
    cells of these rows with this value. Errors: InputError if there is none.
    """
    words, value = split_search(text)
    numbers = [number for number in published.numbers.values() if number.table in tables]
    if not words:
        found = _with_value(numbers, value) if value else []
        if not found:
            raise InputError(f"no published number is {value or repr(text)}")
        return _means_first(found)
    named = _named(numbers, words)
    if not named:
        names = sorted({number.row.partition("@")[0] for number in numbers})
        near = near_matches(" ".join(words), names)
        raise InputError(f"{text!r} is neither a published number nor part of a system{near}")
    if value:
        found = _with_value(named, value)
        if not found:
            raise InputError(_without(" ".join(words), value, named))
        return _means_first(found)
    by_row: dict[tuple[str, str], list[PublishedNumber]] = {}
    for number in named:
        by_row.setdefault((number.table, number.row), []).append(number)
    return [
        next((number for number in cells if number.column == MEAN_COLUMN), cells[0])
        for cells in by_row.values()
    ]


def one_of_each(numbers: Iterable[PublishedNumber]) -> list[list[PublishedNumber]]:
    """Returns cells of one value by what they report: the same method, backbone and column of several tables
    are one number. In each group the cell of the number's own paper is the first."""
    groups: dict[tuple[str, ...], list[PublishedNumber]] = {}
    for number in numbers:
        method = re.split("[/@]", number.row)[0]
        groups.setdefault((method, number.backbone, number.column), []).append(number)
    return [sorted(group, key=lambda number: number.origin != "this-paper") for group in groups.values()]


def _means_first(numbers: Iterable[PublishedNumber]) -> list[PublishedNumber]:
    return sorted(numbers, key=lambda number: number.column != MEAN_COLUMN)


def _with_value(numbers: Iterable[PublishedNumber], value: str) -> list[PublishedNumber]:
    decimals = len(value.partition(".")[2])
    scales = (1, 100) if decimals >= DECIMALS_OF_ONE else (1,)  # 0.7767 is 77.67 points
    return [
        number
        for number in numbers
        if any(
            abs(known - scale * float(value)) <= scale * 0.5 * 10.0**-decimals + ROUNDING
            for known in (number.printed, number.value)
            for scale in scales
        )
    ]


def _named(numbers: Iterable[PublishedNumber], words: Collection[str]) -> list[PublishedNumber]:
    """Returns the numbers whose system has all words; if there is none, those whose row with its backbone,
    table or column has them."""

    def having(name_of: str) -> list[PublishedNumber]:
        return [
            number
            for number in numbers
            if all(
                word in name_of.format(number, system=number.row.partition("@")[0]).lower() for word in words
            )
        ]

    return having("{system}") or having("{0.row} {0.table} {0.column}")


def _without(name: str, value: str, named: Collection[PublishedNumber]) -> str:
    """Returns the error for a value that no row of a name has, with the nearest mean of one."""
    means = [number for number in named if number.column == MEAN_COLUMN] or named
    near = min(means, key=lambda number: abs(number.printed - float(value)))
    return (
        f"no row of {name} reports {value}; the nearest is {near.printed:.15g}, "
        f"{near.table} {near.row} {near.column}; `sentbench verify {shlex.quote(name)}` lists its rows"
    )
