"""Encoder folders: our artefacts, sentence-transformers folders and plain Hugging Face folders.

A folder of ours is a sentence-transformers folder plus `sentbench.json`. Poolings that
sentence-transformers cannot express without code keep their weights in a sub-folder `transformer/`, so that
no library can load them under the wrong pooling without an error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from methods.core.encoder import EVALUATION_LENGTH, IDENTITY, TANH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.pooling import PORTABLE, check_pooling
from methods.core.word_average import VECTORS as WORD_VECTORS
from methods.core.word_average import WordAverageEncoder, load_word_average

MARKER = "sentbench.json"
FORMAT = 1
_ST = "sentence_transformers.models."
_ACTIVATIONS = {
    IDENTITY: "torch.nn.modules.linear.Identity",
    TANH: "torch.nn.modules.activation.Tanh",
}
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
    """Returns the fast tokenizer of a folder with no truncation or padding settings of its own."""
    from transformers import AutoTokenizer

    if not (folder / "tokenizer.json").is_file() and not (folder / "vocab.txt").is_file():
        raise InputError(f"{folder}: no tokenizer.json, expected the tokenizer beside the model; add it")
    tokenizer = AutoTokenizer.from_pretrained(folder)
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


def save_encoder(encoder: SentenceEncoder, directory: Path) -> None:
    """Writes an encoder folder; equal encoders give equal bytes."""
    portable = encoder.pooling in PORTABLE
    weights = directory if portable else directory / "transformer"
    save_backbone(encoder, weights)
    modules = [_module(0, "", "Transformer"), _module(1, "1_Pooling", "Pooling")]
    _write_json(directory / "1_Pooling" / "config.json", _pooling_config(encoder))
    if encoder.output is not None:
        modules.append(_module(2, "2_Dense", "Dense"))
        _save_dense(encoder.output, directory / "2_Dense", encoder.activation)
    if encoder.normalize:
        modules.append(_module(len(modules), f"{len(modules)}_Normalize", "Normalize"))
        (directory / modules[-1]["path"]).mkdir(exist_ok=True)
    marker = {"format": FORMAT, "kind": "transformer", "pooling": encoder.pooling}
    if portable:
        _write_json(directory / "modules.json", modules)
    else:
        marker["transformer"] = "transformer"
        _write_json(directory / "sentbench-modules.json", modules)
    _write_json(directory / MARKER, marker)


def save_backbone(encoder: SentenceEncoder, directory: Path) -> None:
    """Writes transformer and tokenizer as a plain Hugging Face folder, which says nothing about pooling."""
    directory.mkdir(parents=True, exist_ok=True)
    encoder.backbone.save_pretrained(directory)  # type: ignore[operator]
    encoder.tokenizer.save_pretrained(directory)


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


def _module(index: int, path: str, kind: str) -> dict[str, Any]:
    return {"idx": index, "name": str(index), "path": path, "type": _ST + kind}


def _pooling_config(encoder: SentenceEncoder) -> dict[str, Any]:
    return {
        "word_embedding_dimension": encoder.width,
        "pooling_mode_cls_token": encoder.pooling == "cls",
        "pooling_mode_mean_tokens": encoder.pooling == "mean",
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }


def _stated_pooling(folder: Path) -> str | None:
    """Returns the pooling that a sentence-transformers folder states, None where there is no such folder."""
    if not (folder / "modules.json").is_file():
        return None
    kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in _read_json(folder / "modules.json")]
    unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Dense", "Normalize")]
    if unknown or kinds[:2] != ["Transformer", "Pooling"]:
        raise InputError(
            f"{folder}: modules {', '.join(kinds)}; expected Transformer, Pooling, optional Dense, Normalize"
        )
    place = folder / _read_json(folder / "modules.json")[1]["path"] / "config.json"
    config = _read_json(place) if place.is_file() else {}
    modes = [
        key.removeprefix("pooling_mode_")
        for key, on in config.items()
        if key.startswith("pooling_mode_") and on is True
    ]
    mode = config.get("pooling_mode") or (modes[0] if len(modes) == 1 else None)
    names = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
    if mode not in names:
        raise InputError(f"{place}: pooling mode {mode!r}, expected cls or mean; give --pooling")
    return names[mode]


class _OutputLayers(NamedTuple):
    output: nn.Linear | None = None
    activation: str = IDENTITY
    normalize: bool = False


def _output_layers(folder: Path) -> _OutputLayers:
    """Returns the output layer of a folder, if any, what follows it, and whether the folder normalises."""
    names = [name for name in ("modules.json", "sentbench-modules.json") if (folder / name).is_file()]
    layers = _OutputLayers()
    for module in _read_json(folder / names[0])[2:] if names else []:
        if module["type"].endswith("Dense"):
            output, activation = _load_dense(folder / module["path"])
            layers = layers._replace(output=output, activation=activation)
        layers = layers._replace(normalize=layers.normalize or module["type"].endswith("Normalize"))
    return layers


def _save_dense(layer: nn.Linear, directory: Path, activation: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    config = {
        "in_features": layer.in_features,
        "out_features": layer.out_features,
        "bias": layer.bias is not None,
        "activation_function": _ACTIVATIONS[activation],
    }
    _write_json(directory / "config.json", config)
    tensors = {
        f"linear.{name}": value.detach().cpu().contiguous() for name, value in layer.state_dict().items()
    }
    save_file(tensors, directory / "model.safetensors")


def _load_dense(directory: Path) -> tuple[nn.Linear, str]:
    config = _read_json(directory / "config.json")
    function = config["activation_function"]
    activation = next(
        (name for name, kind in _ACTIVATIONS.items() if function.endswith(kind.split(".")[-1])), None
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


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
