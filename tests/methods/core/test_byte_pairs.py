"""A folder with vocab.json and merges.txt alone gives RoBERTa's pieces."""

import json
from pathlib import Path

import pytest

from methods.core.checkpoints import load_tokenizer
from methods.core.errors import InputError
from methods.core.folders import load_encoder
from tests.support.checkpoints import roberta, safetensors, write_byte_pairs

PIECES = {
    "the man runs": "th e Ġman Ġruns",
    "A man is <mask> here.": "A Ġman Ġis <mask> Ġh e re .",
    " <mask>x": "<mask> x",
    "x<mask>  y": "x <mask> Ġ Ġ y",
    "  two  spaces ": "Ġ Ġtwo Ġ Ġs p a c e s Ġ",
    "tab\tnew\nline \n": "t a b ĉ n e w Ċ l i n e Ġ Ċ",
    "don't we've I'LL": "do n ' t Ġw e ' v e Ġ I ' L L",
    "é\u00a0ü 🙂 naïve": "Ã © Â ł Ã ¼ Ġ ð Ł Ļ Ĥ Ġn a Ã ¯ v e",
    "12,345.67 %%%": "1 2 , 3 4 5 . 6 7 Ġ % % %",
    "": "",
}
"""Text -> tokens of the slow tokenizer of transformers 4.57; the mask includes the space before it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a SimCSE-RoBERTa: no tokenizer.json, no settings of a tokenizer."""
    parent = tmp_path_factory.mktemp("roberta")
    files, weights = roberta(parent / "made", head=False)
    for name in ("config.json", "vocab.json", "merges.txt"):
        (parent / name).write_bytes(files[name])
    (parent / "model.safetensors").write_bytes(safetensors(weights))
    return parent


def test_tokens_equal_the_slow_tokenizers_also_after_an_encoder_is_saved(
    folder: Path, tmp_path: Path
) -> None:
    known = json.loads((folder / "vocab.json").read_text())
    expected = [[known[piece] for piece in f"<s> {pieces} </s>".split()] for pieces in PIECES.values()]
    assert load_tokenizer(folder)(list(PIECES))["input_ids"] == expected
    encoder = load_encoder(folder, pooling="mean")
    encoder.save(tmp_path / "saved")
    assert (tmp_path / "saved/tokenizer.json").is_file()
    again = load_encoder(tmp_path / "saved")
    assert encoder.token_ids(list(PIECES)) == again.token_ids(list(PIECES)) == expected  # type: ignore[union-attr]


@pytest.mark.parametrize("missing", ["vocab.json", "merges.txt"])
def test_one_of_the_two_files_is_not_a_tokenizer(tmp_path: Path, missing: str) -> None:
    (write_byte_pairs(tmp_path) / missing).unlink()
    with pytest.raises(InputError, match=r"no tokenizer.json, expected .*vocab.json and merges.txt"):
        load_tokenizer(tmp_path)
