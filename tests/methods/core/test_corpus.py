"""A tokenised corpus: every column of every row under its own index, and rows that lack a column."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.core.corpus import CHUNK, TokenizedCorpus, positions_by_index, texts_of
from methods.core.errors import InputError
from methods.core.types import FIRST_AUGMENTATION, TEXT, Row
from tests.support import tiny

ROWS = [Row(7, "the man runs", ("a cat", "two dog")), Row(2, "a big river", ("the old tree", "red"))]


def test_each_column_of_a_row_has_the_pieces_of_its_text(tmp_path: Path) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path))
    corpus = TokenizedCorpus(encoder, ROWS, columns=(2, TEXT, 2), max_length=4)
    for row in reversed(ROWS):
        for column in (TEXT, 2):
            (expected,) = encoder.token_ids([row.columns[column]], max_length=4)
            assert corpus.ids(row, column).tolist() == expected
    with pytest.raises(KeyError):
        corpus.ids(ROWS[0], FIRST_AUGMENTATION)


def test_a_corpus_longer_than_one_chunk_finds_its_last_row(tmp_path: Path) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path))
    rows = [Row(index, "a cat") for index in range(CHUNK)] + [Row(CHUNK, "the old man")]
    assert (
        TokenizedCorpus(encoder, rows, max_length=8).ids(rows[-1], TEXT).tolist()
        == (encoder.token_ids(["the old man"])[0])
    )


def test_positions_are_those_of_the_rows_and_minus_one_elsewhere() -> None:
    assert positions_by_index(ROWS).tolist() == [-1, -1, 1, -1, -1, -1, -1, 0]
    assert positions_by_index([]).tolist() == []


def test_column_0_is_the_sentence_and_column_p_its_augmentation_p() -> None:
    assert texts_of(ROWS, TEXT) == ["the man runs", "a big river"]
    assert texts_of(ROWS, 2) == ["two dog", "red"]
    with pytest.raises(InputError, match="row 7 of the corpus has 2 augmentations, expected at least 3"):
        texts_of(ROWS, 3)
