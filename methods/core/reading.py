"""Loading of encoders from any folder, computed here if the vectors equal sentence-transformers' vectors.

Computed here are the families in `FAMILIES` with the settings of `methods.core.known_settings` and fp32
weights, if tokenizer and network agree with the library's own call on a few texts.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import safe_open

from methods.core.encoder import SentenceEncoder, evaluating
from methods.core.errors import InputError, OtherWay, near_matches
from methods.core.folders import cut_as_stated, load_encoder, read_marker, weights_folder
from methods.core.heads import take_pooler
from methods.core.known_settings import check_other_files, known_settings, stated_pooling
from methods.core.library import LibraryEncoder, check_kind, library_encoder
from methods.core.model_files import (
    MODULES,
    OWN_MODULES,
    PICKLED,
    WEIGHTS,
    in_one_line,
    module_list,
    read_json,
    read_settings,
)
from methods.core.pooling import LAYERS, PORTABLE, pool
from methods.core.saving import TANH, TRANSFORMER
from methods.core.tokenizer_files import PROBES, check_reading
from methods.core.types import MASK
from methods.core.words import VECTORS, WordAverageEncoder

CONFIG = "config.json"

DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
"""Type name in safetensors -> in torch."""

FAMILIES = ("bert", "roberta", "xlm-roberta")
"""Values of `model_type` that are computed here; a test compares each with sentence-transformers."""

POOLER = "pooler"
"""Pooling by the first token's state after the transformer's own dense layer, as in supervised SimCSE."""

POOLINGS = (*LAYERS, POOLER)
"""Accepted values of `pooling`."""

TRIAL = ["A man plays a guitar.", "A dog sleeps"]
"""Texts of two lengths: a model that fails on them is refused before data are read."""

TOLERANCE = 1e-3
"""Largest difference from the network's own forward pass, as a share of its largest value."""


class Read(NamedTuple):
    """An encoder with notes for the user: computation by the library, choice between contradicting files."""

    encoder: SentenceEncoder | WordAverageEncoder | LibraryEncoder
    notes: list[str]


def read_any(folder: Path, *, pooling: str | None = None) -> Read:
    """Returns the encoder of a folder, with sentence-transformers' vectors if it reads the folder.

    pooling: required for a plain Hugging Face folder. It replaces a pooling that the folder states; Normalize
    is kept.
    Errors: InputError if the folder cannot be read or is of another kind of model, `pooling` would replace a
    pooling that another layer follows, or the vectors of two texts are not finite.
    """
    if pooling is not None and pooling not in POOLINGS:
        raise InputError(
            f"pooling {pooling!r} is not known; expected one of {', '.join(POOLINGS)}"
            f"{near_matches(pooling, list(POOLINGS))}"
        )
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    check_kind(folder, plain_is_read=pooling is not None)
    given = None if pooling is None or pooling == _stated(folder) else pooling
    if given is not None:
        _check_replaceable(folder, given)
    try:
        encoder = _computed_here(folder, given)
        instead = getattr(getattr(encoder, "tokenizer", None), "instead", None)
        return Read(encoder, [instead] if instead else [])
    except OtherWay as why:
        made = library_encoder(folder, pooling=given)
        check_finite(made.encode(TRIAL), folder)
        note = f"{why}: computed by sentence-transformers, which is slower"
        return Read(made, [note, *([made.instead] if made.instead else [])])


def _stated(folder: Path) -> str | None:
    marker = read_marker(folder)
    if TRANSFORMER in marker:
        return str(marker.get("pooling"))
    return stated_pooling(folder) if (folder / MODULES).is_file() else None


def _check_replaceable(folder: Path, pooling: str) -> None:
    """Raises InputError if a layer of the folder was trained on another pooling."""
    listed = next((folder / name for name in (MODULES, OWN_MODULES) if (folder / name).is_file()), None)
    kinds = [module["type"].rsplit(".", 1)[-1] for module in module_list(listed)] if listed else []
    others = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Normalize")]
    if listed and (others or "Pooling" not in kinds):
        raise InputError(
            f"{folder}: states its pooling ({_stated(folder)}), which its module {(others or kinds)[0]} was "
            f"trained with; pooling {pooling} gives no vectors of this model: leave it out"
        )


def _computed_here(folder: Path, pooling: str | None) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder after a comparison of its vectors. Errors: OtherWay if they may differ.

    Poolings that the library lacks are computed here for every family.
    """
    marker = read_marker(folder)
    modular = (folder / MODULES).is_file()
    plain = not modular and TRANSFORMER not in marker
    compared = TRANSFORMER not in marker and pooling in (None, *PORTABLE)
    if plain and (pooling is None or (folder / VECTORS).is_file()):
        encoder: Any = cut_as_stated(load_encoder(folder))
        check_finite(encoder.encode(TRIAL), folder)
        return encoder
    if modular:
        known_settings(folder)
    if compared:
        _check_network(weights_folder(folder))
    if pooling == POOLER:
        encoder = _with_pooler(folder)
    elif plain:
        encoder = load_encoder(folder, pooling=pooling)
    else:
        encoder = load_encoder(folder)
        encoder.pooling = pooling or encoder.pooling
    cut_as_stated(encoder)
    if compared:
        check_reading(encoder, weights_folder(folder))
        _check_vectors(encoder, weights_folder(folder))
    else:
        check_finite(encoder.encode(TRIAL), folder)
    return encoder


def _check_network(weights: Path) -> None:
    """Raises OtherWay unless a folder has fp32 weights of one of FAMILIES."""
    check_other_files(weights)
    if not (weights / CONFIG).is_file():
        return  # `load_encoder` reports the missing file
    config = read_json(weights / CONFIG)
    if config.get("model_type") not in FAMILIES:
        raise OtherWay(f"{weights / CONFIG}: model_type is {config.get('model_type')!r}")
    dtype = config.get("dtype") or config.get("torch_dtype") or _first_dtype(weights)
    if dtype != "float32":
        raise OtherWay(f"{weights}: its weights are {dtype}")


def _first_dtype(weights: Path) -> str:
    """Returns the type of the first floating tensor of a file, in which the library computes."""
    index = weights / f"{WEIGHTS}.index.json"
    names = [WEIGHTS, *sorted(set(read_json(index)["weight_map"].values()))] if index.is_file() else [WEIGHTS]
    path = next((weights / name for name in names if (weights / name).is_file()), None)
    if path is not None:
        with in_one_line(path), safe_open(path, framework="pt") as file:
            dtypes = [file.get_slice(key).get_dtype() for key in file.keys()]  # noqa: SIM118
        return DTYPES.get(next((name for name in dtypes if "F" in name), "F32"), "of another type")
    if (weights / PICKLED).is_file():
        with in_one_line(weights / PICKLED):
            state = torch.load(weights / PICKLED, map_location="cpu", weights_only=True)
        floats = (value.dtype for value in state.values() if getattr(value, "is_floating_point", bool)())
        return str(next(floats, torch.float32)).removeprefix("torch.")
    return "float32"


def _with_pooler(folder: Path) -> SentenceEncoder:
    """Returns the encoder with the transformer's own pooler as its output layer."""
    family = read_settings(weights_folder(folder)).model_type
    if family not in FAMILIES:
        raise InputError(f"{folder}: is a {family}; the pooler is read of {', '.join(FAMILIES)}")
    encoder: Any = load_encoder(folder, pooling="cls", hf_pooler=True)
    encoder.output, encoder.activation = take_pooler(encoder), TANH
    encoder.normalize = (folder / MODULES).is_file() and known_settings(folder).normalize
    return encoder


def _check_vectors(encoder: SentenceEncoder, weights: Path) -> None:
    """Raises OtherWay if the layers computed here differ from the network's own forward pass.

    Errors: InputError if a vector is not finite.
    """
    tokens = encoder.tokenize(PROBES[:2])
    with evaluating(encoder):
        expected = encoder.finish(pool(encoder.states(tokens), tokens[MASK], encoder.pooling))
        actual = encoder.finish(encoder(tokens))
    check_finite(actual.numpy(), weights)
    apart = float((actual - expected).abs().max())
    if apart > TOLERANCE * float(expected.abs().max()):
        raise OtherWay(f"{weights / CONFIG}: an entry changes what layers compute ({apart:.1e})")


def check_finite(vectors: np.ndarray, folder: Path) -> None:
    """Raises InputError if a vector of a folder's encoder is not finite."""
    if not np.isfinite(vectors).all():
        raise InputError(f"{folder}: vectors are not finite; check the weights")
