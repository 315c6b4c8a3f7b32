"""The scale of verdicts: the word, sign, meaning and colour of each verdict, in no other file.

A verdict has two answers. The *level* is the position of the runs' mean, the *draw* the position of the
reported number among numbers of its kind. The word says the level first, the draw second.
"""

from typing import Literal, NamedTuple, get_args

from harness.evidence.number_tests import LOOKS, MARGIN

By = Literal["ours", "others", "authors", "nobody"]
"""Who measured the number again: our seeds, independent runs, only its authors, or nobody."""

Level = Literal["within half a point", "lower", "higher", "not known"]
"""Position of the runs' mean: within MARGIN of the reported number, off by more, or unknown."""

Draw = Literal["inside", "inside as a best", "at the edge", "outside", "not known"]
"""Position of the reported number among numbers of its kind, such as single runs.

Inside: in their 95 % range by mean and standard deviation, and a run on record reaches it. Inside as a best:
in the range of a best of several runs, and no run on record reaches it. Outside: beyond the prediction
interval that includes the errors of mean and standard deviation. At the edge: between these.
"""

Colour = Literal["holds", "differs", "departs", "open", "alone"]
"""Colours of verdicts, by their names in the palette of pages."""

LEVELS: tuple[Level, ...] = get_args(Level)
DRAWS: tuple[Draw, ...] = get_args(Draw)


class Verdict(NamedTuple):
    """A verdict on a reported number: who measured it again, and the two answers."""

    by: By
    level: Level = "not known"
    draw: Draw = "not known"

    @property
    def agrees(self) -> bool:
        """Whether the level equals the reported number."""
        return self.level == "within half a point"

    @property
    def is_settled(self) -> bool:
        """Whether the level is known."""
        return self.level != "not known"

    @property
    def is_off(self) -> bool:
        """Whether the level differs from the reported number."""
        return self.level in ("lower", "higher")

    @property
    def fails(self) -> bool:
        """Whether both answers are off."""
        return self.is_off and self.draw == "outside"


class Word(NamedTuple):
    """How a reader is told of a verdict.

    text: the word; `SEVERAL` stands for a number of runs. sign: in tables. meaning: for legends. colour: by
    its name in the palette. says: predicate of a sentence on the number, in the singular.
    """

    text: str
    sign: str
    meaning: str
    colour: Colour
    says: str


SEVERAL = "several"
"""The number of runs in a text about the best of them."""
ONE_LAB = " (one lab)"
"""Said after a verdict that rests on the runs of one source alone."""
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_NEAR = f"within {MARGIN:g} points of it"
_OFF = f"by more than {MARGIN:g} points"
_LOOKS = f"{', '.join(map(str, LOOKS[:-1]))} or {LOOKS[-1]}"
_UP, _DOWN = "is above the mean of other runs", "is below the mean of other runs"
_EDGE = "and the number is at the edge of the range of its kind, or too few runs are known"
_OUT = "and the number is outside the range of its kind"
_RUNS = "and runs on record reach the number"
_BEST = "and no run on record reaches the number, but the best of k runs on dev would"
_REACHED = f"but within reach of the best of {SEVERAL} runs on dev"
_AS_BEST = f"as the best of {SEVERAL} on dev it would be reached"

_TABLE: tuple[tuple[By, Level, tuple[Draw, ...], Word], ...] = (
    ("ours", "within half a point", DRAWS,
     Word("replicates", "=", f"our mean is {_NEAR}", "holds", "replicates")),
    ("ours", "lower", ("inside",),
     Word("our mean is lower; single runs reach it", "≤", f"{_OFF}, {_RUNS}", "differs",
          f"{_UP}, and single runs reach it")),
    ("ours", "lower", ("inside as a best",),
     Word(f"our mean is lower; {_AS_BEST}", "≤k", f"{_OFF}, {_BEST}", "differs",
          f"{_UP}, {_REACHED}")),
    ("ours", "lower", ("at the edge", "not known"),
     Word("our mean is lower", "<", f"{_OFF}, {_EDGE}", "differs", _UP)),
    ("ours", "lower", ("outside",),
     Word("does not replicate (lower)", "↓", f"our mean is lower {_OFF}, {_OUT}", "departs",
          f"{_UP} and outside the range of its kind")),
    ("ours", "higher", ("inside",),
     Word("our mean is higher; single runs reach it", "≥", f"{_OFF}, {_RUNS}", "differs",
          f"{_DOWN}, and single runs reach it")),
    ("ours", "higher", ("inside as a best", "at the edge", "not known"),
     Word("our mean is higher", ">", f"{_OFF}, {_EDGE}", "differs", _DOWN)),
    ("ours", "higher", ("outside",),
     Word("does not replicate (higher)", "↑", f"our mean is higher {_OFF}, {_OUT}", "departs",
          f"{_DOWN} and outside the range of its kind")),
    ("ours", "not known", DRAWS,
     Word("not settled", "?", f"no look has been reached ({_LOOKS} seeds), or the interval of our mean "
          "extends beyond the margin; +n: n more seeds up to the advised look", "open", "is not settled")),
    ("others", "within half a point", DRAWS,
     Word("independent runs agree", "○=", f"the mean of three or more independent sources is {_NEAR}",
          "holds", "replicates")),
    ("others", "lower", ("inside",),
     Word("independent mean is lower; single runs reach it", "○≤", f"{_OFF}, {_RUNS}",
          "differs", f"{_UP}, and single runs reach it")),
    ("others", "lower", ("inside as a best",),
     Word(f"independent mean is lower; {_AS_BEST}", "○≤k", f"{_OFF}, {_BEST}", "differs",
          f"{_UP}, {_REACHED}")),
    ("others", "lower", ("at the edge", "not known"),
     Word("independent mean is lower", "○<", f"{_OFF}, {_EDGE}", "differs", _UP)),
    ("others", "lower", ("outside",),
     Word("independent runs score lower", "○↓", f"their mean is lower {_OFF}, {_OUT}", "departs",
          f"{_UP} and outside the range of its kind")),
    ("others", "higher", ("inside",),
     Word("independent mean is higher; single runs reach it", "○≥", f"{_OFF}, {_RUNS}",
          "differs", f"{_DOWN}, and single runs reach it")),
    ("others", "higher", ("inside as a best", "at the edge", "not known"),
     Word("independent mean is higher", "○>", f"{_OFF}, {_EDGE}", "differs", _DOWN)),
    ("others", "higher", ("outside",),
     Word("independent runs score higher", "○↑", f"their mean is higher {_OFF}, {_OUT}", "departs",
          f"{_DOWN} and outside the range of its kind")),
    ("others", "not known", DRAWS,
     Word("not settled", "○?", "one or two independent sources, none a lab with ten or more runs, or runs or "
          "sources that differ too much", "open", "is not settled")),
    ("authors", "not known", ("not known",),
     Word("authors only", "‡", "a search for re-runs by others had no result, or its authors measured it a "
          "second time", "alone", "was measured by its authors only")),
    ("nobody", "not known", ("not known",),
     Word("no independent result", "", "only the reported number is known", "alone",
          "has no second measurement")),
)  # fmt: skip

WORDS: dict[Verdict, Word] = {
    Verdict(by, level, draw): word for by, level, draws, word in _TABLE for draw in draws
}
"""The word of each verdict, in the order of legends and counts."""


def scale() -> list[Word]:
    """Returns the words of the scale, each once, in order."""
    return list(dict.fromkeys(WORDS.values()))


def with_count(text: str, picked: int) -> str:
    """Returns a text of the scale with a number of runs for `SEVERAL`."""
    spelled = NUMBERS[picked - 2] if 2 <= picked <= len(NUMBERS) + 1 else str(picked)
    return text.replace(f"best of {SEVERAL}", f"best of {spelled}")
