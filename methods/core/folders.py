"""Encoders in the folders that this project writes (`methods.core.saving`), and backbones with a pooling."""

from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torch import nn

from methods.core.checkpoints import load_backbone, load_tokenizer, read_tensors
from methods.core.coupling_flow import CouplingFlow
from methods.core.encoder import EVALUATION_LENGTH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.model_errors import WEIGHTS, read_json
from methods.core.pooling import PORTABLE, check_pooling
from methods.core.saving import (
    ACTIVATIONS,
    FLOW_TYPE,
    FORMAT,
    LIBRARY,
    MARKER,
    MODULES,
    OWN_MODULES,
    TRANSFORMER,
)
from methods.core.words import VECTORS as WORD_VECTORS
from methods.core.words import WordAverageEncoder, linear_of, load_word_average

Encoder = TypeVar("Encoder", bound=SentenceEncoder | WordAverageEncoder)

ANY_LENGTH = 2**30
"""Longest input in tokens without another limit."""


def load_encoder(
    folder: Path, *, pooling: str | None = None, hf_pooler: bool = False
) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder of a folder of this project, or with `pooling` of any folder with a transformer.

    It is computed in fp32. `pooling` replaces the pooling that a folder states and drops the folder's output
    layers, as for the start of a training. `stated_length` is the longest input in tokens that the tokenizer
    states; `cut_as_stated` uses it.
    Errors: InputError for any other folder; `harness.models.read` reads those of sentence-transformers.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if pooling is not None:
        check_pooling(pooling)
    marker = read_marker(folder)
    if marker.get("kind") == "word-average" or (folder / WORD_VECTORS).is_file():
        return load_word_average(folder)
    layout = None if pooling is not None else _read_layout(folder, marker)
    weights = transformer_folder(folder)
    backbone, tokenizer = load_backbone(weights, hf_pooler=hf_pooler), load_tokenizer(weights)
    tokenizer.model_max_length = EVALUATION_LENGTH
    encoder = SentenceEncoder(backbone, tokenizer, pooling=pooling or layout.pooling)  # type: ignore[union-attr]
    encoder.stated_length = tokenizer.stated_length
    if layout is not None:
        encoder.normalize = layout.normalize
        if layout.output is not None and layout.is_flow:
            encoder.output = CouplingFlow.load(layout.output)
        elif layout.output is not None:
            encoder.output, encoder.activation = _load_dense(layout.output, encoder.width)
    return encoder


def cut_as_stated(encoder: Encoder) -> Encoder:
    """Returns the encoder with truncation at the length that its folder states, or at its positions.

    A training truncates at the length of its run instead.
    """
    if isinstance(encoder, SentenceEncoder):
        stated, positions = encoder.stated_length or ANY_LENGTH, encoder.position_limit
        encoder.tokenizer.model_max_length = min(stated, positions or EVALUATION_LENGTH, ANY_LENGTH)
    return encoder


def is_own(folder: Path) -> bool:
    """Returns whether a folder says that this project wrote it. Errors: InputError for a damaged marker."""
    return bool(read_marker(folder)) or (folder / WORD_VECTORS).is_file()


def read_marker(folder: Path) -> dict[str, Any]:
    """Returns the marker of a folder of this project, {} for others; InputError if it is damaged."""
    marker: dict[str, Any] = read_json(folder / MARKER) if (folder / MARKER).is_file() else {}
    if not marker or marker.get("kind") == "word-average":
        return marker
    if marker.get("format") != FORMAT:
        raise InputError(
            f"{folder}: encoder format {marker.get('format')!r}, expected {FORMAT}; export it again"
        )
    listed = OWN_MODULES if TRANSFORMER in marker else MODULES
    if not (folder / listed).is_file():
        raise InputError(f"{folder}: no {listed}; export it again")
    return marker


def transformer_folder(folder: Path) -> Path:
    """Returns the folder of the transformer and tokenizer: the first module's, or the folder itself."""
    marker = read_marker(folder)
    if TRANSFORMER in marker:
        return folder / TRANSFORMER
    modules = _modules(folder / MODULES) if (folder / MODULES).is_file() else []
    return folder / modules[0]["path"] if modules else folder


def cut_layers(encoder: SentenceEncoder | WordAverageEncoder, layers: int) -> SentenceEncoder:
    """Cuts the encoder to its first `layers` layers, in place. Errors: InputError if it has fewer."""
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


class _Layout(NamedTuple):
    """What a folder states about its encoder besides the transformer.

    output: the folder of the output layer, None without one, and whether it is a flow.
    """

    pooling: str
    output: Path | None
    is_flow: bool
    normalize: bool


def _read_layout(folder: Path, marker: dict[str, Any]) -> _Layout:
    """Returns the layout in the form that `save_encoder` writes; InputError for any other form."""
    path = folder / (OWN_MODULES if TRANSFORMER in marker else MODULES)
    if not path.is_file():
        missing = f"no {MODULES} that states the pooling; give --pooling"
        if not (folder / "config.json").is_file():
            missing = f"no {MODULES} and no config.json, expected an encoder folder"
        raise InputError(f"{folder}: {missing}")
    modules = _modules(path)
    kinds = [str(module["type"]).removeprefix(LIBRARY) for module in modules]
    output = next((kind for kind in kinds[2:3] if kind in ("Dense", FLOW_TYPE)), None)
    before = ["Transformer", "Pooling", *([output] if output else [])]
    if kinds not in (before, [*before, "Normalize"]):
        raise InputError(
            f"{path}: modules {', '.join(kinds)}, expected {', '.join(before)} and perhaps Normalize"
        )
    return _Layout(
        pooling=marker.get("pooling") or _stated_pooling(folder / modules[1]["path"] / "config.json"),
        output=folder / modules[2]["path"] if output else None,
        is_flow=output == FLOW_TYPE,
        normalize=kinds[-1] == "Normalize",
    )


def _modules(path: Path) -> list[dict[str, Any]]:
    modules: list[dict[str, Any]] = read_json(path, list)
    for module in modules:
        if not isinstance(module, dict) or not {"type", "path"} <= module.keys():
            raise InputError(f"{path}: a module needs a type and a path")
    return modules


def _stated_pooling(path: Path) -> str:
    """Returns the pooling in a file as `save_encoder` writes it. Errors: InputError for any other."""
    prefix = "pooling_mode_"
    names = {f"{prefix}cls_token": "cls", f"{prefix}mean_tokens": "mean"}
    config = read_json(path)
    modes = [key for key, value in config.items() if key.startswith(prefix) and value]
    if len(modes) != 1 or modes[0] not in names:
        raise InputError(
            f"{path}: pools by {', '.join(modes) or 'nothing'}, expected {' or '.join(PORTABLE)}"
        )
    return names[modes[0]]


def _load_dense(directory: Path, width: int) -> tuple[nn.Linear, str]:
    config = read_json(directory / "config.json")
    function = config.get("activation_function")
    activation = next((name for name, kind in ACTIVATIONS.items() if kind == function), None)
    if activation is None:
        raise InputError(f"{directory / 'config.json'}: activation_function is {function!r}")
    stored = read_tensors(directory / WEIGHTS)
    tensors = {name.removeprefix("linear."): tensor for name, tensor in stored.items()}
    layer = linear_of(tensors, directory)
    stated = tuple(config.get(name) for name in ("in_features", "out_features", "bias"))
    held = (layer.in_features, layer.out_features, layer.bias is not None)
    if stated != held or layer.in_features != width:
        raise InputError(
            f"{directory}: states a layer of {stated} and holds one of {held}, expected one for {width}"
        )
    return layer, activation
