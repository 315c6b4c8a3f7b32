"""A model of the hub by its name is a folder, from the cache where it is there; a folder here goes first."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sentbench
from harness.cli import main
from harness.data.hub_models import model_folder
from harness.errors import InputError
from tests.support import tiny
from tests.support.hub_server import Hub

TEXTS = ["a dog", "two cats"]


@pytest.fixture
def saved(place: Path, server: Hub) -> Path:
    """A model with modules, on the hub as lab/model."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(place / "bert"))
    encoder.save(place / "saved")
    server.add("lab/model", files_of(place / "saved"))
    return place / "saved"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_name_of_the_hub_gives_the_vectors_of_its_folder(saved: Path, server: Hub) -> None:
    expected = sentbench.load(saved).encode(TEXTS)
    np.testing.assert_array_equal(sentbench.load("lab/model").encode(TEXTS), expected)
    np.testing.assert_array_equal(sentbench.load(f"lab/model@{'c' * 40}").encode(TEXTS), expected)


def test_the_second_time_nothing_is_downloaded_and_without_a_network_it_works(
    saved: Path, server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = files_of(model_folder("lab/model"))
    assert {"config.json", "modules.json", "1_Pooling/config.json"} <= first.keys()
    sent = server.sent.total()
    assert sent >= sum(map(len, first.values()))
    assert files_of(model_folder("lab/model")) == first
    assert server.sent.total() == sent
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert files_of(model_folder("lab/model")) == first


def test_a_folder_here_goes_first_and_a_name_of_another_form_is_a_folder(saved: Path, server: Hub) -> None:
    (Path("lab") / "model").mkdir(parents=True)
    for named in ("lab/model", "lab/none", "saved", "a/b/c", "/lab/model", "../lab/model"):
        assert model_folder(named) == Path(named)
    assert not server.requests


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_model_without_a_needed_file_is_refused_in_one_line(saved: Path, server: Hub, missing: str) -> None:
    files = files_of(saved)
    del files[missing]
    server.add("lab/part", files)
    with pytest.raises(InputError, match=rf"^lab/part: no such folder, and the hub .*{missing}[^\n]*$"):
        model_folder("lab/part")


@pytest.mark.parametrize("modules", ["{}x", "[3]", '[{"path": "../up"}]', '[{"path": "/etc"}]'])
def test_modules_outside_the_folder_or_no_modules_at_all_are_refused(
    saved: Path, server: Hub, modules: str
) -> None:
    server.add("lab/odd", {**files_of(saved), "modules.json": modules.encode()})
    with pytest.raises(InputError, match=r"modules.json: "):
        model_folder("lab/odd")


def test_evaluate_refuses_a_model_that_the_hub_does_not_have_in_one_line(
    server: Hub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "lab/none", "--tasks", "STSB"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("sentbench: lab/none: no such folder, and the hub does not give such a model")
    assert told.count("\n") == 1


def test_a_module_is_fetched_with_its_weights(saved: Path, server: Hub) -> None:
    dense = {"2_Dense/config.json": b"{}", "2_Dense/model.safetensors": b"weights"}
    modules = [*json.loads((saved / "modules.json").read_text()), {"path": "2_Dense"}]
    server.add("lab/dense", {**files_of(saved), **dense, "modules.json": json.dumps(modules).encode()})
    assert dense.items() <= files_of(model_folder("lab/dense")).items()
