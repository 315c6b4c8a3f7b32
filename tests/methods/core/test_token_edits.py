"""Token augmentations: lengths, multisets, fixed positions, and purity."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from methods.core import token_edits
from methods.core.token_edits import TokenEdit

EDITS: dict[str, TokenEdit] = {
    "shuffle": token_edits.shuffle_inside,
    "invert": token_edits.invert_inside,
    "delete": partial(token_edits.delete_inside, share=0.2, first_occurrence=True),
    "delete-drawn": partial(token_edits.delete_inside, share=0.2, first_occurrence=False),
    "repeat": partial(token_edits.repeat_inside, share=0.2, max_length=32),
    "reorder": token_edits.reorder_after_first,
    "duplicate": partial(token_edits.duplicate_in_place, share=0.1),
}


@pytest.mark.parametrize("name", EDITS)
def test_the_only_id_of_a_text_without_tokens_stays_alone(name: str) -> None:
    ids = np.array([7], dtype=np.int32)
    assert EDITS[name](ids, np.random.default_rng(0)).tolist() == [7]


def sentence(n: int) -> np.ndarray:
    """Returns [CLS] 10 .. 10+n-1 [SEP]: distinct ids, so that positions can be told apart."""
    return np.array([2, *range(10, 10 + n), 3], dtype=np.int32)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 13, 30])
def test_an_edit_is_pure_keeps_the_type_and_the_first_id(name: str, n: int) -> None:
    ids = sentence(n)
    first, second = (EDITS[name](ids, rng(5)) for _ in range(2))
    assert np.array_equal(ids, sentence(n))
    assert np.array_equal(first, second)
    assert first.dtype == np.int32
    assert first[0] == 2
    assert not np.shares_memory(first, ids)


@pytest.mark.parametrize("name", ["shuffle", "invert", "delete", "repeat"])
def test_edits_of_pcl_keep_the_last_id(name: str) -> None:
    assert all(EDITS[name](sentence(n), rng(n))[-1] == 3 for n in range(31))


def test_shuffling_keeps_the_multiset_and_reaches_every_order() -> None:
    """Three ids have 6 orders; in 600 draws each is expected 100 times, and below 60 is 4.4 sd away."""
    orders = Counter(tuple(token_edits.shuffle_inside(sentence(3), rng(seed))) for seed in range(600))
    assert len(orders) == 6
    assert min(orders.values()) > 60
    assert all(sorted(order) == [2, 3, 10, 11, 12] for order in orders)


def test_inverting_is_the_exact_reverse_and_its_own_inverse() -> None:
    assert token_edits.invert_inside(sentence(4), rng()).tolist() == [2, 13, 12, 11, 10, 3]
    twice = token_edits.invert_inside(token_edits.invert_inside(sentence(7), rng()), rng())
    assert np.array_equal(twice, sentence(7))


def test_a_fifth_to_the_nearest_integer_is_deleted_or_inserted_where_there_is_room() -> None:
    """round(n / 5) = floor((n + 2) / 5); insertions have the room that is left in 32."""
    for n in range(31):
        fifth = (n + 2) // 5
        assert len(EDITS["delete"](sentence(n), rng(n))) == n + 2 - fifth
        assert len(EDITS["repeat"](sentence(n), rng(n))) == n + 2 + min(fifth, 30 - n)


def test_deletion_by_value_takes_the_first_occurrence_and_by_position_does_not() -> None:
    """In 7 8 7 8 7 one of five goes: by value the first 7 or the first 8; by position any of the five."""
    ids = np.array([2, 7, 8, 7, 8, 7, 3], dtype=np.int32)
    by_value = {tuple(EDITS["delete"](ids, rng(seed))[1:-1]) for seed in range(60)}
    by_position = {tuple(EDITS["delete-drawn"](ids, rng(seed))[1:-1]) for seed in range(60)}
    assert by_value == {(8, 7, 8, 7), (7, 7, 8, 7)}
    assert by_position == {(8, 7, 8, 7), (7, 7, 8, 7), (7, 8, 8, 7), (7, 8, 7, 7), (7, 8, 7, 8)}


def test_insertions_go_anywhere_and_a_copy_may_be_copied() -> None:
    """Of 3 distinct ids one is copied to one of 4 positions: 12 ways, two a source look alike, 9 outcomes."""
    seen = {tuple(EDITS["repeat"](sentence(3), rng(seed))) for seed in range(300)}
    assert len(seen) == 9
    thrice = [Counter(EDITS["repeat"](sentence(13), rng(seed)).tolist()) for seed in range(50)]
    assert any(max(counts.values()) >= 3 for counts in thrice)


def test_duplication_puts_copies_next_to_their_source() -> None:
    """int(0.1 * 30) = 3 copies; distinct neighbours remain the original; of two ids the last is copied."""
    assert token_edits.duplicate_in_place(sentence(0), rng(), share=0.5).tolist() == [2, 3, 3]
    for seed in range(20):
        edited = token_edits.duplicate_in_place(sentence(28), rng(seed), share=0.1)
        assert len(edited) == 33
        runs = edited[np.insert(np.diff(edited) != 0, 0, True)]
        assert np.array_equal(runs, sentence(28))
        assert (edited == 2).sum() == 1


def test_hidden_positions_are_at_most_the_share_and_never_the_first() -> None:
    assert token_edits.hidden_positions(2, rng(), share=0.5).tolist() == [1, 0]
    masks = np.array([token_edits.hidden_positions(30, rng(seed), share=0.1) for seed in range(200)])
    assert masks[:, 0].all()
    assert set((masks == 0).sum(axis=1)) <= {1, 2, 3}
    assert ((masks == 0).sum(axis=1) == 3).any()
    assert (masks[:, -1] == 0).any()


def test_words_move_whole_and_equal_words_have_equal_values() -> None:
    """Pieces 90 and up continue a word: [CLS] 10 90 | 11 | 12 91 92 [SEP]."""
    continues = np.arange(100) >= 90
    ids = np.array([2, 10, 90, 11, 12, 91, 92, 3], dtype=np.int32)
    inverted = token_edits.by_words(ids, rng(), token_edits.invert_inside, continues=continues)
    assert inverted.tolist() == [2, 12, 91, 92, 11, 10, 90, 3]
    twins = np.array([2, 10, 90, 11, 10, 90, 11, 10, 90, 3], dtype=np.int32)
    deleted = {
        tuple(token_edits.by_words(twins, rng(seed), EDITS["delete"], continues=continues))
        for seed in range(40)
    }
    assert deleted == {(2, 11, 10, 90, 11, 10, 90, 3), (2, 10, 90, 10, 90, 11, 10, 90, 3)}
