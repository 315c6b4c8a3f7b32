"""Folders that sentence-transformers computes: their settings are followed inside the folder, or named."""

import importlib.util
import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from methods.core import known_settings
from methods.core.errors import InputError
from methods.core.library import FILE_OPTIONS, OTHER_KINDS
from methods.core.reading import read_any
from tests.methods.core.test_reading import TEXTS, assert_same, edit, library, theirs
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
@pytest.mark.parametrize("target", ["../elsewhere", "absolute"])
def test_an_option_that_names_a_file_outside_the_folder_is_refused(
    folder: Path, tmp_path: Path, option: str, target: str
) -> None:
    named = str(tmp_path / "elsewhere") if target == "absolute" else target
    edit(folder / "sentence_bert_config.json", model_args={option: named})
    with pytest.raises(InputError, match=f"model_kwargs has {option} .*inside the model folder"):
        read_any(folder)


def test_such_an_option_is_refused_inside_a_router(routed: Path) -> None:
    edit(first_route(routed) / "sentence_bert_config.json", model_kwargs={"gguf_file": "../../other.gguf"})
    with pytest.raises(InputError, match=r"gguf_file '\.\./\.\./other\.gguf', expected a path inside"):
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


def names_of_options() -> set[str]:
    """Returns the old and new names of the options that a transformer's settings pass on."""
    return {f"{kind}_{end}" for kind in ("model", "config") for end in ("args", "kwargs")} | {
        "tokenizer_args",
        "processor_kwargs",
    }


def test_the_library_passes_on_the_options_of_those_names() -> None:
    """A new release that has another name fails here."""
    from sentence_transformers.base.modules import Transformer

    source = inspect.getsource(Transformer._load_init_kwargs) + inspect.getsource(Transformer.load_config)
    assert {*re.findall(r'"(\w+_(?:args|kwargs))"', source)} == names_of_options()


@pytest.mark.parametrize("options", sorted(names_of_options()))
def test_a_subfolder_among_the_options_is_named(folder: Path, options: str) -> None:
    edit(folder / "sentence_bert_config.json", **{options: {"subfolder": "inner"}})
    with pytest.raises(InputError, match=r"model: \w+ has subfolder 'inner', .* path in modules\.json"):
        read_any(folder)
    edit(folder / "sentence_bert_config.json", **{options: {"subfolder": ""}})
    np.testing.assert_allclose(read_any(folder).encoder.encode(TEXTS), theirs(folder, TEXTS), atol=2e-5)


def test_every_pooling_of_the_library_has_its_vectors(folder: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling

    modes = Pooling.POOLING_MODES
    assert len(modes) > 4
    for mode in modes:
        config = {"embedding_dimension": 16, "pooling_mode": mode}
        (folder / "1_Pooling/config.json").write_text(json.dumps(config))
        assert_same(folder, fast=mode in ("cls", "mean"), texts=TEXTS)


def test_every_file_and_key_of_poolings_that_the_library_reads_is_known() -> None:
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import pooling

    files = re.findall(r'"(sentence_[\w-]+_config\.json)"', inspect.getsource(Transformer.load_config))
    assert tuple(files) == known_settings.TRANSFORMER_FILES
    keys = {*re.findall(r'"(pooling_mode_\w+)"', inspect.getsource(pooling))}
    assert len(keys) > 4
    assert keys <= {*known_settings.POOLING}


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


@pytest.mark.parametrize("length", [0, -1, 7.0, "7", True, [7]])
def test_a_length_that_is_not_an_integer_is_named(folder: Path, length: Any) -> None:
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
