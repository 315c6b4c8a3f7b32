"""Folders of the modules are numbered by their places, and every file is readable."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core import files
from methods.core.coupling_flow import CouplingFlow, FlowSettings
from methods.core.folders import load_encoder
from methods.core.saving import save_encoder
from methods.core.words import WordAverageEncoder
from tests.support import tiny


@pytest.mark.parametrize(("dense", "folder"), [(False, "2_Normalize"), (True, "3_Normalize")])
def test_the_normalisation_is_the_third_module_or_the_fourth_after_a_dense_layer(
    dense: bool, folder: str, tmp_path: Path
) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    encoder.normalize = True
    if dense:
        encoder.output = torch.nn.Linear(16, 4)
    save_encoder(encoder, tmp_path / "saved")
    last = json.loads((tmp_path / "saved/modules.json").read_text())[-1]
    assert (last["idx"], last["name"], last["path"]) == (2 + dense, str(2 + dense), folder)
    assert [path.name for path in (tmp_path / "saved").glob("*_Normalize")] == [folder]


@pytest.mark.parametrize("pooling", ["mean", "last-two-avg"])
def test_every_file_of_a_saved_encoder_has_the_permissions_of_new_files(
    tmp_path: Path, pooling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries write private weights, which a colleague or another user's job could not read."""
    monkeypatch.setattr(files, "UMASK", 0o022)
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"), pooling=pooling)
    encoder.output = torch.nn.Linear(16, 3)
    encoder.save(tmp_path / "saved")
    saved = [path for path in (tmp_path / "saved").rglob("*") if path.is_file()]
    assert {path.suffix for path in saved} == {".json", ".safetensors"}
    assert {path.stat().st_mode & 0o777 for path in saved} == {0o644}


FIRST = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]
DENSE = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
FLOW = {"idx": 2, "name": "2", "path": "2_Flow", "type": "sentbench.CouplingFlow"}


@pytest.mark.parametrize("pooling", ["cls", "mean", "first-last-avg", "static-last-avg", "last-two-avg"])
@pytest.mark.parametrize("output", [None, "identity", "tanh", "flow"])
def test_a_folder_states_its_modules_and_hides_those_that_the_library_lacks(
    pooling: str, output: str | None, tmp_path: Path
) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"), pooling=pooling)
    if output == "flow":
        sizes = {"width": 16, "levels": 1, "depth": 1, "hidden": 4, "permutation": "reversal"}
        encoder.output = CouplingFlow(FlowSettings.model_validate(sizes))
    elif output:
        encoder.output, encoder.activation = torch.nn.Linear(16, 3, bias=False), output
    folder = tmp_path / "saved"
    encoder.save(folder)
    portable = pooling in ("cls", "mean") and output != "flow"
    marker = {"format": 1, "kind": "transformer", "pooling": pooling}
    assert json.loads((folder / "sentbench.json").read_text()) == (
        marker if portable else {**marker, "transformer": "transformer"}
    )
    listed, other = ("modules.json", "sentbench-modules.json")[:: 1 if portable else -1]
    further = [] if output is None else [FLOW if output == "flow" else DENSE]
    assert json.loads((folder / listed).read_text()) == [*FIRST, *further]
    assert not (folder / other).exists()
    assert (folder / ("" if portable else "transformer") / "model.safetensors").is_file()
    assert json.loads((folder / "1_Pooling/config.json").read_text()) == {
        "word_embedding_dimension": 16,
        "pooling_mode_cls_token": pooling == "cls",
        "pooling_mode_mean_tokens": pooling == "mean",
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    if output in ("identity", "tanh"):
        function = {"identity": "linear.Identity", "tanh": "activation.Tanh"}[output]
        assert json.loads((folder / "2_Dense/config.json").read_text()) == {
            "in_features": 16,
            "out_features": 3,
            "bias": False,
            "activation_function": f"torch.nn.modules.{function}",
        }


def encoder_of(kind: str, backbone: Path) -> Any:
    """Returns an encoder of one of the forms that a folder can have."""
    if kind.startswith("words"):
        layer = torch.nn.Linear(3, 2) if kind == "words-output" else None
        return WordAverageEncoder(torch.eye(3), ["a", "b", "c"], output=layer)
    pooling, _, layer = kind.partition("/")
    encoder = tiny.sentence_encoder(backbone, pooling=pooling)
    if layer == "flow":
        sizes = {"width": 16, "levels": 1, "depth": 1, "hidden": 4, "permutation": "reversal"}
        encoder.output = CouplingFlow(FlowSettings.model_validate(sizes))
    elif layer in ("dense", "dense-norm"):
        encoder.output = torch.nn.Linear(16, 3)
    encoder.normalize = layer.endswith("norm")
    return encoder


FORMS = ("words", "words-output", "cls/", "mean/norm", "mean/dense-norm", "mean/flow", "last-two-avg/dense")


@pytest.mark.parametrize(("former", "present"), permutations(FORMS, 2))
def test_an_encoder_that_is_saved_over_another_equals_one_in_a_new_folder(
    former: str, present: str, tmp_path: Path
) -> None:
    """Nothing of the former is read with it, by this project or by a library; other files stay."""
    backbone = tiny.write_backbone(tmp_path / "bert")
    encoder_of(former, backbone).save(tmp_path / "saved")
    (tmp_path / "saved/notes.txt").write_text("mine")
    encoder = encoder_of(present, backbone)
    for folder in ("saved", "new"):
        encoder.save(tmp_path / folder)
    weights = {
        folder: {path.relative_to(tmp_path / folder) for path in (tmp_path / folder).rglob("*.safetensors")}
        for folder in ("saved", "new")
    }
    assert weights["saved"] == weights["new"]
    for name in ("modules.json", "sentbench-modules.json"):
        assert (tmp_path / "saved" / name).exists() is (tmp_path / "new" / name).exists()
    for path in (path for path in (tmp_path / "new").rglob("*") if path.is_file()):
        assert (tmp_path / "saved" / path.relative_to(tmp_path / "new")).read_bytes() == path.read_bytes()
    texts = ["a b", "c", "d e f"]
    assert (load_encoder(tmp_path / "saved").encode(texts) == encoder.encode(texts)).all()
    assert (tmp_path / "saved/notes.txt").read_text() == "mine"


def test_files_of_a_folder_without_a_saved_encoder_stay(tmp_path: Path) -> None:
    (tmp_path / "saved/3_Normalize").mkdir(parents=True)
    (tmp_path / "saved/output.safetensors").write_bytes(b"mine")
    tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert")).save(tmp_path / "saved")
    assert (tmp_path / "saved/output.safetensors").read_bytes() == b"mine"
    assert (tmp_path / "saved/3_Normalize").is_dir()
