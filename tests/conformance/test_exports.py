"""Content of a saved encoder's folder, file by file and weight by weight, without training-only parts.

Heads, projectors, poolers, key sides, peers, generators, discriminators and queues are training-only.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertModel

from methods.registry import METHODS
from tests.support.samples import SampleInputs, make, samples_of
from tests.support.tiny import Sample

pytestmark = pytest.mark.usefixtures("each_backbone_is_read_once")

TOP = {"modules.json", "sentbench.json", "1_Pooling/config.json"}
NETWORK = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
DENSE = {"2_Dense/config.json", "2_Dense/model.safetensors"}
FLOW = {"2_Flow/config.json", "2_Flow/model.safetensors"}

WITH_DENSE = {
    ("ckd", "released"): "Tanh",
    ("ckd", "random-queue"): "Identity",
    **{("congen", label): "Tanh" for label in ("released", "random-queue", "control-only")},
    ("distill", "mapped"): "Identity",
    ("pt-bert", "collapsed-output"): "Identity",
    **{("sct", label): "Tanh" for label in ("second-stage", "joint")},
    **{("whitening", label): "Identity" for label in ("whiten", "whiten-8", "centre")},
}
"""The samples whose exported encoder has a dense layer, with its activation."""

OWN_DROPOUT = {("consert", label): 0.0 for label in ("released", "paper", "cutoffs", "none-none")}
"""Samples whose exported configuration states a dropout of theirs."""

TRANSFORMERS = [
    sample for name in METHODS for sample in samples_of(name) if sample.backbone == "bert" and name != "glove"
]


def name_of(sample: Sample) -> str:
    return f"{sample.method}-{sample.label}"


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def plain(inputs_of: Callable[[Sample], SampleInputs]) -> dict[str, torch.Size]:
    """The weights of a transformer without a pooler or an output layer: name -> shape."""
    network: Any = BertModel.from_pretrained(
        inputs_of(TRANSFORMERS[0]).backbone, add_pooling_layer=False, trust_remote_code=False
    )
    return {name: value.shape for name, value in network.state_dict().items()}


@pytest.mark.parametrize("sample", TRANSFORMERS, ids=name_of)
def test_a_saved_encoder_is_only_the_trained_transformer_and_its_exported_layer(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], plain: dict[str, torch.Size], tmp_path: Path
) -> None:
    base = inputs_of(sample)
    method = make(sample, base)
    with torch.no_grad():  # training changed none of the copies of the initial backbone
        for number, parameter in enumerate(method.parameters()):
            parameter.add_(0.01 * (number + 1))
    encoder: Any
    for number, encoder in enumerate(method.candidates()):
        assert encoder.pooling == "mean", "the run's pooling, whatever training pools"
        assert not encoder.normalize
        folder = tmp_path / str(number)
        encoder.save(folder)
        kind = (sample.method, sample.label)
        if sample.method == "bert-flow":
            inside = {f"transformer/{name}" for name in NETWORK}
            assert files_of(folder) == TOP - {"modules.json"} | {"sentbench-modules.json"} | inside | FLOW
        else:
            assert files_of(folder) == TOP | NETWORK | (DENSE if kind in WITH_DENSE else set())
        network = folder / "transformer" if sample.method == "bert-flow" else folder
        weights = load_file(network / "model.safetensors")
        assert {name: value.shape for name, value in weights.items()} == plain
        trained: Any = (
            method.second if sample.method == "ct" and encoder is not method.encoder else method.encoder
        )
        for name, value in trained.backbone.state_dict().items():
            assert torch.equal(weights[name], value), f"{name} is not the trained weight"
        check_settings(network, base.backbone, dropout=OWN_DROPOUT.get(kind, 0.1))
        if kind in WITH_DENSE:
            check_dense(folder / "2_Dense", method, WITH_DENSE[kind])


def check_settings(network: Path, backbone: Path, *, dropout: float) -> None:
    """Tokenizer and configuration are the backbone's: no truncation, padding or rate of a training."""
    assert (network / "tokenizer.json").read_bytes() == (backbone / "tokenizer.json").read_bytes()
    stated = json.loads((network / "tokenizer_config.json").read_text())
    assert stated["model_max_length"] == 512, "that of evaluation; samples train on 32 or 50 pieces"
    config, expected = (json.loads((folder / "config.json").read_text()) for folder in (network, backbone))
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    assert config == {**expected, **rates}


def check_dense(folder: Path, method: Any, activation: str) -> None:
    weights = load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    layer = method.exported().output
    assert set(weights) == {"linear.weight", "linear.bias"}
    assert torch.equal(weights["linear.weight"], layer.weight)
    assert torch.equal(weights["linear.bias"], layer.bias)
    assert config["activation_function"].endswith(f".{activation}")
    assert (config["in_features"], config["out_features"]) == (layer.in_features, layer.out_features)
