"""Folders that sentence-transformers computes: their settings are followed inside the folder, or named."""

import importlib.util
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from harness.models.foreign import OTHER_KINDS
from harness.models.read import read_any
from methods.core.errors import InputError
from tests.harness.models.test_read import TEXTS, assert_same, edit, library, theirs
from tests.support import tiny
from tests.support.families import write_family, write_modules

ALIASES = (
    "sentence_transformers.models.Transformer",
    "sentence_transformers.base.modules.Transformer",
    "sentence_transformers.cross_encoder.modules.Transformer",
    "sentence_transformers.sparse_encoder.modules.Transformer",
)
"""Names by which a folder may list the library's one transformer."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_modules(tiny.write_backbone(tmp_path / "model"), 16)


@pytest.fixture
def routed(folder: Path, tmp_path: Path) -> Path:
    """The same model as both routes of a Router, each in a folder below."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Router

    network = list(library(folder))
    made = SentenceTransformer(
        modules=[Router.for_query_document(network, network)], device="cpu", trust_remote_code=False
    )
    made.save_pretrained(str(tmp_path / "routed"), create_model_card=False)
    return tmp_path / "routed"


def first_route(routed: Path) -> Path:
    return next(
        path.parent for path in sorted(routed.glob("*/config.json")) if "Pooling" not in path.parts[-2]
    )


def test_every_pooling_of_the_library_has_its_vectors(folder: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling

    modes = Pooling.POOLING_MODES
    assert len(modes) > 4
    for mode in modes:
        config = {"embedding_dimension": 16, "pooling_mode": mode}
        (folder / "1_Pooling/config.json").write_text(json.dumps(config))
        assert_same(folder, fast=mode in ("cls", "mean"), texts=TEXTS)


def kinds_of_models() -> set[str]:
    """Returns the values of `model_type` that the library writes for models other than dense ones."""
    from sentence_transformers.base.model import BaseModel

    import_module("sentence_transformers")
    return {kind.__name__ for kind in BaseModel.__subclasses__()} - {"SentenceTransformer"}


def test_every_other_kind_of_model_of_the_library_has_a_reason() -> None:
    assert kinds_of_models() == {*OTHER_KINDS}


@pytest.mark.parametrize("kind", [*OTHER_KINDS, "Reranker"])
@pytest.mark.parametrize("pooling", [None, "cls"])
def test_a_folder_of_another_kind_of_model_is_refused_by_its_kind(
    folder: Path, kind: str, pooling: str | None
) -> None:
    edit(folder / "config_sentence_transformers.json", model_type=kind)
    said = rf"model: is a {kind}.*; expected a SentenceTransformer or a plain transformer folder$"
    with pytest.raises(InputError, match=said) as error:
        read_any(folder, pooling=pooling)
    assert OTHER_KINDS.get(kind, "") in str(error.value)


@pytest.mark.parametrize(
    "entry",
    [
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.1.0"}},
        {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
    ],
)
def test_a_cross_encoder_of_an_earlier_release_is_named_and_its_transformer_read_with_a_pooling(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    plain = tiny.write_backbone(tmp_path / "plain")
    expected = read_any(plain, pooling="mean").encoder.encode(TEXTS)
    edit(plain / "config.json", **entry)
    with pytest.raises(InputError, match="plain: is a CrossEncoder, which scores pairs of texts; expected"):
        read_any(plain)
    assert np.array_equal(read_any(plain, pooling="mean").encoder.encode(TEXTS), expected)
    write_modules(plain, 16)
    assert np.array_equal(read_any(plain).encoder.encode(TEXTS), expected)


@pytest.mark.parametrize("name", ALIASES)
def test_a_weight_that_a_route_lacks_is_named_by_any_name_of_the_transformer(routed: Path, name: str) -> None:
    path = routed / "router_config.json"
    config = json.loads(path.read_text())
    kinds = {key: name if kind.endswith(".Transformer") else kind for key, kind in config["types"].items()}
    assert kinds != config["types"] or name in kinds.values()
    edit(path, types=kinds)
    np.testing.assert_allclose(read_any(routed).encoder.encode(TEXTS), theirs(routed, TEXTS), atol=2e-5)
    weights = first_route(routed) / "model.safetensors"
    stored = load_file(weights)
    del stored["embeddings.LayerNorm.weight"]
    save_file(stored, weights, {"format": "pt"})
    with pytest.raises(
        InputError, match=r"1 weights are missing, the first is embeddings\.LayerNorm\.weight"
    ):
        read_any(routed)


def test_sentencepiece_alone_is_for_the_library_to_read(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "model", "xlm-roberta")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink(missing_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(b"no model")
    with pytest.raises(InputError, match="cannot be read as a model of sentence-transformers"):
        read_any(folder)


@pytest.mark.skipif(importlib.util.find_spec("peft") is not None, reason="peft is installed")
def test_an_adapter_names_the_package_that_it_needs(folder: Path) -> None:
    edit(folder / "adapter_config.json", peft_type="LORA", base_model_name_or_path=str(folder))
    with pytest.raises(InputError, match="pip install peft"):
        read_any(folder)
