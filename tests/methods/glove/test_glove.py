"""Word averages by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch

from methods.core.errors import InputError
from methods.core.folders import load_encoder
from methods.core.words import WordAverageEncoder
from tests.methods.glove.sample import SAMPLES
from tests.support import tiny

VECTORS = torch.tensor([[1.0, 0.0], [0.0, 2.0], [4.0, 4.0]])
ENCODER = WordAverageEncoder(VECTORS, ["cat", "dog", "."])


def test_a_text_is_the_mean_of_its_known_words() -> None:
    """cat (1, 0), dog (0, 2), the mark (4, 4): mean (5/3, 2); case does not matter."""
    np.testing.assert_allclose(ENCODER.encode(["Cat dog."]), [[5 / 3, 2.0]], rtol=1e-6)


def test_unknown_words_are_left_out() -> None:
    """A text without a known word is the zero vector."""
    assert ENCODER.encode(["cat bird dog", "bird", ""]).tolist() == [[0.5, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_folder_whose_vocabulary_is_short_is_refused(tmp_path: Path) -> None:
    ENCODER.save(tmp_path)
    (tmp_path / "vocab.txt").write_text("cat\ndog\n")
    with pytest.raises(InputError, match="2 words but 3 vectors"):
        load_encoder(tmp_path)


def test_a_transformer_as_backbone_is_refused(backbone: Path) -> None:
    with pytest.raises(InputError, match="is a transformer; use a glove"):
        tiny.build(SAMPLES[0], backbone, parent=None)
