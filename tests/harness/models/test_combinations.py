"""Every combination of family, pooling, output layer, Normalize and length has the library's vectors."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from harness.models.fast import computed_here
from harness.models.foreign import LibraryEncoder, checked_transformer
from harness.models.read import read_any
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.folders import cut_as_stated, load_encoder
from methods.core.pooling import LAYERS as LAYERS_OF
from methods.core.saving import IDENTITY, TANH
from tests.harness.models.test_read import COMPUTED_HERE, LONG, TEXTS, library
from tests.support import tiny
from tests.support.families import write_family, write_modules

LAYERS: dict[str, Any] = {"no layer": None, IDENTITY: nn.Identity, TANH: nn.Tanh}
POSITIONS = {"bert": 80, "roberta": 78, "xlm-roberta": 78}
"""The longest input of the tiny models in tokens: RoBERTa's positions begin after the padding's."""
LENGTHS = ("stated", "of positions")
COMBINATIONS = [*product(("cls", "mean"), LAYERS, (False, True), LENGTHS)]


def dense_of(width: int, function: Any) -> Any:
    from sentence_transformers.sentence_transformer.modules import Dense

    torch.manual_seed(5)
    return Dense(width, 12, bias=True, activation_function=function())


def model_of(network: Any, pooling: str, layer: str, normalize: bool) -> Any:
    """Returns the library's model of a transformer and these modules."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    kind = LAYERS[layer]
    modules = [network, Pooling(16, pooling), *([dense_of(16, kind)] if kind else [])]
    modules += [Normalize()] if normalize else []
    return SentenceTransformer(modules=modules, device="cpu", trust_remote_code=False).eval()


@pytest.mark.parametrize("family", sorted(COMPUTED_HERE))
def test_every_combination_of_a_family_has_the_librarys_vectors(tmp_path: Path, family: str) -> None:
    folder, seen = write_family(tmp_path / family, family), set()
    network = checked_transformer()(str(folder))
    for pooling, layer, normalize, length in COMBINATIONS:
        network.max_seq_length = limit = 9 if length == "stated" else POSITIONS[family]
        model = model_of(network, pooling, layer, normalize)
        expected = model.encode([*TEXTS, LONG])
        encoder = computed_here(model, folder)
        where = f"{pooling} {layer} {normalize} {length}"
        np.testing.assert_allclose(encoder.encode([*TEXTS, LONG]), expected, atol=2e-5, err_msg=where)
        longest = len(encoder.token_ids([LONG])[0])
        assert longest == limit, where
        seen.add(expected.round(4).tobytes())
    assert len(seen) == len(COMBINATIONS), "each combination has its own vectors"


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_folder_of_this_project_has_one_vector_whoever_reads_it(
    tmp_path: Path, pooling: str, layer: str
) -> None:
    """This project as a folder of its own, the library, and this project as a folder of the library."""
    plain = tiny.write_backbone(tmp_path / "plain")
    for normalize in (False, True):
        made: Any = load_encoder(plain, pooling=pooling)
        if LAYERS[layer]:
            made.output, made.activation = dense_of(16, LAYERS[layer]).linear, layer
        made.normalize = normalize
        expected = cut_as_stated(made).eval().encode([*TEXTS, LONG])
        folder = tmp_path / f"made{normalize}"
        folder.mkdir()
        made.save(folder)
        own = read_any(folder).encoder
        assert isinstance(own, SentenceEncoder)
        np.testing.assert_array_equal(own.encode([*TEXTS, LONG]), expected)
        np.testing.assert_allclose(library(folder).encode([*TEXTS, LONG]), expected, atol=2e-5)
        (folder / "sentbench.json").unlink()
        (folder / "run.json").unlink(missing_ok=True)
        np.testing.assert_allclose(read_any(folder).encoder.encode([*TEXTS, LONG]), expected, atol=2e-5)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("pooling", [*LAYERS_OF, "pooler"])
def test_a_pooling_of_this_project_over_a_folder_of_the_library_keeps_normalize(
    tmp_path: Path, pooling: str, normalize: bool
) -> None:
    """The vectors of the plain transformer, of length one behind Normalize."""
    plain = tiny.write_backbone(tmp_path / "plain")
    expected = read_any(plain, pooling=pooling).encoder.encode(TEXTS)
    if normalize:
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    parts = ("mean", "Normalize") if normalize else ("mean",)
    folder = write_modules(tiny.write_backbone(tmp_path / "made"), 16, *parts)
    (folder / "2_Normalize").mkdir(exist_ok=True)
    np.testing.assert_allclose(read_any(folder, pooling=pooling).encoder.encode(TEXTS), expected, atol=2e-6)


@pytest.mark.parametrize("family", ["distilbert", "mpnet"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_plain_folder_of_another_family_is_pooled_by_the_library(
    tmp_path: Path, family: str, pooling: str
) -> None:
    folder = write_family(tmp_path / family, family)
    expected = model_of(checked_transformer()(str(folder)), pooling, "no layer", False).encode(TEXTS)
    for name in ("modules.json", "config_sentence_transformers.json"):
        (folder / name).unlink(missing_ok=True)
    np.testing.assert_allclose(read_any(folder, pooling=pooling).encoder.encode(TEXTS), expected, atol=2e-5)


def test_a_plain_folder_without_a_pooling_is_refused_and_never_averaged(tmp_path: Path) -> None:
    plain = tiny.write_backbone(tmp_path / "plain")
    with pytest.raises(InputError, match=r"no modules\.json that states the pooling; give --pooling"):
        read_any(plain)


@pytest.mark.parametrize(("cut", "width"), [(None, 16), (5, 5), (16, 16), (40, 16), (-3, 13)])
def test_a_width_is_that_of_the_vectors_whatever_the_folder_cuts(cut: int | None, width: int) -> None:
    class Model:
        truncate_dim = cut

        def get_embedding_dimension(self) -> int:
            return 16

        def encode(self, texts: list[str], **options: Any) -> np.ndarray:
            return np.ones((len(texts), 16))[:, :cut]

    encoder = LibraryEncoder(Model(), Path("folder"))
    assert encoder.dim == width == encoder.encode(["a", "b"]).shape[1]
