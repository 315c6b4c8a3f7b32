"""Encoders read from folders: our artefacts, sentence-transformers folders and plain Hugging Face folders."""

from pathlib import Path
from typing import Any

from torch import nn

from methods.core.coupling_flow import CouplingFlow
from methods.core.encoder import EVALUATION_LENGTH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.model_files import (
    MODULES,
    OWN_MODULES,
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
from methods.core.words import VECTORS as WORD_VECTORS
from methods.core.words import VOCABULARY, WordAverageEncoder, linear_of, load_word_average, read_words

BYTE_PAIRS = "vocab.json and merges.txt"
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", BYTE_PAIRS)
"""Files that a tokenizer is made from; the first that a folder has counts."""

_HAS_POOLER = ("bert", "roberta", "xlm-roberta", "mpnet", "camembert")


def load_backbone(folder: Path, *, hf_pooler: bool = False) -> nn.Module:
    """Returns the transformer of a folder in fp32 and eval mode; safetensors or refuse.

    `hf_pooler` keeps the pre-trained pooler.
    Errors: InputError if the folder has no model or brings code, or its weights lack some of the network's.
    """
    from transformers import AutoModel

    settings = read_settings(folder)
    extra: dict[str, Any] = {"add_pooling_layer": hf_pooler} if settings.model_type in _HAS_POOLER else {}
    return read_model(
        AutoModel,
        folder,
        expected="every weight of a transformer",
        config=settings,
        attn_implementation="sdpa",
        **extra,
    )


def load_tokenizer(folder: Path) -> Any:
    """Returns the fast tokenizer of a folder with no truncation or padding settings of its own.

    One without a padding token pads with another: padding is masked, so that no vector depends on it.
    Errors: InputError if the folder has none of TOKENIZER_FILES, a word is repeated, or no token can pad.
    """
    from transformers import AddedToken

    present = [
        names for names in TOKENIZER_FILES if all((folder / name).is_file() for name in names.split(" and "))
    ]
    if not present:
        raise InputError(
            f"{folder}: no tokenizer.json, expected the tokenizer next to the model "
            f"({', or '.join(TOKENIZER_FILES)}); add it"
        )
    # RoBERTa's mask takes in the space before it; the one that transformers 5 makes does not.
    mask = {"mask_token": AddedToken("<mask>", lstrip=True)} if present[0] == BYTE_PAIRS else {}
    if present[0] == VOCABULARY:
        read_words(folder / VOCABULARY)
    tokenizer = read_tokenizer(folder, **mask)
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise InputError(
            f"{folder}: {type(tokenizer).__name__} is no fast tokenizer, expected tokenizer.json"
        )
    known = tokenizer.get_vocab()
    if len(set(known.values())) < len(known):
        raise InputError(f"{folder}: two words of the tokenizer have one id, expected an id each")
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.model_max_length = EVALUATION_LENGTH
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = _instead_of_padding(tokenizer, folder)
    return tokenizer


def _instead_of_padding(tokenizer: Any, folder: Path) -> str:
    known = tokenizer.get_vocab()
    names = ("eos_token", "sep_token", "unk_token", "bos_token", "cls_token")
    for token in (getattr(tokenizer, name) for name in names):
        if token is not None and str(token) in known:
            return str(token)
    raise InputError(f"{folder}: the tokenizer has no special token to pad with; set pad_token in its config")


def load_encoder(
    folder: Path, *, pooling: str | None = None, hf_pooler: bool = False
) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder of a folder: ours, a sentence-transformers one, or a plain HF one with `pooling`.

    `pooling` given for a folder that states its own replaces it and drops the folder's output layers.
    Errors: InputError if the folder is none of these, or a plain HF folder comes without `pooling`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected an encoder folder; check the path")
    if pooling is not None:
        check_pooling(pooling)
    check_model_folder(folder)
    marker = read_json(folder / MARKER) if (folder / MARKER).is_file() else {}
    if marker.get("kind") == "word-average" or (folder / WORD_VECTORS).is_file():
        return load_word_average(folder)
    if marker and marker.get("format") != FORMAT:
        raise InputError(
            f"{folder}: encoder format {marker.get('format')!r}, expected {FORMAT}; export it again"
        )
    modules = _modules(folder)
    if marker and not modules:
        raise InputError(f"{folder}: no {OWN_MODULES if TRANSFORMER in marker else MODULES}; export it again")
    weights = folder_within(folder / MARKER, marker.get(TRANSFORMER, modules[0]["path"] if modules else ""))
    stated = marker.get("pooling") or _stated_pooling(folder)
    if pooling is None and stated is None:
        raise InputError(
            f"{folder}: the folder does not say how it pools, expected modules.json; give --pooling"
        )
    backbone = load_backbone(weights, hf_pooler=hf_pooler)
    encoder = SentenceEncoder(backbone, load_tokenizer(weights), pooling=pooling or str(stated))
    if pooling is None:
        _add_output_layers(encoder, folder)
    return encoder


def cut_layers(encoder: SentenceEncoder | WordAverageEncoder, layers: int) -> SentenceEncoder:
    """Cuts the encoder to its first `layers` layers, in place. Errors: InputError if it has not as many."""
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


def _modules(folder: Path) -> list[dict[str, Any]]:
    names = [name for name in (MODULES, OWN_MODULES) if (folder / name).is_file()]
    return module_list(folder / names[0]) if names else []


def _stated_pooling(folder: Path) -> str | None:
    """Returns the pooling that a sentence-transformers folder states, None where there is no such folder."""
    if not (folder / MODULES).is_file():
        return None
    modules = _modules(folder)
    kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
    unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Dense", "Normalize")]
    if unknown or kinds[:2] != ["Transformer", "Pooling"]:
        raise InputError(
            f"{folder}: modules {', '.join(kinds)}; expected Transformer, Pooling, optional Dense, Normalize"
        )
    path = folder / modules[1]["path"] / "config.json"
    config = read_json(path) if path.is_file() else {}
    modes = [
        key.removeprefix("pooling_mode_")
        for key, on in config.items()
        if key.startswith("pooling_mode_") and on is True
    ]
    mode = config.get("pooling_mode") or (modes[0] if len(modes) == 1 else None)
    names = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
    if not isinstance(mode, str) or mode not in names:
        raise InputError(f"{path}: pooling mode {mode!r}, expected cls or mean; give --pooling")
    return names[mode]


def _add_output_layers(encoder: SentenceEncoder, folder: Path) -> None:
    """Gives the encoder the folder's output layer, if any, what follows it, and whether it normalises."""
    for module in _modules(folder)[2:]:
        place = folder / module["path"]
        if module["type"].endswith("Normalize"):
            encoder.normalize = True
        elif encoder.output is not None or encoder.normalize:
            raise InputError(f"{place}: a layer behind the output layer or Normalize, expected none")
        elif module["type"].endswith("Dense"):
            encoder.output, encoder.activation = _load_dense(place, encoder.width)
        elif module["type"] == FLOW_TYPE:
            encoder.output = CouplingFlow.load(place)


def _load_dense(directory: Path, width: int) -> tuple[nn.Linear, str]:
    config = read_json(directory / "config.json")
    function = str(config.get("activation_function"))
    activation = next(
        (name for name, kind in ACTIVATIONS.items() if function.endswith(kind.split(".")[-1])), None
    )
    if activation is None:
        raise InputError(f"{directory}: activation {function}, expected Identity or Tanh; not supported")
    stored = read_tensors(directory / "model.safetensors")
    tensors = {name.removeprefix("linear."): tensor for name, tensor in stored.items()}
    layer = linear_of(tensors, directory)
    stated = tuple(config.get(name) for name in ("in_features", "out_features", "bias"))
    held = (layer.in_features, layer.out_features, layer.bias is not None)
    if stated != held or layer.in_features != width:
        raise InputError(
            f"{directory}: states a layer of {stated} and holds one of {held}, expected one for {width}"
        )
    return layer, activation
