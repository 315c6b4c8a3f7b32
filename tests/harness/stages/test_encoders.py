"""An encoder's folder is read with the pooling that is asked for, and refused if its parts do not fit."""

from pathlib import Path

import numpy as np
import pytest

from harness.compute.backbone import write_backbone
from harness.compute.encoders import read_encoder
from harness.errors import InputError
from methods.core.folders import load_encoder
from tests.support import tiny
from tests.support.samples import write_words


def test_an_encoder_pools_as_asked(tmp_path: Path) -> None:
    """The first token's vector and the mean of all differ."""
    folder, texts = tiny.write_backbone(tmp_path / "model"), ["the man reads", "a dog"]
    vectors = {pooling: read_encoder(folder, pooling=pooling).encode(texts) for pooling in ("cls", "mean")}
    for pooling, found in vectors.items():
        assert np.array_equal(found, load_encoder(folder, pooling=pooling).encode(texts))
    assert not np.allclose(vectors["cls"], vectors["mean"])


def test_a_token_without_a_vector_is_refused_where_it_occurs(tmp_path: Path) -> None:
    folder = tiny.write_backbone(tmp_path / "model", vocab_size=30)
    with pytest.raises(InputError, match=r"has id \d+ and the transformer 30 vectors"):
        read_encoder(folder, pooling="mean")


def test_a_backbone_is_made_of_word_vectors_in_the_shape_that_is_stated(tmp_path: Path) -> None:
    shape = {"vocabulary": 9, "layers": 1, "heads": 2, "inner": 8, "positions": 32, "dropout": 0.1, "seed": 0}
    write_backbone(write_words(tmp_path / "words"), None, tmp_path / "made", shape=shape)
    made = read_encoder(tmp_path / "made", pooling="mean")
    assert len(made.backbone.encoder.layer) == 1
    assert made.encode(["the man"]).shape == (1, 16)
