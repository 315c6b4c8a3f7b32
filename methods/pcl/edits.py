"""Which edits make the positives of a sentence, and what counts as a word."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from methods.core.errors import InputError
from methods.core.token_edits import (
    TokenEdit,
    by_words,
    delete_inside,
    invert_inside,
    repeat_inside,
    shuffle_inside,
)
from methods.pcl.config import PCLConfig

MARKS_OF_CONTINUATION = ("##",)
MARKS_OF_START = ("Ġ", "▁")


def positive_edits(config: PCLConfig, continues: np.ndarray | None) -> list[TokenEdit]:
    """Returns the edits of views 1..K: none for the dropout copy, then the first K - 1 of `config.edits`.

    `continues` says which pieces continue a word, for edits of whole words; None edits pieces.
    """
    longest = config.max_length
    known: dict[str, TokenEdit] = {
        "dropout": unchanged,
        "shuffle": shuffle_inside,
        "invert": invert_inside,
        "delete": partial(
            delete_inside,
            share=config.edit_share,
            first_occurrence=config.deletion == "first-occurrence",
        ),
        "repeat": partial(repeat_inside, share=config.edit_share, max_length=longest),
    }
    chosen = [known[name] for name in config.edits[: config.positives - 1]]
    if continues is not None:
        chosen = [partial(edit_words, edit=edit, continues=continues, max_length=longest) for edit in chosen]
    return [unchanged, *chosen]


def unchanged(ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the ids themselves: a positive that differs by dropout only."""
    return ids


def edit_words(
    ids: np.ndarray, rng: np.random.Generator, *, edit: TokenEdit, continues: np.ndarray, max_length: int
) -> np.ndarray:
    """Returns the ids after an edit of whole words, cut in front of the last id if they grew too long."""
    edited = by_words(ids, rng, edit, continues=continues)
    return edited if len(edited) <= max_length else np.append(edited[: max_length - 1], edited[-1])


def continuing_pieces(tokenizer: Any) -> np.ndarray:
    """Returns which entries of a vocabulary continue the word before them; [vocabulary] bool.

    Word pieces mark a continuation (`##`), byte-level and unigram pieces mark a start instead.
    Errors: InputError if the vocabulary has neither mark.
    """
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    continuing = np.array([piece.startswith(MARKS_OF_CONTINUATION) for piece in pieces])
    if continuing.any():
        return continuing
    starting = np.array([piece.startswith(MARKS_OF_START) for piece in pieces])
    if not starting.any():
        raise InputError(
            "the tokenizer marks neither the start nor the continuation of a word, expected one of them; "
            "set `edit_unit: piece`"
        )
    return ~starting
