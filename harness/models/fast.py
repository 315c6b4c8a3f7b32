"""Models of sentence-transformers that are computed here, several times faster, with the same vectors.

What decides are the loaded objects: their exact classes, then a comparison of tokens and vectors with the
library's own.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from harness.models.foreign import checked_transformer
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.plain import is_plain, is_untouched
from methods.core.folders import cut_as_stated
from methods.core.heads import take_pooler
from methods.core.pooling import PORTABLE
from methods.core.saving import IDENTITY, TANH
from methods.core.types import ARCHITECTURES, Tokens

POOLER = "pooler"
"""Pooling by the first token's state after the transformer's own dense layer, as in supervised SimCSE."""

TRIAL = ["A man plays a guitar.", "A dog sleeps"]
"""Texts of two lengths: a model that fails on them is refused before data are read."""

PROBES = [
    *TRIAL,
    "A man plays the GUITAR.",
    "Café naı\u0308ve  two  spaces",
    "don't re-do it: 3.14%",
    "\ufb01ne 你好",
]
"""Texts that settings treat differently: length, case, accents, spaces, punctuation."""

VECTORS_APART = 1e-4
"""Largest difference from the library's vectors, as a share of their largest value."""


class Unrecognised(Exception):
    """Raised for a model that may have other vectors here; the message says what is different."""


def computed_here(model: Any, folder: Path) -> SentenceEncoder:
    """Returns the encoder with the vectors of a SentenceTransformer, whose weights it takes over.

    Errors: Unrecognised, with the reason, if this project does not compute such a model.
    """
    transformer, pooling, *layers = _recognised(model)
    if not is_plain(transformer.model):
        raise Unrecognised(f"its network is a {type(transformer.model).__name__} in {_dtype(transformer)}")
    if not hasattr(transformer.tokenizer, "backend_tokenizer"):
        raise Unrecognised(f"its tokenizer is a {type(transformer.tokenizer).__name__}")
    limit = transformer.tokenizer.model_max_length
    encoder = _encoder_of(transformer, pooling.pooling_mode)
    for layer in layers:
        if hasattr(layer, "linear"):
            encoder.output, encoder.activation = layer.linear, _activation(layer) or IDENTITY
        else:
            encoder.normalize = True
    try:
        texts = [text for text in PROBES if _has_vectors(encoder, text)] or [*TRIAL]
        _compare_vectors(model, encoder, texts)
        texts.append(" ".join([texts[0]] * (encoder.input_limit // 4 + 1)))  # is cut
        _compare_tokens(model.preprocess(texts), encoder.tokenize(texts))
    except Unrecognised:
        transformer.tokenizer.model_max_length = limit
        raise
    if hasattr(transformer.model, "pooler"):
        transformer.model.pooler = None  # no part of these vectors
    return encoder


def pooled_by(model: Any, pooling: str, folder: Path) -> SentenceEncoder:
    """Returns the encoder of a model's transformer with a pooling that the library does not have.

    Normalize is kept. Errors: InputError if the transformer gives no vectors of tokens, has no fast
    tokenizer or, for `pooler`, no such layer.
    """
    from sentence_transformers.sentence_transformer.modules import Normalize

    transformer = model[0]
    kind = type(getattr(transformer, "model", transformer)).__name__
    if not hasattr(getattr(transformer, "tokenizer", None), "backend_tokenizer"):
        raise InputError(f"{folder}: pooling {pooling} needs a transformer with a fast tokenizer, not {kind}")
    if pooling == POOLER and kind not in ARCHITECTURES:
        raise InputError(f"{folder}: is a {kind}; the pooler is read of {', '.join(ARCHITECTURES)}")
    transformer.model.float()
    encoder = _encoder_of(transformer, "cls" if pooling == POOLER else pooling)
    if pooling == POOLER:
        absent = [key for key in transformer.missing if "pooler." in key]
        if absent:
            raise InputError(f"{folder}: {len(absent)} weights are missing, the first is {absent[0]}")
        encoder.output, encoder.activation = take_pooler(encoder), TANH
    encoder.normalize = any(type(module) is Normalize for module in model)
    return encoder


def _encoder_of(transformer: Any, pooling: str) -> SentenceEncoder:
    encoder = SentenceEncoder(transformer.model, transformer.tokenizer, pooling=pooling)
    encoder.stated_length = transformer.max_seq_length
    return cut_as_stated(encoder).eval()


def _recognised(model: Any) -> list[Any]:
    """Returns the modules of a model: a transformer, a pooling, and perhaps a dense layer and Normalize."""
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

    modules = list(model)
    kinds = [type(module) for module in modules]
    before = [checked_transformer(), Pooling, *([Dense] if Dense in kinds else [])]
    if kinds not in (before, [*before, Normalize]):
        names = [kind.__name__.removeprefix("Checked") for kind in kinds]
        raise Unrecognised(f"its modules are {', '.join(names)}")
    if not all(is_untouched(module, type(module)) for module in (model, *modules)):
        raise Unrecognised("a hook is attached to its modules")
    if modules[1].pooling_mode not in PORTABLE:
        raise Unrecognised(f"its pooling is {modules[1].pooling_mode}")
    if Dense in kinds and not (is_untouched(modules[2].linear, nn.Linear) and _activation(modules[2])):
        raise Unrecognised(f"its Dense has {type(modules[2].activation_function).__name__}")
    return modules


def _activation(dense: Any) -> str | None:
    known = {nn.Identity: IDENTITY, nn.Tanh: TANH}
    return known.get(type(dense.activation_function))


def _dtype(transformer: Any) -> str:
    return str(next(transformer.model.parameters()).dtype).removeprefix("torch.")


def _has_vectors(encoder: SentenceEncoder, text: str) -> bool:
    """Returns whether every token of a text has a vector; a tokenizer may have more tokens."""
    try:
        return bool(encoder.token_ids([text]))
    except InputError:
        return False


def _compare_vectors(model: Any, encoder: SentenceEncoder, texts: list[str]) -> None:
    """Raises Unrecognised if the library's vectors of these texts differ."""
    actual = encoder.encode(texts)
    expected = np.asarray(model.encode(texts, show_progress_bar=False))
    if actual.shape != expected.shape:
        raise Unrecognised(f"its vectors have {expected.shape[1]} numbers")
    apart, largest = float(np.abs(actual - expected).max()), float(np.abs(expected).max())
    if not apart <= VECTORS_APART * largest:
        raise Unrecognised(f"its settings give other vectors ({apart:.1e})")


def _compare_tokens(actual: Any, expected: Tokens) -> None:
    """Raises Unrecognised unless the library gives the encoder's ids, padding and mask, and a single type."""
    for name, tensor in expected.items():
        if name not in actual or not torch.equal(actual[name], tensor):
            raise Unrecognised(f"its settings give other {name}")
    if "token_type_ids" in actual and actual["token_type_ids"].any():
        raise Unrecognised("its settings give other token_type_ids")
