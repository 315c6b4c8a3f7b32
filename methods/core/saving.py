"""Writing of encoder folders: sentence-transformers folders plus `sentbench.json`.

Encoders with poolings or output layers that sentence-transformers cannot express without custom code have
their weights in a sub-folder `transformer/`, so no library silently loads them with the wrong pooling or
without the output layer.
"""

import shutil
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import nn

from methods.core.coupling_flow import CouplingFlow
from methods.core.files import make_readable, write_json
from methods.core.pooling import PORTABLE

MARKER, FORMAT = "sentbench.json", 1

MODULES, OWN_MODULES = "modules.json", "sentbench-modules.json"
"""File with the list of modules: as sentence-transformers reads it, and hidden from it."""

TRANSFORMER = "transformer"
FLOW, FLOW_TYPE = "2_Flow", "sentbench.CouplingFlow"
"""Folder and type of an invertible output layer, a module of this project."""

IDENTITY, TANH = "identity", "tanh"
"""Modules that may follow the output layer."""

ACTIVATIONS = {
    IDENTITY: "torch.nn.modules.linear.Identity",
    TANH: "torch.nn.modules.activation.Tanh",
}
"""Module after the output layer -> its class in sentence-transformers."""

WEIGHTS = ("model.safetensors", "vectors.safetensors", "output.safetensors")
PARTS = (TRANSFORMER, FLOW, "1_Pooling", "2_Dense", "2_Normalize", "3_Normalize")
"""Files with weights, and folders, that a saved encoder may have."""

LIBRARY = "sentence_transformers.models."
"""Beginning of the type of a module that sentence-transformers has."""


def save_encoder(encoder: Any, directory: Path) -> None:
    """Writes the folder of a SentenceEncoder; equal encoders give equal bytes. It replaces an encoder that
    was saved there."""
    remove_saved(directory)
    portable = encoder.pooling in PORTABLE and not isinstance(encoder.output, CouplingFlow)
    weights = directory if portable else directory / TRANSFORMER
    save_backbone(encoder, weights)
    modules = [_module(0, "", "Transformer"), _module(1, "1_Pooling", "Pooling")]
    write_json(directory / "1_Pooling" / "config.json", _pooling_config(encoder))
    if isinstance(encoder.output, CouplingFlow):
        modules.append({"idx": 2, "name": "2", "path": FLOW, "type": FLOW_TYPE})
        encoder.output.save(directory / FLOW)
    elif encoder.output is not None:
        modules.append(_module(2, "2_Dense", "Dense"))
        _save_dense(encoder.output, directory / "2_Dense", encoder.activation)
    if encoder.normalize:
        modules.append(_module(len(modules), f"{len(modules)}_Normalize", "Normalize"))
        (directory / modules[-1]["path"]).mkdir(exist_ok=True)
    marker = {"format": FORMAT, "kind": "transformer", "pooling": encoder.pooling}
    if portable:
        write_json(directory / MODULES, modules)
    else:
        marker["transformer"] = TRANSFORMER
        write_json(directory / OWN_MODULES, modules)
    write_json(directory / MARKER, marker)
    make_readable(directory)


def remove_saved(directory: Path) -> None:
    """Removes the encoder that an earlier `save` wrote into a folder, and no other file: a part that the next
    one does not write would be read with it."""
    if not (directory / MARKER).is_file():
        return
    (directory / MARKER).unlink()
    for name in (MODULES, OWN_MODULES, *WEIGHTS):
        (directory / name).unlink(missing_ok=True)
    for name in PARTS:
        shutil.rmtree(directory / name, ignore_errors=True)


def save_backbone(encoder: Any, directory: Path) -> None:
    """Writes transformer and tokenizer as a plain Hugging Face folder, which does not state a pooling."""
    directory.mkdir(parents=True, exist_ok=True)
    encoder.backbone.save_pretrained(directory)
    encoder.tokenizer.save_pretrained(directory)


def _module(index: int, path: str, kind: str) -> dict[str, Any]:
    return {"idx": index, "name": str(index), "path": path, "type": LIBRARY + kind}


def _pooling_config(encoder: Any) -> dict[str, Any]:
    return {
        "word_embedding_dimension": int(encoder.backbone.config.hidden_size),
        "pooling_mode_cls_token": encoder.pooling == "cls",
        "pooling_mode_mean_tokens": encoder.pooling == "mean",
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }


def _save_dense(layer: nn.Linear, directory: Path, activation: str) -> None:
    config = {
        "in_features": layer.in_features,
        "out_features": layer.out_features,
        "bias": layer.bias is not None,
        "activation_function": ACTIVATIONS[activation],
    }
    write_json(directory / "config.json", config)
    tensors = {
        f"linear.{name}": value.detach().cpu().contiguous() for name, value in layer.state_dict().items()
    }
    save_file(tensors, directory / "model.safetensors")
