"""Models of the hub by name: folders from the cache; an existing folder takes precedence."""

import json
from pathlib import Path

import numpy as np
import pytest

import sentbench
from harness.errors import InputError
from harness.models.hub import model_folder
from tests.support import tiny
from tests.support.hub_server import Hub
from tests.support.samples import folder_bytes

TEXTS = ["a dog", "two cats"]


@pytest.fixture
def saved(workspace: Path, server: Hub) -> Path:
    """A model with modules, on the hub as lab/model."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(workspace / "bert"))
    encoder.save(workspace / "saved")
    server.add("lab/model", folder_bytes(workspace / "saved"))
    return workspace / "saved"


def test_a_name_of_the_hub_gives_the_vectors_of_its_folder(saved: Path, server: Hub) -> None:
    expected = sentbench.load(saved).encode(TEXTS)
    for name in ("lab/model", f"lab/model@{'c' * 40}"):
        np.testing.assert_array_equal(sentbench.load(name).encode(TEXTS), expected)


def test_the_second_call_downloads_no_file_and_works_without_a_network(
    saved: Path, server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the weights of every module. A commit needs no request, a name one for its commit."""
    dense = {"2_Dense/config.json": b"{}", "2_Dense/model.safetensors": b"weights"}
    modules = [*json.loads((saved / "modules.json").read_text()), {"path": "2_Dense"}]
    server.add("lab/model", {**folder_bytes(saved), **dense, "modules.json": json.dumps(modules).encode()})
    first = folder_bytes(model_folder("lab/model"))
    assert {"config.json", "modules.json", "1_Pooling/config.json", *dense} <= first.keys()
    sent = server.sent.total()
    assert sent >= sum(map(len, first.values()))
    assert folder_bytes(model_folder("lab/model")) == first
    assert server.sent.total() == sent
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert folder_bytes(model_folder("lab/model")) == first


def test_a_folder_here_goes_first_and_a_name_of_another_form_is_a_folder(saved: Path, server: Hub) -> None:
    (Path("lab") / "model").mkdir(parents=True)
    for named in ("lab/model", "lab/none", "saved", "a/b/c", "/lab/model", "../lab/model"):
        assert model_folder(named) == Path(named)
    assert not server.requests


def test_every_file_that_the_libraries_read_is_fetched_and_no_other(saved: Path, server: Hub) -> None:
    """Names of settings are not listed: an adapter, a template and a tokenizer of a module are files too."""
    more = (
        *("adapter_config.json", "processor_config.json", "chat_template.jinja", "sentencepiece.bpe.model"),
        *("model-00001-of-00002.safetensors", "model.safetensors.index.json"),
        *("2_Dense/pytorch_model.bin", "query_0_Transformer/tokenizer.json", "sentence_roberta_config.json"),
    )
    left = (
        *("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack", "onnx/model.onnx", "onnx/config.json"),
        *("README.md", "modeling_own.py", "training_args.bin", "openvino/openvino_model.bin"),
    )
    kept = folder_bytes(saved)
    server.add("lab/model", kept | {name: name.encode() for name in (*more, *left)})
    assert folder_bytes(model_folder("lab/model")).keys() == kept.keys() - {"README.md"} | {*more}


def test_a_pickle_is_fetched_where_no_other_weights_are(saved: Path, server: Hub) -> None:
    files = folder_bytes(saved)
    files["pytorch_model.bin"] = files.pop("model.safetensors")
    server.add("lab/model", files)
    assert "pytorch_model.bin" in folder_bytes(model_folder("lab/model"))


def test_a_file_outside_its_folder_is_not_written(saved: Path, server: Hub) -> None:
    outside = saved.parent / "up.json"
    outer = {"../up.json": b"{}", str(outside): b"{}", "..\\..\\up.json": b"{}", "..": b"{}"}
    server.add("lab/model", {**folder_bytes(saved), **outer})
    assert not [name for name in folder_bytes(model_folder("lab/model")) if "up.json" in name]
    assert not outside.exists()


def test_a_repository_that_has_no_model_is_one_line(saved: Path, server: Hub) -> None:
    server.add("lab/odd", {"README.md": b"words", "2_Dense/config.json": b"{}"})
    with pytest.raises(
        InputError, match=r"^lab/odd: no such folder, and not on the hub: [^\n]*modules.json[^\n]*$"
    ):
        model_folder("lab/odd")
    assert not server.requests["GET 2_Dense/config.json"]
    with pytest.raises(InputError, match=r"no such repository[^\n]*$"):
        model_folder("lab/none")
    with pytest.raises(InputError, match=r"no such revision[^\n]*$"):
        model_folder("lab/model@later")


def test_modules_outside_the_folder_are_refused_as_of_any_folder(saved: Path, server: Hub) -> None:
    server.add("lab/odd", {**folder_bytes(saved), "modules.json": b'[{"path": "../up", "type": "a.b"}]'})
    with pytest.raises(InputError, match=r"modules\.json: "):
        sentbench.load("lab/odd")


@pytest.mark.parametrize("revision", ["..", "../../up", "a/../b", "", "refs/heads/x", "-x", "/etc"])
def test_an_invalid_revision_is_refused_before_it_becomes_a_path(
    saved: Path, server: Hub, revision: str
) -> None:
    server.add("lab/model", folder_bytes(saved), names=("main", revision))
    with pytest.raises(InputError, match=r"after @"):
        model_folder(f"lab/model@{revision}")
    assert not server.requests
