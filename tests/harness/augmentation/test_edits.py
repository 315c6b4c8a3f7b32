"""The operations of EDA and of SimCSE's table on texts small enough to follow by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from harness.augmentation import edits
from harness.augmentation.augmenters import edit_text
from harness.augmentation.records import row_generator
from harness.augmentation.views import Edit

WORDS = ["the", "old", "man", "saw", "the", "old", "dog", "near", "the", "river"]
KNOWN = {"old": ("aged",), "man": ("adult male", "fellow"), "dog": ("hound",)}


def synonyms(word: str) -> tuple[str, ...]:
    return KNOWN.get(word, ())


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_cleaning_keeps_letters_and_blanks_in_lower_case() -> None:
    assert edits.clean("It's  the well-known “U.N.” of 1945!") == "its the well known u n of"
    assert edits.clean("2024 / 7") == ""


@pytest.mark.parametrize(
    ("words", "share", "least", "expected"), [(9, 0.1, 1, 1), (20, 0.1, 1, 2), (29, 0.1, 0, 2)]
)
def test_the_count_is_the_whole_part_of_the_share(
    words: int, share: float, least: int, expected: int
) -> None:
    assert edits.count(["w"] * words, share=share, at_least=least) == expected


def test_a_drawn_word_is_replaced_wherever_it_stands_and_stop_words_never() -> None:
    """Three words have synonyms: three edits replace each of them, and `old` twice."""
    edited = edits.replace_by_synonyms(WORDS, rng(), edits=3, synonyms=synonyms)
    assert edited[1] == edited[5] == "aged"
    assert edited[2] in ("adult male", "fellow")
    assert edited[6] == "hound"
    assert [edited[index] for index in (0, 3, 4, 7, 8, 9)] == ["the", "saw", "the", "near", "the", "river"]
    more = edits.replace_by_synonyms(WORDS, rng(), edits=9, synonyms=lambda word: ("x",))
    assert [word for word in more if word != "x"] == ["the", "the", "the"]


def test_each_count_of_edits_changes_that_many_different_words() -> None:
    for seed in range(20):
        for wanted in (0, 1, 2, 3):
            edited = edits.replace_by_synonyms(WORDS, rng(seed), edits=wanted, synonyms=synonyms)
            changed = {before for before, after in zip(WORDS, edited, strict=True) if before != after}
            assert len(changed) == wanted


def test_insertions_add_synonyms_of_the_text_and_keep_its_words_in_order() -> None:
    edited = edits.insert_synonyms(WORDS, rng(), edits=4, synonyms=synonyms)
    added = Counter(edited) - Counter(WORDS)
    assert 1 <= sum(added.values()) <= 4
    assert set(added) <= {"aged", "adult male", "fellow", "hound"}
    assert [word for word in edited if word in WORDS] == WORDS
    assert edits.insert_synonyms(WORDS, rng(), edits=4, synonyms=lambda word: ()) == WORDS


def test_one_swap_exchanges_two_places_and_a_single_word_stays() -> None:
    letters = list("abcdef")
    for seed in range(20):
        swapped = edits.swap_words(letters, rng(seed), edits=1)
        assert sorted(swapped) == letters
        assert sum(a != b for a, b in zip(letters, swapped, strict=True)) == 2
    assert edits.swap_words(["a"], rng(), edits=3) == ["a"]


def test_deletion_drops_each_word_with_the_probability_and_never_all() -> None:
    """Of 20,000 words each goes with probability 0.1: the share is within 0.01 of it, five deviations."""
    kept = edits.delete_words([str(index) for index in range(20_000)], rng(), probability=0.1)
    assert len(kept) / 20_000 == pytest.approx(0.9, abs=0.01)
    assert [int(word) for word in kept] == sorted(int(word) for word in kept)
    assert edits.delete_words(["a", "b"], rng(), probability=0.999999) in (["a"], ["b"])
    assert edits.delete_words(["a", "b"], rng(), probability=0.0) == ["a", "b"]


@pytest.mark.parametrize(("count", "share", "kept"), [(10, 0.1, 9), (10, 0.3, 7), (4, 0.1, 4), (1, 0.9, 1)])
def test_a_crop_is_a_run_of_neighbours_of_the_stated_length(count: int, share: float, kept: int) -> None:
    """Of 10 words 10 % leaves 9 neighbours, which start at word 0 or 1, each in some draw."""
    words = [str(place) for place in range(count)]
    starts = set()
    for seed in range(40):
        cropped = [int(word) for word in edits.crop_words(words, rng(seed), share=share)]
        assert cropped == list(range(cropped[0], cropped[0] + kept))
        starts.add(cropped[0])
    assert starts == set(range(count - kept + 1))


@pytest.mark.parametrize(
    ("count", "share", "least", "left"), [(10, 0.1, 0, 9), (10, 0.3, 0, 7), (7, 0.0, 1, 6), (1, 0.9, 1, 1)]
)
def test_removal_takes_an_exact_number_of_distinct_words_and_keeps_the_order(
    count: int, share: float, least: int, left: int
) -> None:
    words = [str(place) for place in range(count)]
    gone: Counter[str] = Counter()
    for seed in range(60):
        kept = edits.remove_words(words, rng(seed), share=share, at_least=least)
        assert len(kept) == left
        assert kept == [word for word in words if word in kept]
        gone += Counter(set(words) - set(kept))
    assert set(gone) == (set(words) if left < count else set())


@pytest.mark.parametrize("kind", ["crop", "remove"])
def test_a_view_edits_a_copy_and_leaves_the_sentence(kind: str) -> None:
    text = "the old man saw the old dog near the river"
    view = Edit(kind=kind, column=0, share=0.1, at_least=0, clean=False)
    edited = edit_text(text, view, rng(), synonyms)
    assert len(edited.split()) == 9
    assert text == "the old man saw the old dog near the river"


def test_a_row_is_edited_alike_whatever_came_before_and_views_are_independent() -> None:
    view = Edit(kind="swap", column=0, share=0.5, at_least=1, clean=False)
    text = " ".join(str(index) for index in range(40))
    made = [
        edit_text(text, view, row_generator(0, number, row), synonyms) for number in (1, 2) for row in (0, 1)
    ]
    assert len(set(made)) == 4
    assert made[1] == edit_text(text, view, row_generator(0, 1, 1), synonyms)
    assert made[0] != edit_text(text, view, row_generator(7, 1, 0), synonyms)
