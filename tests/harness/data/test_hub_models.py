"""A model of the hub by its name is a folder, from the cache where it is there; a folder here goes first."""

import json
from pathlib import Path

import numpy as np
import pytest

import sentbench
from harness.data.hub_models import model_folder
from harness.errors import InputError
from tests.support import tiny
from tests.support.hub_server import Hub
from tests.support.samples import folder_bytes

TEXTS = ["a dog", "two cats"]


@pytest.fixture
def saved(place: Path, server: Hub) -> Path:
    """A model with modules, on the hub as lab/model."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(place / "bert"))
    encoder.save(place / "saved")
    server.add("lab/model", folder_bytes(place / "saved"))
    return place / "saved"


def test_a_name_of_the_hub_gives_the_vectors_of_its_folder(saved: Path, server: Hub) -> None:
    expected = sentbench.load(saved).encode(TEXTS)
    for name in ("lab/model", f"lab/model@{'c' * 40}"):
        np.testing.assert_array_equal(sentbench.load(name).encode(TEXTS), expected)


def test_the_second_time_nothing_is_downloaded_and_without_a_network_it_works(
    saved: Path, server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the weights of every module."""
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


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("config.json", None, r"^lab/odd: no such folder, and the hub .*config.json[^\n]*$"),
        ("model.safetensors", None, r"^lab/odd: no such folder, and the hub .*model.safetensors[^\n]*$"),
        ("modules.json", b"{}x", "modules.json: "),
        ("modules.json", b"[3]", "modules.json: "),
        ("modules.json", b'[{"path": "../up"}]', "modules.json: "),
        ("modules.json", b'[{"path": "/etc"}]', "modules.json: "),
    ],
)
def test_a_model_without_a_needed_file_or_with_modules_outside_its_folder_is_refused(
    saved: Path, server: Hub, file: str, content: bytes | None, told: str
) -> None:
    files = {**folder_bytes(saved), file: content}
    server.add("lab/odd", {name: given for name, given in files.items() if given is not None})
    with pytest.raises(InputError, match=told):
        model_folder("lab/odd")
