"""Search for published numbers in all tables, by a value or by a name."""

import re

from harness.errors import InputError, near_matches
from harness.evidence.numbers import PublishedNumber
from harness.evidence.published import Published

MEAN = "Avg"
"""The column that stands for a row that is found by its name."""
DECIMALS_OF_ONE = 3
"""Fewest decimals of a value that a table may print on a scale of 0 to 1."""


def numbers_like(published: Published, text: str) -> list[PublishedNumber]:
    """Returns the numbers that a text means, in the order of the tables.

    text: a value, as printed or in points, which finds every cell that rounds to it; otherwise a part of the
    name of a system, which finds the mean of each of its rows, or else the row's first column. Errors:
    InputError if there is none.
    """
    wanted = text.strip()
    if re.fullmatch(r"-?\d+(\.\d+)?", wanted):
        decimals = len(wanted.partition(".")[2])
        scales = (1, 100) if decimals >= DECIMALS_OF_ONE else (1,)  # 0.7767 is 77.67 points
        found = [
            number
            for number in published.numbers.values()
            if any(
                abs(value - scale * float(wanted)) < scale * 0.5 * 10.0**-decimals
                for value in (number.printed, number.value)
                for scale in scales
            )
        ]
        if not found:
            raise InputError(f"no published number is {wanted}")
        return found
    by_row: dict[tuple[str, str], list[PublishedNumber]] = {}
    for number in published.numbers.values():
        if wanted and wanted.lower() in number.row.partition("@")[0].lower():
            by_row.setdefault((number.table, number.row), []).append(number)
    if not by_row:
        names = sorted({number.row.partition("@")[0] for number in published.numbers.values()})
        raise InputError(
            f"{text!r} is neither a published number nor part of a system{near_matches(text, names)}"
        )
    return [
        next((number for number in numbers if number.column == MEAN), numbers[0])
        for numbers in by_row.values()
    ]
