"""The operations of EDA and of SimCSE's table on texts small enough to follow by hand."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from harness.data.augmentation import edits
from harness.data.augmentation.augmenters import build_augmenter
from harness.data.augmentation.edits import edit_text
from harness.data.augmentation.views import Copy, Edit

WORDS = ["the", "old", "man", "saw", "the", "old", "dog", "near", "the", "river"]
KNOWN = {"old": ("aged",), "man": ("adult male", "fellow"), "dog": ("hound",)}


def synonyms(word: str) -> tuple[str, ...]:
    return KNOWN.get(word, ())


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def edited(kind: str, words: int, share: float, least: int, seed: int = 0) -> list[int]:
    """Returns the remaining numbers of a text of numbers."""
    view = Edit.model_validate({"kind": kind, "column": 0, "share": share, "at_least": least, "clean": False})
    text = edit_text(" ".join(map(str, range(words))), view, rng(seed), synonyms)
    return [int(word) for word in text.split()]


def test_cleaning_keeps_letters_and_blanks_in_lower_case() -> None:
    assert edits.clean("It's  the well-known “U.N.” of 1945!") == "its the well known u n of"
    assert edits.clean("2024 / 7") == ""


@pytest.mark.parametrize(
    ("words", "share", "least", "swaps"), [(9, 0.1, 1, 1), (20, 0.1, 0, 2), (29, 0.1, 0, 2)]
)
def test_the_count_is_the_whole_part_of_the_share(words: int, share: float, least: int, swaps: int) -> None:
    """So many exchanges, drawn in the same order, give the same text."""
    by_hand, draws = list(range(words)), rng()
    for _ in range(swaps):
        first, second = draws.choice(words, size=2, replace=False)
        by_hand[first], by_hand[second] = by_hand[second], by_hand[first]
    assert edited("swap", words, share, least) == by_hand


def test_a_drawn_word_is_replaced_at_every_position_and_stop_words_never() -> None:
    """Three words have synonyms: three edits replace each of them, and `old` twice; fewer, so many words."""
    made = edits.replace_by_synonyms(WORDS, rng(), edits=3, synonyms=synonyms)
    assert made[1] == made[5] == "aged"
    assert made[2] in ("adult male", "fellow")
    assert made[6] == "hound"
    assert [made[index] for index in (0, 3, 4, 7, 8, 9)] == ["the", "saw", "the", "near", "the", "river"]
    more = edits.replace_by_synonyms(WORDS, rng(), edits=9, synonyms=lambda word: ("x",))
    assert [word for word in more if word != "x"] == ["the", "the", "the"]
    for seed, wanted in product(range(20), range(4)):
        made = edits.replace_by_synonyms(WORDS, rng(seed), edits=wanted, synonyms=synonyms)
        changed = {before for before, after in zip(WORDS, made, strict=True) if before != after}
        assert len(changed) == wanted


def test_insertions_add_synonyms_of_the_text_and_keep_its_words_in_order() -> None:
    made = edits.insert_synonyms(WORDS, rng(), edits=4, synonyms=synonyms)
    added = Counter(made) - Counter(WORDS)
    assert 1 <= sum(added.values()) <= 4
    assert set(added) <= {"aged", "adult male", "fellow", "hound"}
    assert [word for word in made if word in WORDS] == WORDS
    assert edits.insert_synonyms(WORDS, rng(), edits=4, synonyms=lambda word: ()) == WORDS


@pytest.mark.parametrize(("known_at", "added"), [(1, 1), (10, 1), (11, 0)])
def test_an_insertion_is_given_up_after_ten_words_without_a_synonym(known_at: int, added: int) -> None:
    asked = iter(range(1, 99))
    made = edits.insert_synonyms(
        WORDS, rng(), edits=1, synonyms=lambda word: ("new",) if next(asked) == known_at else ()
    )
    assert len(made) - len(WORDS) == added


def test_one_swap_exchanges_two_places_and_a_single_word_stays() -> None:
    for seed in range(20):
        swapped = edited("swap", 6, 0.0, 1, seed)
        assert sorted(swapped) == list(range(6))
        assert sum(word != number for word, number in enumerate(swapped)) == 2
    assert edited("swap", 1, 0.0, 3) == [0]


def test_deletion_drops_each_word_with_the_probability_and_never_all() -> None:
    """Of 20,000 words each goes with probability 0.1: the share is within 0.01 of it, five deviations."""
    kept = edited("delete", 20_000, 0.1, 0)
    assert len(kept) / 20_000 == pytest.approx(0.9, abs=0.01)
    assert kept == sorted(kept)
    assert edited("delete", 2, 0.999999, 0) in ([0], [1])
    assert edited("delete", 2, 0.0, 0) == [0, 1]


@pytest.mark.parametrize(("count", "share", "kept"), [(10, 0.1, 9), (10, 0.3, 7), (4, 0.1, 4), (1, 0.9, 1)])
def test_a_crop_is_a_run_of_neighbours_of_the_stated_length(count: int, share: float, kept: int) -> None:
    """Of 10 words 10 % leaves 9 neighbours, which start at word 0 or 1, each in some draw."""
    starts = set()
    for seed in range(40):
        cropped = edited("crop", count, share, 0, seed)
        assert cropped == list(range(cropped[0], cropped[0] + kept))
        starts.add(cropped[0])
    assert starts == set(range(count - kept + 1))


@pytest.mark.parametrize(
    ("count", "share", "least", "left"), [(10, 0.1, 0, 9), (10, 0.3, 0, 7), (7, 0.0, 1, 6), (1, 0.9, 1, 1)]
)
def test_removal_takes_an_exact_number_of_distinct_words_and_keeps_the_order(
    count: int, share: float, least: int, left: int
) -> None:
    gone: set[int] = set()
    for seed in range(60):
        kept = edited("remove", count, share, least, seed)
        assert len(kept) == left
        assert kept == sorted(set(kept))
        gone |= set(range(count)) - set(kept)
    assert gone == (set(range(count)) if left < count else set())


def test_a_copied_row_is_the_one_of_its_id() -> None:
    view = Copy(kind="copy", column=1, source="origin")
    rows = [("a", "x"), ("b", "y")]
    augmenter = build_augmenter(view, rows, seed=0, number=1, tool=Path(), device="cpu")
    assert augmenter([1], ["b"])[0].text == "y"


def test_edits_of_a_row_do_not_depend_on_earlier_rows_and_views_are_independent() -> None:
    view = Edit(kind="swap", column=0, share=0.5, at_least=1, clean=False)
    text = " ".join(str(index) for index in range(40))

    def made(seed: int, number: int, row: int) -> str:
        augmenter = build_augmenter(view, [], seed=seed, number=number, tool=Path(), device="cpu")
        return augmenter([row], [text])[0].text

    actual = [made(seed, number, row) for seed in (0, 7) for number in (1, 2) for row in (0, 1)]
    assert len(set(actual)) == 8
    assert actual[1] == made(0, 1, 1)
