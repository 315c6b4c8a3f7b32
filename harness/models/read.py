"""Loading of encoders from any folder: this project's, sentence-transformers' and plain ones."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.io.records import check_plain
from harness.models.fast import POOLER, TRIAL, Unrecognised, computed_here, pooled_by
from harness.models.foreign import LibraryEncoder, load_model, notes_of
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError, near_matches
from methods.core.folders import cut_as_stated, is_own, load_encoder
from methods.core.heads import take_pooler
from methods.core.model_errors import in_one_line
from methods.core.networks import Networks
from methods.core.pooling import LAYERS, PORTABLE
from methods.core.saving import MODULES, TANH
from methods.core.words import WordAverageEncoder

MARKS = ("config.json", "modules.json", "sentbench.json", "vectors.safetensors")
"""Model files; every model folder has at least one of them."""

POOLINGS = (*LAYERS, POOLER)
"""Accepted values of `pooling`."""


class Read(NamedTuple):
    """An encoder with notes for the user: computation by the library, choice between contradicting files."""

    encoder: SentenceEncoder | WordAverageEncoder | LibraryEncoder
    notes: list[str]


def read_encoder(folder: Path, *, pooling: str | None = None) -> Any:
    """Returns the encoder of a folder, see `read_any`; notes go to standard error.
    Errors: InputError if the folder has no encoder or an unreadable file, or a vector is not finite.
    """
    with reading(folder):
        encoder, notes = read_any(folder, pooling=pooling)
    for note in notes:
        print(f"sentbench: {note}", file=sys.stderr)
    return encoder


def read_any(folder: Path, *, pooling: str | None = None) -> Read:
    """Returns the encoder of a folder, with sentence-transformers' vectors unless it is of this project.

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
    encoder, notes = (_own(folder, pooling), []) if is_own(folder) else _foreign(folder, pooling)
    return Read(checked(encoder, folder), notes)


def checked(encoder: Any, folder: Path) -> Any:
    """Returns the encoder after encoding two texts. Errors: InputError if a vector is not finite or empty."""
    vectors = encoder.encode(TRIAL)
    if not vectors.size or not np.isfinite(vectors).all():
        raise InputError(f"{folder}: vectors are not finite or have no numbers; check weights and settings")
    return encoder


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Converts library errors in the block about a model's files into InputError.

    Errors: InputError also for a file that would block a reader; `in_one_line` lists other exceptions that
    pass.
    """
    if any(os.path.lexists(folder / name) for name in MARKS):  # otherwise it is refused immediately
        check_plain(folder, again="download the folder again")
    with in_one_line(folder):
        yield


class CheckedNetworks(Networks):
    """The networks of a run, from folders of any origin; a damaged folder raises InputError."""

    def read(self, folder: Path, *, pooling: str | None, hf_pooler: bool) -> Any:
        """Returns the encoder of a folder, like `Networks`, after encoding two texts.

        Errors: InputError also for a folder that only sentence-transformers computes.
        """
        with reading(folder):
            if pooling is not None or is_own(folder):
                return checked(super().read(folder, pooling=pooling, hf_pooler=hf_pooler), folder)
            encoder, notes = read_any(folder)
        if isinstance(encoder, LibraryEncoder):
            raise InputError(f"{notes[0]}; a training needs one that is computed here")
        return encoder

    def parent_masked_model(self, needs: str, **options: Any) -> Any:
        """Returns the parent as a masked language model, like `Networks`."""
        with reading(self._parent_folder(needs)):
            return super().parent_masked_model(needs, **options)


def _own(folder: Path, pooling: str | None) -> Any:
    """Returns the encoder of a folder of this project, perhaps with another pooling."""
    encoder: Any = cut_as_stated(load_encoder(folder))
    if pooling is None or isinstance(encoder, WordAverageEncoder) or pooling == encoder.pooling:
        return encoder
    if encoder.output is not None:
        raise _fixed_pooling(folder, encoder.pooling, "output layer", pooling)
    if pooling != POOLER:
        encoder.pooling = pooling
        return encoder
    normalize = encoder.normalize
    encoder = cut_as_stated(load_encoder(folder, pooling="cls", hf_pooler=True))
    encoder.output, encoder.activation, encoder.normalize = take_pooler(encoder), TANH, normalize
    return encoder


def _foreign(folder: Path, pooling: str | None) -> tuple[Any, list[str]]:
    """Returns the encoder of a folder that sentence-transformers reads, and notes for the user."""
    model = load_model(folder, pooling=pooling)
    notes = notes_of(model, folder)
    if pooling is not None and (folder / MODULES).is_file():
        _replace_pooling(model, pooling, folder)
    if pooling is not None and pooling not in PORTABLE:
        return pooled_by(model, pooling, folder), notes
    with in_one_line(folder, "a model of these texts"):
        try:
            return computed_here(model, folder), notes
        except Unrecognised as why:
            note = f"{folder}: {why}: computed by sentence-transformers, which is slower"
            return LibraryEncoder(model, folder), [note, *notes]


def _replace_pooling(model: Any, pooling: str, folder: Path) -> None:
    """Sets the pooling of a model that states one. Errors: InputError if a layer was trained on it."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    names = [type(module).__name__.removeprefix("Checked") for module in model]
    poolings = [module for module in model if type(module) is Pooling]
    stated = poolings[0].pooling_mode if len(poolings) == 1 else None
    if pooling == stated:
        return
    others = [name for name in names if name not in ("Transformer", "Pooling", "Normalize")]
    if others or len(poolings) != 1:
        raise _fixed_pooling(folder, stated, f"module {(others or names)[0]}", pooling)
    if pooling in PORTABLE:
        poolings[0].pooling_mode = pooling
        poolings[0].pooling_output_dimension = poolings[0].embedding_dimension


def _fixed_pooling(folder: Path, stated: str | None, layer: str, pooling: str) -> InputError:
    return InputError(
        f"{folder}: states its pooling ({stated}), which its {layer} was trained with; pooling {pooling} "
        f"gives no vectors of this model: leave it out"
    )
