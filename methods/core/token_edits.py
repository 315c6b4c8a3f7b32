"""Token augmentations of a sentence: pure functions of an id array and a NumPy generator.

`ids` is int32 [length >= 1], special tokens first and last; n is the number of ids between them. The one id
of a text without tokens stays alone.
"""

from collections.abc import Callable

import numpy as np

TokenEdit = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""An edit with bound settings: ids and generator in, new ids out."""


def shuffle_inside(ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the ids in uniformly random order; the first and the last stay in place."""
    edited = ids.copy()
    rng.shuffle(edited[1:-1])
    return edited


def invert_inside(ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the ids in reverse order; the first and the last stay in place. Deterministic."""
    edited = ids.copy()
    edited[1:-1] = ids[-2:0:-1]
    return edited


def delete_inside(
    ids: np.ndarray, rng: np.random.Generator, *, share: float, first_occurrence: bool
) -> np.ndarray:
    """Returns the ids without round(share n) of those between the first and the last.

    A position is drawn uniformly among those left. With `first_occurrence` the leftmost id of equal value is
    deleted instead (PCL's released code).
    """
    inside = ids[1:-1].tolist()
    count = round(share * len(inside))
    for position in rng.integers(0, len(inside) - np.arange(count)):
        del inside[inside.index(inside[position]) if first_occurrence else position]
    return np.array([*ids[:1], *inside, *ids[1:][-1:]], dtype=ids.dtype)


def repeat_inside(ids: np.ndarray, rng: np.random.Generator, *, share: float, max_length: int) -> np.ndarray:
    """Returns the ids with min(round(share n), max_length - n - 2) copies inserted at random positions.

    Each copy is drawn from the current sequence, earlier copies included, and inserted anywhere between the
    first and the last id (PCL's released code); a sentence of `max_length` ids is returned unchanged.
    """
    inside = ids[1:-1].tolist()
    count = max(0, min(round(share * len(inside)), max_length - len(ids)))
    grown = len(inside) + np.arange(count)
    for source, position in zip(rng.integers(0, grown), rng.integers(0, grown + 1), strict=True):
        inside.insert(position, inside[source])
    return np.array([*ids[:1], *inside, *ids[1:][-1:]], dtype=ids.dtype)


def reorder_after_first(ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the ids in random order after the first one; the last id moves too (MoCo with reordering)."""
    edited = ids.copy()
    rng.shuffle(edited[1:])
    return edited


def duplicate_in_place(ids: np.ndarray, rng: np.random.Generator, *, share: float) -> np.ndarray:
    """Returns the ids with int(share length) copies, each next to its source; never of the first id.

    Sources are drawn one after the other from the current sequence (MoCo with duplication). The result may
    exceed an earlier truncation.
    """
    edited = ids.tolist()
    count = int(share * len(edited)) if len(edited) > 1 else 0
    for position in rng.integers(1, len(edited) + np.arange(count)):
        edited.insert(position, edited[position])
    return np.array(edited, dtype=ids.dtype)


def hidden_positions(length: int, rng: np.random.Generator, *, share: float) -> np.ndarray:
    """Returns an attention mask with zeros at int(share length) drawn positions, never the first.

    Draws are independent, so fewer positions may be hidden; the ids themselves stay (MoCo with deletion).
    Shapes: returns [length] int64 of 0 and 1.
    """
    mask = np.ones(length, dtype=np.int64)
    if length > 1:
        mask[rng.integers(1, length, size=int(share * length))] = 0
    return mask


def by_words(
    ids: np.ndarray, rng: np.random.Generator, edit: TokenEdit, *, continues: np.ndarray
) -> np.ndarray:
    """Returns the ids after an edit that moves whole words.

    Equal words get equal numbers; `edit` runs on the numbers, which are then expanded to ids.
    Shapes: continues [vocabulary] bool, True for a piece that continues the word before it.
    """
    starts = ~continues[ids]
    starts[[0, 1, -1] if len(ids) > 2 else [0, -1]] = True  # special tokens are separate words
    words = [tuple(word.tolist()) for word in np.split(ids, np.flatnonzero(starts)[1:])]
    known: dict[tuple[int, ...], int] = {}
    numbers = np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int32)
    spelled = list(known)
    edited = [piece for number in edit(numbers, rng) for piece in spelled[number]]
    return np.array(edited, dtype=ids.dtype)
