"""Encoders computed by sentence-transformers, for folders that are not supported by `methods.core.folders`.

Foreign code is not run, and only tensors are read from pickles. The library initialises missing weights at
random; here they are an error.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from methods.core.batching import unique
from methods.core.errors import InputError
from methods.core.known_settings import MODEL_FILE, stated_pooling
from methods.core.model_files import (
    MODULE_PACKAGES,
    MODULES,
    check_model_folder,
    check_weights,
    in_one_line,
    is_inside,
    read_json,
)
from methods.core.pooling import PORTABLE
from methods.core.tokenizer_files import as_in_file, pad_with_another

BATCH_SIZE = 32
"""Default batch size of the library."""

NOT_READ = ("position_ids", "embed_positions", "pooler.")
"""Parts of the names of weights that are computed or do not change token vectors."""

LOCAL = {"local_files_only": True, "trust_remote_code": False}
FILE_OPTIONS = ("gguf_file", "offload_folder")
"""Options of transformers that name a file or folder, and that a model's settings pass on to it."""

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

    @property
    def instead(self) -> str | None:
        """Note about a tokenizer that differs from its file at first; None otherwise."""
        return getattr(self.model.tokenizer, "instead", None)

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


def check_kind(folder: Path, *, plain_is_read: bool = False) -> None:
    """Raises InputError, which names the kind, for another kind of model of sentence-transformers.

    plain_is_read: whether a CrossEncoder of an earlier release, a plain folder, is read for its transformer.
    """
    kind = None
    if (folder / MODEL_FILE).is_file():
        kind = read_json(folder / MODEL_FILE).get("model_type")
    elif not plain_is_read and (folder / "config.json").is_file() and not (folder / MODULES).is_file():
        config = read_json(folder / "config.json")
        kind = "CrossEncoder" if any(entry in config for entry in OF_CROSS_ENCODERS) else None
    if kind and kind != "SentenceTransformer":
        reason = f", {OTHER_KINDS[str(kind)]}" if str(kind) in OTHER_KINDS else ""
        raise InputError(
            f"{folder}: is a {kind}{reason}; expected a SentenceTransformer or a plain transformer folder"
        )


def library_encoder(folder: Path, *, pooling: str | None = None) -> LibraryEncoder:
    """Returns the encoder of a folder as sentence-transformers reads it.

    pooling: required for a plain folder; for others it replaces the stated one, after a check by the caller.
    Errors: InputError if the library cannot read the folder or a weight is missing.
    """
    check_model_folder(folder)
    if (folder / MODEL_FILE).is_file():
        width = read_json(folder / MODEL_FILE).get("truncate_dim")
        if width is not None and (type(width) is not int or width == 0):
            raise InputError(f"{folder}: truncate_dim is {width!r}, expected a whole number other than 0")
    with in_one_line(folder, "a model of sentence-transformers"):
        model = _modular(folder) if (folder / MODULES).is_file() else _plain(folder, str(pooling))
    if pooling is not None and (folder / MODULES).is_file() and pooling != stated_pooling(folder):
        _replace_pooling(model, pooling, folder)
    return LibraryEncoder(model.eval(), folder)


def _modular(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer._load_with_module_classes(
        str(folder),
        _CheckedClasses(),
        device="cpu",
        model_kwargs={"weights_only": True},
        **LOCAL,
    )


def _plain(folder: Path, pooling: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    check_named(pooling, folder)
    network = _checked_transformer()(
        str(folder),
        model_kwargs={"weights_only": True, **LOCAL},
        processor_kwargs=dict(LOCAL),
        config_kwargs=dict(LOCAL),
    )
    if network.module_output_name != "token_embeddings":
        raise InputError(f"{folder}: gives {network.module_output_name}, expected vectors of tokens to pool")
    modules = [network, Pooling(network.get_embedding_dimension(), pooling)]
    return SentenceTransformer(modules=modules, device="cpu", trust_remote_code=False)


def check_named(pooling: str, folder: Path) -> None:
    """Raises InputError for a pooling that sentence-transformers does not have."""
    if pooling not in PORTABLE:
        raise InputError(
            f"{folder}: pooling {pooling} is only available for BERT, RoBERTa and XLM-RoBERTa; use "
            f"{' or '.join(PORTABLE)}"
        )


def _replace_pooling(model: Any, pooling: str, folder: Path) -> None:
    check_named(pooling, folder)
    for module in model:
        if type(module).__name__ == "Pooling":
            module.pooling_mode = pooling
            module.pooling_output_dimension = module.embedding_dimension


class _CheckedClasses(dict[str, Any]):
    """The library's transformer with checks, by any name that a list of modules or of routes has for it."""

    def get(self, name: str, default: Any = None) -> Any:
        known = name.startswith(MODULE_PACKAGES) and name.endswith(".Transformer")
        return _checked_transformer() if known else default

    def __bool__(self) -> bool:
        """Returns True: the library passes no empty mapping on to the modules of a Router."""
        return True


def _check_options(folder: Path, options: dict[str, Any]) -> None:
    """Raises InputError, which names the setting, for a length that is none or a file outside the folder."""
    length = options.get("max_seq_length")
    if length is not None and (type(length) is not int or length < 1):
        raise InputError(f"{folder}: max_seq_length is {length!r}, expected a whole number from 1")
    for kind in ("model_kwargs", "processor_kwargs", "config_kwargs"):
        for name, value in (options.get(kind) or {}).items():
            if name in FILE_OPTIONS and value and not is_inside(value):
                raise InputError(
                    f"{folder}: {kind} has {name} {value!r}, expected a path inside the model folder"
                )


@cache
def _checked_transformer() -> Any:
    """Returns the library's transformer after checking its weights and tokenizer against the files."""
    from sentence_transformers.base.modules import Transformer

    class CheckedTransformer(Transformer):
        def __init__(self, model_name_or_path: str, **options: Any) -> None:
            _check_options(Path(model_name_or_path), options)
            super().__init__(model_name_or_path, **options)
            within = (options.get("model_kwargs") or {}).get("subfolder") or ""
            folder = Path(model_name_or_path, within)
            missing = [
                key for key in self.report["missing_keys"] if not any(part in key for part in NOT_READ)
            ]
            check_weights(
                folder, self.model, missing, self.report["unexpected_keys"], expected="every weight"
            )
            module: Any = self
            if module.tokenizer is None or module.tokenizer is not module.processor:
                return
            limit, tokenizer = module.tokenizer.model_max_length, as_in_file(module.tokenizer, folder)
            tokenizer.model_max_length = limit
            module.processor = tokenizer
            if tokenizer.pad_token_id is None:
                pad_with_another(tokenizer, folder)

        @classmethod
        def load_config(cls, model_name_or_path: str, subfolder: str = "", **options: Any) -> dict[str, Any]:
            config = super().load_config(model_name_or_path, subfolder=subfolder, **options)
            for kind, named in config.items():
                if isinstance(named, dict) and named.get("subfolder"):
                    raise InputError(
                        f"{Path(model_name_or_path, subfolder)}: {kind} has subfolder "
                        f"{named['subfolder']!r}, which sentence-transformers does not follow; state the "
                        f"folder as the module's path in {MODULES}"
                    )
            return config

        def _load_model(self, *options: Any, **model_kwargs: Any) -> Any:
            model, self.report = super()._load_model(*options, output_loading_info=True, **model_kwargs)
            return model

    return CheckedTransformer
