"""An encoder's folder is read with the pooling that is asked for, and refused if its parts do not fit."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from harness.errors import InputError
from harness.models.read import read_encoder
from harness.plan.entries import WordShape
from harness.stages import backbone
from harness.stages.inputs import StageInputs
from methods.core.folders import load_encoder
from methods.core.words import SPECIAL
from tests.support import tiny
from tests.support.samples import write_words


def test_an_encoder_pools_as_asked(tmp_path: Path) -> None:
    """The first token's vector and the mean of all differ."""
    folder, texts = tiny.write_backbone(tmp_path / "model"), ["the man reads", "a dog"]
    vectors = {pooling: read_encoder(folder, pooling=pooling).encode(texts) for pooling in ("cls", "mean")}
    for pooling, actual in vectors.items():
        assert np.array_equal(actual, load_encoder(folder, pooling=pooling).encode(texts))
    assert not np.allclose(vectors["cls"], vectors["mean"])


def test_a_token_without_a_vector_is_refused_where_it_occurs(tmp_path: Path) -> None:
    folder = tiny.write_backbone(tmp_path / "model", vocab_size=30)
    with pytest.raises(InputError, match=r"has id \d+ and the transformer 30 vectors"):
        read_encoder(folder, pooling="mean")


def made_of_words(folder: Path, *, centre: Path | None = None, **changes: int) -> Path:
    shape = {
        "vocabulary": 9,
        "copies": 1,
        "layers": 1,
        "heads": 2,
        "inner": 8,
        "positions": 32,
        "dropout": 0.1,
    }
    shape |= {"start": "mean", "pooling": "cls", "seed": 0} | changes
    entry = SimpleNamespace(layers=None, shape=WordShape.model_validate(shape))
    folders = {"origin": write_words(folder / "words")} | ({"centre": centre} if centre else {})
    (folder / "made").mkdir()
    backbone.run(StageInputs(entry, folders, folder / "made"))
    return folder / "made"


def test_a_backbone_is_made_of_word_vectors_in_the_shape_that_is_stated(tmp_path: Path) -> None:
    made = read_encoder(made_of_words(tmp_path, vocabulary=9, copies=2, heads=2), pooling=None)
    assert len(made.backbone.encoder.layer) == 1
    assert made.encode(["the man"]).shape == (1, 32)
    assert made.pooling == "cls"


def test_a_backbone_with_centred_words_lacks_the_shared_direction_of_the_texts(tmp_path: Path) -> None:
    """The corpus says one word alone, so its vector is taken off every word and its own becomes zero."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(f"{tiny.WORDS[0]}\n{tiny.WORDS[0]} {tiny.WORDS[0]}\n")
    plain, centred = (
        load_encoder(made_of_words(tmp_path / name, centre=centre)).backbone.embeddings.word_embeddings.weight
        for name, centre in (("plain", None), ("centred", corpus))
    )
    first = len(SPECIAL)
    assert not centred[first].any()
    torch.testing.assert_close(centred[first + 1 :], plain[first + 1 :] - plain[first])
