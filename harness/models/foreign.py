"""Encoders that sentence-transformers reads and computes, from any folder that is not of this project.

Foreign code is not run, and only tensors are read from pickles. The library initialises missing weights at
random; here they are an error.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from methods.core.batching import unique
from methods.core.checkpoints import as_stored, check_kernels, check_weights, pad_with_another
from methods.core.errors import InputError
from methods.core.model_errors import in_one_line, read_json
from methods.core.pooling import PORTABLE
from methods.core.saving import MODULES

BATCH_SIZE = 32
"""Default batch size of the library."""

NOT_READ = ("position_ids", "embed_positions", "pooler.")
"""Parts of the names of weights that are computed or do not change token vectors."""

MODEL_FILE = "config_sentence_transformers.json"
LOCAL = {"local_files_only": True, "trust_remote_code": False}

OTHER_KINDS = {
    "CrossEncoder": "which scores pairs of texts",
    "SparseEncoder": "whose vectors are sparse",
    "MultiVectorEncoder": "which has several vectors for a text",
}
"""Kinds of models of sentence-transformers that have no dense vector for a text, with the reason."""

OF_CROSS_ENCODERS = ("sentence_transformers", "sbert_ce_default_activation_function")
"""Entries of config.json by which releases without `model_type` marked a CrossEncoder."""


class LibraryEncoder:
    """A model of sentence-transformers as an encoder: `encode` with its prompt, length, layers and width.

    Shapes: `encode` returns [N, dim] in fp32, computed in the precision of the folder.
    """

    def __init__(self, model: Any, folder: Path) -> None:
        self.model, self.folder = model, folder

    @property
    def dim(self) -> int:
        """Width of the vectors that `encode` returns."""
        width, cut = self.model.get_embedding_dimension(), self.model.truncate_dim
        if width is None or (cut is not None and cut < 0):  # below zero, it leaves out the last numbers
            return int(self.encode(["a"]).shape[1])
        return int(width if cut is None else min(width, cut))

    def to(self, device: str | torch.device) -> "LibraryEncoder":
        """Moves the model and returns the encoder."""
        self.model.to(device)
        return self

    def parameters(self) -> Any:
        return self.model.parameters()

    def encode(
        self, texts: Sequence[str], *, batch_size: int = BATCH_SIZE, progress: bool = False
    ) -> np.ndarray:
        """Returns [N, dim] fp32: each unique text is computed once.

        Errors: InputError if the library cannot encode the texts.
        """
        distinct, inverse = unique(texts)
        with in_one_line(self.folder, "a model of these texts"):
            vectors = self.model.encode(distinct, batch_size=batch_size, show_progress_bar=progress)
        return np.asarray(vectors, dtype=np.float32)[inverse]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Returns the ids of each text with special tokens, truncated, without the prompt."""
        ids: list[list[int]] = self.model.tokenizer(list(texts), truncation=True)["input_ids"]
        return ids


def load_model(folder: Path, *, pooling: str | None = None) -> Any:
    """Returns the SentenceTransformer of a folder, or of a plain transformer folder with a pooling.

    pooling: of a plain folder, `mean` if it is not one of the library's; others state it.
    Errors: InputError if the folder is of another kind of model, the library cannot read it, or a weight is
    missing.
    """
    plain = not (folder / MODULES).is_file()
    if plain and not (folder / "config.json").is_file():
        raise InputError(f"{folder}: no {MODULES} and no config.json, expected an encoder folder")
    check_kind(folder, plain_is_read=pooling is not None)
    if plain and pooling is None:
        raise InputError(f"{folder}: no {MODULES} that states the pooling; give --pooling")
    check_kernels(folder)
    with in_one_line(folder, "a model of sentence-transformers"):
        model = _plain(folder, str(pooling)) if plain else _modular(folder)
        for transformer in transformers_of(model):
            _set_tokenizer(transformer)
    return model.eval()


def check_kind(folder: Path, *, plain_is_read: bool = False) -> None:
    """Raises InputError, which names the kind, for another kind of model of sentence-transformers.

    plain_is_read: whether a CrossEncoder of an earlier release, a plain folder, is read for its transformer.
    """
    kind = None
    if (folder / MODEL_FILE).is_file():
        kind = read_json(folder / MODEL_FILE).get("model_type")
    elif not plain_is_read and not (folder / MODULES).is_file():
        config = read_json(folder / "config.json")
        kind = "CrossEncoder" if any(entry in config for entry in OF_CROSS_ENCODERS) else None
    if kind and kind != "SentenceTransformer":
        reason = f", {OTHER_KINDS[str(kind)]}" if str(kind) in OTHER_KINDS else ""
        raise InputError(
            f"{folder}: is a {kind}{reason}; expected a SentenceTransformer or a plain transformer folder"
        )


def transformers_of(model: Any) -> Iterator[Any]:
    """Yields the library's transformer modules of a model, those of a Router's routes too."""
    return (part for part in model.modules() if isinstance(part, checked_transformer()))


def notes_of(model: Any, folder: Path) -> list[str]:
    """Returns what a user should know about a model: another tokenizer is used, or code that is not run."""
    notes = [getattr(transformer.tokenizer, "instead", None) for transformer in transformers_of(model)]
    for transformer in transformers_of(model):
        if getattr(transformer.model.config, "auto_map", None):
            kind = type(transformer.model).__name__
            notes.append(f"{folder}: auto_map names Python code, which is not run; {kind} reads the folder")
    return [note for note in notes if note]


def _modular(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer._load_with_module_classes(
        str(folder), _CheckedClasses(), device="cpu", model_kwargs={"weights_only": True}, **LOCAL
    )


def _plain(folder: Path, pooling: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    network = checked_transformer()(
        str(folder),
        model_kwargs={"weights_only": True, **LOCAL},
        processor_kwargs=dict(LOCAL),
        config_kwargs=dict(LOCAL),
    )
    if network.module_output_name != "token_embeddings":
        raise InputError(f"{folder}: gives {network.module_output_name}, expected vectors of tokens to pool")
    mode = pooling if pooling in PORTABLE else "mean"
    modules = [network, Pooling(network.get_embedding_dimension(), mode)]
    return SentenceTransformer(modules=modules, device="cpu", trust_remote_code=False)


def _set_tokenizer(transformer: Any) -> None:
    """Gives a transformer the tokenizer of tokenizer.json if another was built, and a token that pads."""
    if transformer.tokenizer is None or transformer.tokenizer is not transformer.processor:
        return
    limit, tokenizer = (
        transformer.tokenizer.model_max_length,
        as_stored(transformer.tokenizer, transformer.folder),
    )
    tokenizer.model_max_length = limit
    transformer.processor = tokenizer
    pad_with_another(tokenizer, transformer.folder)


class _CheckedClasses(dict[str, Any]):
    """The library's transformer with checks, by any name that a list of modules or of routes has for it."""

    def get(self, name: str, default: Any = None) -> Any:
        known = name.startswith("sentence_transformers.") and name.endswith(".Transformer")
        return checked_transformer() if known else default

    def __bool__(self) -> bool:
        """Returns True: the library passes no empty mapping on to the modules of a Router."""
        return True


@cache
def checked_transformer() -> Any:
    """Returns the library's transformer, which refuses missing weights instead of starting them at random."""
    from sentence_transformers.base.modules import Transformer

    class CheckedTransformer(Transformer):
        folder: Path
        missing: list[str]

        def _load_model(self, name: str, *options: Any, **model_kwargs: Any) -> Any:
            model, report = super()._load_model(name, *options, output_loading_info=True, **model_kwargs)
            folder = Path(name, model_kwargs.get("subfolder") or "")
            absent = sorted(report["missing_keys"])
            needed = [key for key in absent if not any(part in key for part in NOT_READ)]
            check_weights(folder, model, needed, report["unexpected_keys"], expected="every weight")
            self.folder, self.missing = folder, absent
            return model

    return CheckedTransformer
