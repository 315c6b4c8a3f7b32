"""PCL's views: which edits, how many, on pieces or on words, and on real sentences."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from methods.core.errors import InputError
from methods.core.types import Batch, Row
from methods.pcl.method import continuing_pieces, edit_words
from tests.methods.pcl.building import Make, views_of
from tests.methods.pcl.sample import PAPER
from tests.support.tiny import batch_of


def test_nine_positives_are_ten_views_of_which_the_first_two_are_the_sentence(make: Make) -> None:
    method = make()
    rows = method.prepare([Row(0, "the man runs in the red house and a dog sleeps under two trees")])
    sentence = method.token_ids(rows)[0].tolist()
    views, again, other = (views_of(method, rows[0], seed) for seed in (0, 0, 1))
    assert len(views) == 10
    assert views[0] == views[1] == sentence
    assert views[3] == views[7] == [sentence[0], *sentence[-2:0:-1], sentence[-1]]
    assert views == again
    assert views != other
    assert views[4] != views[8]
    assert Counter(views[2]) == Counter(sentence)
    assert len(views[4]) < len(sentence) < len(views[5])


def test_shared_views_are_one_draw_and_independent_views_two(make: Make) -> None:
    shared, independent = (make(PAPER, peer_views=kind) for kind in ("shared", "independent"))
    same, other = batch_of(shared), batch_of(independent)
    assert sorted_rows(same["views"]) == sorted_rows(same["peer_views"])
    mine, peers = (sorted_rows(other[name]) for name in ("views", "peer_views"))
    assert mine != peers


def sorted_rows(views: Batch) -> list[list[int]]:
    return sorted(row for name, t in views.items() if name != "rows" for row in t["input_ids"].tolist())


def test_words_are_edited_whole_in_the_paper_preset(make: Make) -> None:
    """ "zb" is no word of the tiny vocabulary and becomes z ##b, which stay together in every edit."""
    method = make(PAPER)
    rows = method.prepare([Row(0, "the zb man zb runs zb in zb house")])
    z, b = method.encoder.tokenizer.convert_tokens_to_ids(["z", "##b"])
    views = views_of(method, rows[0])
    assert len({tuple(view) for view in views}) > 5
    for view in views:
        after = [following for piece, following in pairwise(view) if piece == z]
        assert after == [b] * view.count(b)


class Vocabulary:
    """A tokenizer reduced to its pieces."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces

    def __len__(self) -> int:
        return len(self.pieces)

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self.pieces[index] for index in ids]


def test_word_marks_of_word_pieces_and_of_byte_level_pieces() -> None:
    assert continuing_pieces(Vocabulary("the", "##s")).tolist() == [False, True]
    assert continuing_pieces(Vocabulary("Ġthe", "s")).tolist() == [False, True]
    with pytest.raises(InputError, match="edit_unit: piece"):
        continuing_pieces(Vocabulary("the", "s"))


TABLE_1 = {
    "shuffle": {"bag"},
    "invert": {"n-grams", "bag"},
    "repeat": {"order", "bag"},
    "delete": {"order"},
}


@pytest.mark.parametrize("name", TABLE_1)
def test_an_edit_keeps_the_properties_that_table_1_ticks(make: Make, name: str) -> None:
    """Order: what is left stands as it stood; n-grams: the set of neighbours, either way round; bag: the set.

    Eleven different words, over twenty draws.
    """
    method = make(edits=[name], positives=2)
    rows = method.prepare([Row(0, "the man runs in a red house and two dog eats")])
    kept = {"order", "n-grams", "bag"}
    for seed in range(20):
        original, _, edited = (view[1:-1] for view in views_of(method, rows[0], seed))
        assert len(set(original)) == len(original) == 11
        inside, whole = (original, edited) if len(edited) > len(original) else (edited, original)
        rest = iter(whole)
        held = {
            "order": all(piece in rest for piece in inside),
            "n-grams": neighbours(edited) == neighbours(original),
            "bag": set(edited) == set(original),
        }
        kept &= {property_ for property_, holds in held.items() if holds}
    assert kept == TABLE_1[name]
    assert len(TABLE_1) == 4


def neighbours(ids: list[int]) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in pairwise(ids)}


def test_words_that_grow_beyond_the_length_are_cut_in_front_of_the_last_id() -> None:
    """The word 10 11 twice makes six ids; of five the last stays the last."""
    ids, continues = np.array([2, 10, 11, 3]), np.arange(12) == 11
    twice = partial(edit_words, ids, np.random.default_rng(0), edit=lambda words, rng: words[[0, 1, 1, 2]])
    edit = partial(twice, continues=continues)
    assert edit(max_length=6).tolist() == [2, 10, 11, 10, 11, 3]
    assert edit(max_length=5).tolist() == [2, 10, 11, 10, 3]
