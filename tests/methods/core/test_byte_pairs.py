"""A folder with vocab.json and merges.txt alone gives RoBERTa's pieces: those of a slow byte-pair coder."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import regex

from methods.core.errors import InputError
from methods.core.folders import load_encoder, load_tokenizer
from tests.support.checkpoints import roberta, safetensors, write_byte_pairs

WORDS = regex.compile(r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
"""How GPT-2 cuts text into words; the space before a word belongs to it."""

TEXTS = [
    "the man runs",
    "A man is <mask> here.",
    " <mask>x",
    "x<mask>  y",
    "<mask> first",
    "  two  spaces ",
    "tab\tnew\nline \n",
    "don't we've I'LL",
    "é\u00a0ü 🙂 naïve",
    "12,345.67 %%%",
    "",
]


class Slow:
    """Byte pairs merged one at a time, the mask taking in the spaces before it.

    Agrees with the slow tokenizer of transformers 4.57 on TEXTS, which no later version has.
    """

    def __init__(self, folder: Path) -> None:
        self.ids = json.loads((folder / "vocab.json").read_text())
        lines = (folder / "merges.txt").read_text().splitlines()
        pairs = [tuple(line.split()) for line in lines if not line.startswith("#version")]
        self.ranks = {pair: rank for rank, pair in enumerate(pairs)}
        shown = [
            *range(ord("!"), ord("~") + 1),
            *range(ord("¡"), ord("¬") + 1),
            *range(ord("®"), ord("ÿ") + 1),
        ]
        hidden = [byte for byte in range(256) if byte not in shown]
        self.letters = {byte: chr(byte) for byte in shown}
        self.letters |= {byte: chr(256 + number) for number, byte in enumerate(hidden)}

    def __call__(self, text: str) -> list[int]:
        first, *rest = text.split("<mask>")
        parts = [first, *rest]
        pieces = ["<s>"]
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            for word in WORDS.findall(part if last else part.rstrip()):
                pieces += self.merged([self.letters[byte] for byte in word.encode()])
            pieces += [] if last else ["<mask>"]
        return [self.ids[piece] for piece in (*pieces, "</s>")]

    def merged(self, pieces: list[str]) -> list[str]:
        while True:
            pairs = list(pairwise(pieces))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, 1 << 30), default=None)
            if best is None or best not in self.ranks:
                return pieces
            place = pairs.index(best)
            pieces = [*pieces[:place], "".join(best), *pieces[place + 2 :]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a SimCSE-RoBERTa: no tokenizer.json, no settings of a tokenizer."""
    place = tmp_path_factory.mktemp("roberta")
    files, weights = roberta(place / "made", head=False)
    for name in ("config.json", "vocab.json", "merges.txt"):
        (place / name).write_bytes(files[name])
    (place / "model.safetensors").write_bytes(safetensors(weights))
    return place


@pytest.mark.parametrize("text", TEXTS)
def test_the_fast_tokenizer_gives_the_pieces_of_the_slow_one(folder: Path, text: str) -> None:
    assert load_tokenizer(folder)(text)["input_ids"] == Slow(folder)(text)


def test_an_encoder_of_such_a_folder_is_saved_with_a_tokenizer_that_gives_the_same_pieces(
    folder: Path, tmp_path: Path
) -> None:
    encoder = load_encoder(folder, pooling="mean")
    encoder.save(tmp_path / "saved")
    assert (tmp_path / "saved/tokenizer.json").is_file()
    again = load_encoder(tmp_path / "saved")
    expected = [Slow(folder)(text) for text in TEXTS]
    assert encoder.token_ids(TEXTS) == again.token_ids(TEXTS) == expected  # type: ignore[union-attr]


@pytest.mark.parametrize("missing", ["vocab.json", "merges.txt"])
def test_half_of_the_two_files_is_no_tokenizer(tmp_path: Path, missing: str) -> None:
    (write_byte_pairs(tmp_path) / missing).unlink()
    with pytest.raises(InputError, match=r"no tokenizer.json, expected .*vocab.json and merges.txt"):
        load_tokenizer(tmp_path)
