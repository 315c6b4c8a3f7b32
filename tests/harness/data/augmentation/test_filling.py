"""Masked word pieces filled in by a tiny random BERT."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from harness.data.augmentation.models import Filler
from harness.data.augmentation.views import Fill
from harness.errors import InputError
from tests.harness.data.augmentation.tiny_models import write_marian
from tests.support import tiny

SETTINGS = {"kind": "fill", "column": 0, "share": 0.3, "choice": "best", "max_input": 32, "batch_tokens": 64}
TEXTS = [row.text for row in tiny.rows(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("masked") / "bert", masked_model=True)


def filler(folder: Path, *, number: int = 1, **changes: Any) -> Filler:
    return Filler(folder, Fill.model_validate({**SETTINGS, **changes}), seed=0, number=number, device="cpu")


def changed(before: str, after: str) -> list[int]:
    return [index for index, (a, b) in enumerate(zip(before.split(), after.split(), strict=True)) if a != b]


def test_the_share_of_words_is_masked_and_at_least_one(folder: Path) -> None:
    """Every word of these texts is one piece: of n words max(1, round(0.3 n)) are masked."""
    made = filler(folder)
    for row, (text, augmented) in enumerate(zip(TEXTS, made(range(12), TEXTS), strict=True)):
        pieces = made.tokenizer(text)["input_ids"]
        drawn = made._draw(pieces, np.random.default_rng(row))
        assert len(drawn) == max(1, round(0.3 * len(text.split())))
        assert not {0, len(pieces) - 1} & set(drawn)
        assert 0 < len(changed(text, augmented.text)) <= len(drawn)


def test_the_likeliest_allowed_piece_fills_the_mask(folder: Path) -> None:
    """The slow form of one text: mask by hand, no padding, argmax over pieces that begin words."""
    made = filler(folder, share=0.01)
    text = "the man sleeps near the river"
    (augmented,) = made([5], [text])
    (index,) = changed(text, augmented.text)
    ids = torch.tensor([made.tokenizer(text)["input_ids"]])
    ids[0, index + 1] = made.tokenizer.mask_token_id
    with torch.no_grad():
        logits = made.model(input_ids=ids).logits[0, index + 1]
    names = made.tokenizer.convert_ids_to_tokens(range(len(logits)))
    allowed = [i for i, name in enumerate(names) if not name.startswith(("##", "["))]
    assert augmented.text.split()[index] == names[max(allowed, key=lambda i: float(logits[i]))]


def test_a_piece_is_filled_by_one_of_its_kind_and_never_by_a_special_one(folder: Path) -> None:
    """Of a vocabulary with equal logits the allowed are: for `the` every whole word, for `##b` every rest."""
    made = filler(folder)
    names = made.tokenizer.convert_ids_to_tokens(range(len(made.tokenizer)))
    original = torch.tensor(made.tokenizer.convert_tokens_to_ids(["the", "##b"]))
    allowed = made._allowed(torch.zeros(2, len(names)), original).isfinite()
    words = [not name.startswith(("##", "[")) for name in names]
    rests = [name.startswith("##") for name in names]
    assert allowed.tolist() == [words, rests]
    assert (sum(words), sum(rests)) == (67, 26)


def test_word_borders_stay_where_they_were(folder: Path) -> None:
    """`zebra` is five pieces: whatever is filled in, the text keeps its three words and their punctuation."""
    for augmented in filler(folder, share=0.9, choice="sample")(range(10), ["a zebra, runs"] * 10):
        assert len(augmented.text.split()) == 3
        assert "[" not in augmented.text


def test_a_text_is_filled_alike_in_any_company_and_views_are_independent(folder: Path) -> None:
    for choice in ("best", "sample"):
        together = filler(folder, choice=choice)(range(12), TEXTS)
        alone = [filler(folder, choice=choice)([row], [text])[0] for row, text in enumerate(TEXTS[:4])]
        assert together[:4] == alone
        assert filler(folder, choice=choice, number=2)(range(12), TEXTS) != together


def test_a_text_without_pieces_and_the_rest_of_a_long_one_stay(folder: Path) -> None:
    made = filler(folder, max_input=4)
    (empty, long) = made([0, 1], [" ", "the man sleeps near the river"])
    assert empty.outcome in ("empty", "unchanged")
    assert long.text.split()[2:] == ["sleeps", "near", "the", "river"]


def test_a_model_without_word_pieces_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a model that AutoModelForMaskedLM reads"):
        filler(write_marian(tmp_path / "marian"))
