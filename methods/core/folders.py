"""Encoders read from folders: our artefacts, sentence-transformers folders and plain Hugging Face folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from methods.core.coupling_flow import CouplingFlow
from methods.core.encoder import EVALUATION_LENGTH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.pooling import check_pooling
from methods.core.saving import ACTIVATIONS, FLOW_TYPE, FORMAT, IDENTITY, MARKER, MODULES, OWN_MODULES
from methods.core.word_average import VECTORS as WORD_VECTORS
from methods.core.word_average import WordAverageEncoder, load_word_average

BYTE_PAIRS = "vocab.json and merges.txt"
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", BYTE_PAIRS)
"""Files that a tokenizer is made from; the first that a folder has counts."""

_HAS_POOLER = ("bert", "roberta", "xlm-roberta", "mpnet", "camembert")


def load_backbone(folder: Path, *, hf_pooler: bool = False, **config: Any) -> nn.Module:
    """Returns the transformer of a folder in fp32 and eval mode; safetensors or refuse.

    `hf_pooler` keeps the pre-trained pooler; `config` overrides entries such as `hidden_dropout_prob`.
    Errors: InputError if the folder has no model, or its weights lack tensors of the architecture.
    """
    from transformers import AutoConfig, AutoModel

    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder}: no config.json, expected a Hugging Face model folder; name another folder"
        )
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"{folder}: no .safetensors weights, expected model.safetensors; convert them, pickle is not read"
        )
    try:
        settings = AutoConfig.from_pretrained(folder, **config)
        extra = {"add_pooling_layer": hf_pooler} if settings.model_type in _HAS_POOLER else {}
        model, report = AutoModel.from_pretrained(
            folder,
            config=settings,
            dtype=torch.float32,
            use_safetensors=True,
            attn_implementation="sdpa",
            output_loading_info=True,
            **extra,
        )
    except (SafetensorError, json.JSONDecodeError, OSError, KeyError, RuntimeError) as error:
        line = str(error).strip().splitlines()[0]
        raise InputError(f"{folder}: the model cannot be read ({line}); fetch it again") from None
    missing = sorted(key for key in report["missing_keys"] if not key.endswith("position_ids"))
    if missing:
        raise InputError(
            f"{folder}: {len(missing)} weights are missing, the first is {missing[0]}; expected every weight "
            f"of {type(model).__name__}; fetch or export the model again"
        )
    return model


def load_tokenizer(folder: Path) -> Any:
    """Returns the fast tokenizer of a folder with no truncation or padding settings of its own.

    It is made from tokenizer.json, else from vocab.txt, else from vocab.json and merges.txt (RoBERTa).
    Errors: InputError if the folder has none of these.
    """
    from transformers import AddedToken, AutoTokenizer

    present = [
        names for names in TOKENIZER_FILES if all((folder / name).is_file() for name in names.split(" and "))
    ]
    if not present:
        raise InputError(
            f"{folder}: no tokenizer.json, expected the tokenizer beside the model "
            f"({', or '.join(TOKENIZER_FILES)}); add it"
        )
    # RoBERTa's mask takes in the space before it; the one that transformers 5 makes does not.
    mask = {"mask_token": AddedToken("<mask>", lstrip=True)} if present[0] == BYTE_PAIRS else {}
    tokenizer = AutoTokenizer.from_pretrained(folder, **mask)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.model_max_length = EVALUATION_LENGTH
    return tokenizer


def load_encoder(
    folder: Path, *, pooling: str | None = None, hf_pooler: bool = False, **config: Any
) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder of a folder: ours, a sentence-transformers one, or a plain HF one with `pooling`.

    `pooling` given for a folder that states its own replaces it and drops the folder's output layers.
    Errors: InputError if the folder is none of these, or a plain HF folder comes without `pooling`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected an encoder folder; check the path")
    marker = _read_json(folder / MARKER) if (folder / MARKER).is_file() else {}
    if marker.get("kind") == "word-average" or (folder / WORD_VECTORS).is_file():
        return load_word_average(folder)
    if marker and marker.get("format") != FORMAT:
        raise InputError(f"{folder}: encoder format {marker['format']!r}, expected {FORMAT}; export it again")
    weights = folder / marker.get("transformer", "")
    stated = marker.get("pooling") or _stated_pooling(folder)
    if pooling is None and stated is None:
        raise InputError(
            f"{folder}: the folder does not say how it pools, expected modules.json; give --pooling"
        )
    layers = _OutputLayers() if pooling else _output_layers(folder)
    return SentenceEncoder(
        load_backbone(weights, hf_pooler=hf_pooler, **config),
        load_tokenizer(weights),
        pooling=check_pooling(pooling or str(stated)),
        output=layers.output,
        activation=layers.activation,
        normalize=layers.normalize,
    )


def cut_layers(encoder: SentenceEncoder | WordAverageEncoder, layers: int) -> SentenceEncoder:
    """Returns the encoder with only its first `layers` transformer layers, in place.

    Errors: InputError if the backbone has fewer layers or is of an unknown architecture.
    """
    backbone = getattr(encoder, "backbone", None)
    stack = getattr(getattr(backbone, "encoder", None), "layer", None)
    if not isinstance(encoder, SentenceEncoder) or not isinstance(stack, nn.ModuleList):
        raise InputError(
            f"{type(backbone or encoder).__name__} has no layer stack to cut; use a BERT-like backbone"
        )
    if not 1 <= layers <= len(stack):
        raise InputError(f"cannot keep {layers} layers of {len(stack)}; expected 1 to {len(stack)}")
    encoder.backbone.encoder.layer = stack[:layers]  # type: ignore[union-attr]
    encoder.backbone.config.num_hidden_layers = layers  # type: ignore[union-attr]
    return encoder


def _stated_pooling(folder: Path) -> str | None:
    """Returns the pooling that a sentence-transformers folder states, None where there is no such folder."""
    if not (folder / MODULES).is_file():
        return None
    kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in _read_json(folder / MODULES)]
    unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Dense", "Normalize")]
    if unknown or kinds[:2] != ["Transformer", "Pooling"]:
        raise InputError(
            f"{folder}: modules {', '.join(kinds)}; expected Transformer, Pooling, optional Dense, Normalize"
        )
    path = folder / _read_json(folder / MODULES)[1]["path"] / "config.json"
    config = _read_json(path) if path.is_file() else {}
    modes = [
        key.removeprefix("pooling_mode_")
        for key, on in config.items()
        if key.startswith("pooling_mode_") and on is True
    ]
    mode = config.get("pooling_mode") or (modes[0] if len(modes) == 1 else None)
    names = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
    if mode not in names:
        raise InputError(f"{path}: pooling mode {mode!r}, expected cls or mean; give --pooling")
    return names[mode]


class _OutputLayers(NamedTuple):
    output: nn.Linear | CouplingFlow | None = None
    activation: str = IDENTITY
    normalize: bool = False


def _output_layers(folder: Path) -> _OutputLayers:
    """Returns the output layer of a folder, if any, what follows it, and whether the folder normalises."""
    names = [name for name in (MODULES, OWN_MODULES) if (folder / name).is_file()]
    layers = _OutputLayers()
    for module in _read_json(folder / names[0])[2:] if names else []:
        if module["type"].endswith("Dense"):
            output, activation = _load_dense(folder / module["path"])
            layers = layers._replace(output=output, activation=activation)
        elif module["type"] == FLOW_TYPE:
            layers = layers._replace(output=CouplingFlow.load(folder / module["path"]))
        layers = layers._replace(normalize=layers.normalize or module["type"].endswith("Normalize"))
    return layers


def _load_dense(directory: Path) -> tuple[nn.Linear, str]:
    config = _read_json(directory / "config.json")
    function = config["activation_function"]
    activation = next(
        (name for name, kind in ACTIVATIONS.items() if function.endswith(kind.split(".")[-1])), None
    )
    if activation is None:
        raise InputError(f"{directory}: activation {function}, expected Identity or Tanh; not supported")
    layer = nn.Linear(config["in_features"], config["out_features"], bias=config["bias"])
    tensors = load_file(directory / "model.safetensors")
    layer.load_state_dict({name.removeprefix("linear."): tensor for name, tensor in tensors.items()})
    return layer, activation


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a JSON file ({error}); export the encoder again") from None
