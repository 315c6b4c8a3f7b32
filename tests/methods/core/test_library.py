"""Folders that sentence-transformers computes: their settings are followed inside the folder, or named."""

import importlib.util
import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from methods.core.errors import InputError
from methods.core.library import FILE_OPTIONS
from methods.core.reading import read_any
from tests.methods.core.test_reading import TEXTS, edit, library, theirs
from tests.support import tiny
from tests.support.families import write_family, write_modules

ALIASES = (
    "sentence_transformers.models.Transformer",
    "sentence_transformers.base.modules.Transformer",
    "sentence_transformers.cross_encoder.modules.Transformer",
    "sentence_transformers.sparse_encoder.modules.Transformer",
)
"""Names by which a folder may list the library's one transformer."""

OF_A_CALLER = {"local_files_only", "subfolder", "cache_dir"}
"""Options that sentence-transformers sets itself, whatever a model's settings say."""


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


@pytest.mark.parametrize("option", FILE_OPTIONS)
@pytest.mark.parametrize("place", ["../elsewhere", "absolute"])
def test_an_option_that_names_a_file_outside_the_folder_is_refused(
    folder: Path, tmp_path: Path, option: str, place: str
) -> None:
    named = str(tmp_path / "elsewhere") if place == "absolute" else place
    edit(folder / "sentence_bert_config.json", model_args={option: named})
    with pytest.raises(InputError, match=f"model_kwargs has {option} .*inside the model folder"):
        read_any(folder)


def test_such_an_option_is_refused_inside_a_router(routed: Path) -> None:
    edit(first_route(routed) / "sentence_bert_config.json", model_kwargs={"gguf_file": "../../other.gguf"})
    with pytest.raises(InputError, match=r"gguf_file '\.\./\.\./other\.gguf', expected a place inside"):
        read_any(routed)


def test_every_option_of_transformers_that_names_a_file_is_known() -> None:
    """A new release that takes another one fails here."""
    from transformers import AutoConfig, AutoTokenizer, PreTrainedModel

    calls: tuple[Any, ...] = (AutoConfig, AutoTokenizer, PreTrainedModel)
    source = "".join(inspect.getsource(kind.from_pretrained) for kind in calls)
    taken = {*re.findall(r"""kwargs\.(?:pop|get)\(\s*["'](\w+)["']""", source)}
    taken |= {*inspect.signature(PreTrainedModel.from_pretrained).parameters}
    assert len(taken) > 20
    named = {name for name in taken if re.search("file|folder|dir", name)}
    assert named - OF_A_CALLER == {*FILE_OPTIONS}


@pytest.mark.parametrize("length", [0, -1, 7.0, "7", True, [7]])
def test_a_length_that_is_no_whole_number_is_named(folder: Path, length: Any) -> None:
    edit(folder / "sentence_bert_config.json", max_seq_length=length)
    with pytest.raises(InputError, match=f"max_seq_length is {re.escape(repr(length))}, expected"):
        read_any(folder)


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
