"""Parts of a view: written once and continued after a kill."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.data.augmentation.records import Augmented, augment_all, count_outcomes, judged
from harness.errors import InputError

TEXTS = [f"text {index}" for index in range(10)]


def upper(ids: Sequence[int], texts: Sequence[str]) -> list[Augmented]:
    return [judged(text, f"{row} {text.upper()}") for row, text in zip(ids, texts, strict=True)]


def never(ids: Sequence[int], texts: Sequence[str]) -> list[Augmented]:
    raise AssertionError("a part that stands is not made again")


def test_every_row_gets_its_own_record(tmp_path: Path) -> None:
    records = augment_all(TEXTS, upper, tmp_path, part=4)
    assert [record.text for record in records] == [f"{row} TEXT {row}" for row in range(10)]
    assert augment_all(TEXTS, never, tmp_path, part=4) == records


def test_a_changed_character_of_a_part_is_refused(tmp_path: Path) -> None:
    augment_all(TEXTS, upper, tmp_path, part=10)
    path = tmp_path / "000000000.json"
    path.write_text(path.read_text().replace("3 TEXT 3", "3 TEXT 8"))
    with pytest.raises(InputError, match=r"checksum mismatch.*remove the file"):
        augment_all(TEXTS, never, tmp_path, part=10)


def test_an_empty_or_runaway_output_keeps_the_input() -> None:
    assert judged("a b", " x\ty\n") == Augmented("x y", "augmented")
    assert judged("a b", "a  b") == Augmented("a b", "unchanged")
    assert judged("a b", " \n") == Augmented("a b", "empty")
    assert judged("a b", "x", runaway=True) == Augmented("a b", "runaway")


def test_too_many_fallbacks_are_refused() -> None:
    """Two of four rows fell back: a limit of 0.5 lets them pass, one of 0.4 does not."""
    records = [Augmented("", o) for o in ("augmented", "empty", "runaway", "unchanged")]
    expected = {"empty": 1, "augmented": 1, "runaway": 1, "unchanged": 1}
    assert count_outcomes(records, limit=0.5, where="x") == expected
    assert count_outcomes(records, limit=None, where="x") == expected
    with pytest.raises(InputError, match=r"x: 2 of 4 outputs are empty or run away"):
        count_outcomes(records, limit=0.4, where="x")
