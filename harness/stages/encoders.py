"""Reading an encoder's folder: whatever a library says about a damaged file is one line about the folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.records import check_plain
from methods.core.folders import load_encoder
from methods.core.networks import Networks

AGAIN = "get the folder again, or make it again with `dvc repro`"


def read_encoder(folder: Path, *, pooling: str | None = None) -> Any:
    """Returns the encoder of a folder, see `methods.core.folders.load_encoder`.

    Errors: InputError if it is none, or a file of it cannot be read.
    """
    with reading(folder):
        return checked(load_encoder(folder, pooling=pooling), folder)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Makes an InputError of what libraries raise in the block about the files of a model's folder.

    They have errors of many types for a damaged file, and tokenizers raises a bare Exception. Errors of the
    system, which have a number, and errors that are in one line already are left as they are.
    """
    check_plain(folder, again=AGAIN)
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
            raise
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{folder}: cannot be read as a model ({type(error).__name__}: {reason}); {AGAIN}"
        ) from error


def checked(encoder: Any, folder: Path) -> Any:
    """Returns the encoder. Errors: InputError if its tokenizer has an id for which it has no vector."""
    tokenizer, backbone = (getattr(encoder, name, None) for name in ("tokenizer", "backbone"))
    if tokenizer is not None and backbone is not None:
        vectors = backbone.get_input_embeddings().num_embeddings
        highest = max(tokenizer.get_vocab().values(), default=-1)
        if highest >= vectors:
            raise InputError(
                f"{folder}: word piece {highest} of a model with {vectors}, expected less; {AGAIN}"
            )
    return encoder


class CheckedNetworks(Networks):
    """The networks of a run, from folders whose damage is told in one line."""

    def new_encoder(self, *, hf_pooler: bool = False, **config: Any) -> Any:
        """Returns a fresh copy of the backbone, as of `Networks`."""
        with reading(self.backbone):
            return checked(super().new_encoder(hf_pooler=hf_pooler, **config), self.backbone)

    def parent_encoder(self, needs: str, **options: Any) -> Any:
        """Returns the parent as an encoder, as of `Networks`."""
        with reading(self._parent_folder(needs)):
            return checked(super().parent_encoder(needs, **options), self._parent_folder(needs))

    def parent_masked_model(self, needs: str, **options: Any) -> Any:
        """Returns the parent as a masked language model, as of `Networks`."""
        with reading(self._parent_folder(needs)):
            return super().parent_masked_model(needs, **options)
