"""Loading of supported encoder folders: this project's, sentence-transformers' and plain ones.

`methods.core.reading` loads any other folder through sentence-transformers.
"""

from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from methods.core.coupling_flow import CouplingFlow
from methods.core.encoder import EVALUATION_LENGTH, SentenceEncoder
from methods.core.errors import InputError, OtherWay
from methods.core.known_settings import KnownSettings, check_other_files, known_settings
from methods.core.model_files import (
    MODULES,
    OWN_MODULES,
    WEIGHTS,
    check_model_folder,
    folder_within,
    module_list,
    read_json,
    read_model,
    read_settings,
    read_tensors,
    read_tokenizer,
)
from methods.core.pooling import check_pooling
from methods.core.saving import ACTIVATIONS, FLOW_TYPE, FORMAT, MARKER, TRANSFORMER
from methods.core.tokenizer_files import as_in_file, pad_with_another
from methods.core.words import VECTORS as WORD_VECTORS
from methods.core.words import VOCABULARY, WordAverageEncoder, linear_of, load_word_average, read_words

BYTE_PAIRS = "vocab.json and merges.txt"
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", BYTE_PAIRS)
"""Files that a tokenizer is built from; the first one in a folder counts."""

ANY_LENGTH = 2**30
"""Longest input in tokens without another limit."""

Encoder = TypeVar("Encoder", bound=SentenceEncoder | WordAverageEncoder)
_HAS_POOLER = ("bert", "roberta", "xlm-roberta", "mpnet", "camembert")


def load_backbone(folder: Path, *, hf_pooler: bool = False) -> nn.Module:
    """Returns the transformer of a folder in fp32 and eval mode.

    `hf_pooler` keeps the pre-trained pooler. Attention is computed as the library chooses for the family.
    Errors: InputError if the folder has no model, contains code or lacks weights.
    """
    from transformers import AutoModel

    settings = read_settings(folder)
    extra: dict[str, Any] = {"add_pooling_layer": hf_pooler} if settings.model_type in _HAS_POOLER else {}
    return read_model(
        AutoModel,
        folder,
        expected="every weight of a transformer",
        config=settings,
        **extra,
    )


def load_tokenizer(folder: Path) -> Any:
    """Returns the fast tokenizer of a folder without its truncation and padding settings.

    A tokenizer without a padding token pads with another token: padding is masked, so no vector depends on
    it.
    Errors: InputError if the folder has none of TOKENIZER_FILES, a word is repeated, or no token can be used
    as padding; OtherWay if it has a model of sentencepiece alone.
    """
    from transformers import AddedToken

    present = [
        names for names in TOKENIZER_FILES if all((folder / name).is_file() for name in names.split(" and "))
    ]
    if not present:
        pieces = next(iter(sorted(folder.glob("*.model"))), None)
        if pieces is not None:  # sentencepiece, which transformers reads where its package is installed
            raise OtherWay(f"{folder}: has {pieces.name} and no tokenizer.json")
        raise InputError(
            f"{folder}: no tokenizer.json, expected the tokenizer next to the model "
            f"({', or '.join(TOKENIZER_FILES)}); add it"
        )
    # RoBERTa's mask includes the space before it; transformers 5 builds one that does not.
    mask = {"mask_token": AddedToken("<mask>", lstrip=True)} if present[0] == BYTE_PAIRS else {}
    if present[0] == VOCABULARY:
        read_words(folder / VOCABULARY)
    tokenizer = as_in_file(read_tokenizer(folder, **mask), folder)
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise InputError(f"{folder}: {type(tokenizer).__name__} is not a fast tokenizer; add tokenizer.json")
    ids = tokenizer.get_vocab().values()
    tokenizer.highest_id = max(ids, default=-1)
    if len(set(ids)) < len(ids):
        raise InputError(f"{folder}: two words of the tokenizer have the same id")
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.stated_length = tokenizer.model_max_length
    tokenizer.model_max_length = EVALUATION_LENGTH
    pad_with_another(tokenizer, folder)
    return tokenizer


def load_encoder(
    folder: Path, *, pooling: str | None = None, hf_pooler: bool = False
) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder of a folder: ours, sentence-transformers', or a plain one with `pooling`.

    It is computed here, in fp32. `pooling` replaces the pooling that a folder states and drops the folder's
    output layers, as for the start of a training. `stated_length` is the longest input in word pieces that
    the folder states; `cut_as_stated` uses it.
    Errors: InputError for any other folder, or for a plain one without `pooling`; OtherWay if its settings
    are not supported here.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if pooling is not None:
        check_pooling(pooling)
    check_model_folder(folder)
    marker = read_marker(folder)
    if marker.get("kind") == "word-average" or (folder / WORD_VECTORS).is_file():
        return load_word_average(folder)
    if pooling is not None:
        weights = weights_folder(folder)
        encoder = SentenceEncoder(
            load_backbone(weights, hf_pooler=hf_pooler), load_tokenizer(weights), pooling=pooling
        )
        encoder.stated_length = encoder.tokenizer.stated_length
        return encoder
    settings = _own_settings(folder, marker) if TRANSFORMER in marker else known_settings_of(folder)
    check_other_files(settings.weights)
    backbone = load_backbone(settings.weights, hf_pooler=hf_pooler)
    encoder = SentenceEncoder(backbone, load_tokenizer(settings.weights), pooling=settings.pooling)
    encoder.stated_length = settings.length or encoder.tokenizer.stated_length
    encoder.normalize = settings.normalize
    if settings.dense is not None:
        _add_output_layer(encoder, settings.dense)
    return encoder


def cut_as_stated(encoder: Encoder) -> Encoder:
    """Returns the encoder with truncation at the length that its folder states, or at its positions.

    A training truncates at the length of its run instead.
    """
    if isinstance(encoder, SentenceEncoder):
        stated, positions = encoder.stated_length or ANY_LENGTH, encoder.position_limit
        encoder.tokenizer.model_max_length = min(stated, positions or EVALUATION_LENGTH, ANY_LENGTH)
    return encoder


def read_marker(folder: Path) -> dict[str, Any]:
    """Returns the marker of a folder of this project, {} for others; InputError if it is damaged."""
    marker: dict[str, Any] = read_json(folder / MARKER) if (folder / MARKER).is_file() else {}
    if marker and marker.get("kind") != "word-average" and marker.get("format") != FORMAT:
        raise InputError(
            f"{folder}: encoder format {marker.get('format')!r}, expected {FORMAT}; export it again"
        )
    listed = OWN_MODULES if TRANSFORMER in marker else MODULES
    if marker and marker.get("kind") != "word-average" and not (folder / listed).is_file():
        raise InputError(f"{folder}: no {listed}; export it again")
    return marker


def weights_folder(folder: Path) -> Path:
    """Returns the folder of the transformer and tokenizer, for any kind of encoder folder."""
    marker = read_marker(folder)
    if TRANSFORMER in marker:
        return folder_within(folder / MARKER, marker[TRANSFORMER])
    modules = module_list(folder / MODULES) if (folder / MODULES).is_file() else []
    return folder_within(folder / MODULES, modules[0]["path"]) if modules else folder


def known_settings_of(folder: Path) -> KnownSettings:
    """Returns the `known_settings` of a sentence-transformers folder; InputError for a plain one."""
    if not (folder / MODULES).is_file():
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder}: no {MODULES} and no config.json, expected an encoder folder")
        raise InputError(f"{folder}: no {MODULES} that states the pooling; give --pooling")
    return known_settings(folder)


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


def _own_settings(folder: Path, marker: dict[str, Any]) -> KnownSettings:
    """Returns the settings of this project's folder that are hidden from sentence-transformers."""
    modules = module_list(folder / OWN_MODULES)
    if len(modules) < 2:
        raise InputError(
            f"{folder / OWN_MODULES}: {len(modules)} modules, expected a transformer and a pooling"
        )
    layers = [module for module in modules[2:] if not module["type"].endswith("Normalize")]
    if len(layers) > 1:
        raise InputError(f"{folder / OWN_MODULES}: {len(layers)} output layers, expected one")
    return KnownSettings(
        weights=weights_folder(folder),
        pooling=str(marker.get("pooling")),
        length=None,
        dense=folder_within(folder / OWN_MODULES, layers[0]["path"]) if layers else None,
        normalize=len(modules) > 2 + len(layers),
    )


def _add_output_layer(encoder: SentenceEncoder, directory: Path) -> None:
    layers = module_list(directory.parent / OWN_MODULES) if (directory.parent / OWN_MODULES).is_file() else []
    if any(module["type"] == FLOW_TYPE for module in layers):
        encoder.output = CouplingFlow.load(directory)
    else:
        encoder.output, encoder.activation = _load_dense(directory, encoder.width)


def _load_dense(directory: Path, width: int) -> tuple[nn.Linear, str]:
    config = read_json(directory / "config.json")
    function = config.get("activation_function")
    activation = next((name for name, kind in ACTIVATIONS.items() if kind == function), None)
    if activation is None:
        raise OtherWay(f"{directory / 'config.json'}: activation_function is {function!r}")
    if not (directory / WEIGHTS).is_file():
        raise OtherWay(f"{directory}: no {WEIGHTS}")
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
