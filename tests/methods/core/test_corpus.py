"""A tokenised corpus: every column of every row; kept by content, never read for anything else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from methods.core.corpus import CHUNK, Pieces, TokenizedCorpus, pieces_of, positions_by_index, texts_of
from methods.core.encoder import SentenceEncoder
from methods.core.rows import FIRST_AUGMENTATION, TEXT, Row
from tests.support import tiny

TEXTS = ["the man runs", "", "a cat sleeps under the old tree near the river", "the man runs"]
ROWS = [Row(7, "the man runs", ("a cat", "two dog")), Row(2, "a big river", ("the old tree", "red"))]


@pytest.fixture
def encoder(backbone: Path, tmp_path: Path) -> SentenceEncoder:
    """An encoder with a cache of tokenised corpora."""
    made = tiny.sentence_encoder(backbone)
    made.piece_folder = tmp_path / "pieces"
    return made


def kept(encoder: SentenceEncoder) -> list[Path]:
    assert encoder.piece_folder is not None
    return sorted(encoder.piece_folder.glob("*.npy"))


def as_lists(pieces: Pieces) -> list[list[int]]:
    return [pieces.ids(row).tolist() for row in range(len(pieces.ends) - 1)]


def test_kept_tokens_equal_the_tokenizers_and_are_made_once(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = encoder.token_ids(TEXTS, max_length=6)
    first = pieces_of(encoder, TEXTS, 6)
    monkeypatch.setattr(encoder, "token_ids", None)
    second = pieces_of(encoder, TEXTS, 6)
    assert as_lists(first) == as_lists(second) == expected
    assert first.flat.dtype == second.flat.dtype == np.int32
    assert not second.flat.flags.writeable  # a map of the file, not a copy
    assert len(kept(encoder)) == 1


def test_encoded_texts_are_tokenised_once_in_a_process_and_once_for_all_processes(
    backbone: Path, encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are as with tokenising each time; another length or another text is tokenised again."""
    expected = tiny.sentence_encoder(backbone).encode(TEXTS, batch_size=1)
    other = tiny.sentence_encoder(backbone)
    other.piece_folder = encoder.piece_folder
    tokenised: list[list[str]] = []
    for reader in (encoder, other):
        ids_of = reader.token_ids

        def noted(texts: list[str], *, ids_of: Any = ids_of, **options: Any) -> Any:
            tokenised.append(list(texts))
            return ids_of(texts, **options)

        monkeypatch.setattr(reader, "token_ids", noted)
    distinct = list(dict.fromkeys(TEXTS))
    for reader in (encoder, encoder, other):
        assert np.array_equal(reader.encode(TEXTS, batch_size=1), expected)
    assert tokenised == [distinct]
    assert len(kept(encoder)) == 1
    encoder.tokenizer.model_max_length = 4
    assert not np.array_equal(encoder.encode(TEXTS, batch_size=1), expected)
    other.encode([*TEXTS, "a river"], batch_size=1)
    assert tokenised == [distinct, distinct, [*distinct, "a river"]]
    encoder.encode(["a red dog"])  # too few to keep
    assert len(kept(encoder)) == 3


def test_every_input_of_the_tokens_is_part_of_their_name(encoder: SentenceEncoder) -> None:
    """The length, a word, a letter, a border between texts, their order, and the tokenizer."""
    pieces_of(encoder, TEXTS, 7)
    words, letter, border = ["the man sits"], ["the man runsa"], ["the man run", "s"]
    for texts in (TEXTS, TEXTS[:3] + words, letter + TEXTS[1:], border + TEXTS[2:], TEXTS[::-1]):
        pieces_of(encoder, texts, 6)
    encoder.tokenizer.add_tokens(["zebra"])
    encoder._tokenizers.clear()
    pieces_of(encoder, TEXTS, 6)
    assert len(kept(encoder)) == 7


def test_a_damaged_file_is_made_again(encoder: SentenceEncoder) -> None:
    expected = as_lists(pieces_of(encoder, TEXTS, 6))
    (path,) = kept(encoder)
    whole = path.read_bytes()
    at = len(whole) - 40
    for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], b""):
        path.write_bytes(damaged)
        assert as_lists(pieces_of(encoder, TEXTS, 6)) == expected
        assert path.read_bytes() == whole


def test_more_texts_than_a_chunk_are_all_kept(encoder: SentenceEncoder) -> None:
    texts = ["a cat"] * CHUNK + ["the old man"]
    assert pieces_of(encoder, texts, 8).ids(CHUNK).tolist() == encoder.token_ids(["the old man"])[0]
    assert pieces_of(encoder, [], 8).ends.tolist() == [0]


def test_each_column_of_a_row_has_the_pieces_of_its_text(encoder: SentenceEncoder) -> None:
    """Column 0 is the sentence and column p its augmentation p."""
    corpus = TokenizedCorpus(encoder, ROWS, columns=(2, TEXT, 2), max_length=4)
    assert [texts_of(ROWS, column)[0] for column in (TEXT, 2)] == ["the man runs", "two dog"]
    for row in reversed(ROWS):
        for column in (TEXT, 2):
            (expected,) = encoder.token_ids([row.columns[column]], max_length=4)
            assert corpus.ids(row, column).tolist() == expected
    with pytest.raises(KeyError):
        corpus.ids(ROWS[0], FIRST_AUGMENTATION)


def test_positions_are_the_rows_or_minus_one() -> None:
    assert positions_by_index(ROWS).tolist() == [-1, -1, 1, -1, -1, -1, -1, 0]
    assert positions_by_index([]).tolist() == []
