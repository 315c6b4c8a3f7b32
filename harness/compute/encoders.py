"""Reading an encoder's folder: whatever a library says about a damaged file is one line about the folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.disk.records import check_plain
from harness.errors import InputError
from methods.core.model_files import in_one_line
from methods.core.networks import Networks
from methods.core.reading import read_any

MARKS = ("config.json", "modules.json", "sentbench.json", "vectors.safetensors")
"""Files of which every model folder has one."""

TRIAL = ["A man plays a guitar.", "A dog sleeps"]
"""Texts of two lengths: a model that fails on them is refused before any data are read."""


def read_encoder(folder: Path, *, pooling: str | None = None) -> Any:
    """Returns the encoder of a folder, see `methods.core.reading.read_any`; its notes go to standard error.

    Errors: InputError if it is none, or a file of it cannot be read.
    """
    with reading(folder):
        encoder, notes = read_any(folder, pooling=pooling)
        checked(encoder, folder)
    for note in notes:
        print(f"sentbench: {note}", file=sys.stderr)
    return encoder


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Makes an InputError of what libraries raise in the block about the files of a model's folder.

    Errors: InputError also where a file would keep a reader waiting; see `in_one_line` for what passes.
    """
    if any(os.path.lexists(folder / name) for name in MARKS):  # else it is refused at once, however large
        check_plain(folder, again="get the folder again")
    with in_one_line(folder):
        yield


def checked(encoder: Any, folder: Path) -> Any:
    """Returns the encoder, after it has encoded two texts.

    Errors: InputError if no finite vectors come out.
    """
    if not np.isfinite(encoder.encode(TRIAL)).all():
        raise InputError(f"{folder}: gives vectors that are not finite; check its weights")
    return encoder


class CheckedNetworks(Networks):
    """The networks of a run, from folders whose damage is told in one line."""

    def new_encoder(self, *, hf_pooler: bool = False) -> Any:
        """Returns a fresh copy of the backbone, as of `Networks`."""
        with reading(self.backbone):
            return checked(super().new_encoder(hf_pooler=hf_pooler), self.backbone)

    def parent_encoder(self, needs: str, **options: Any) -> Any:
        """Returns the parent as an encoder, as of `Networks`."""
        with reading(self._parent_folder(needs)):
            return checked(super().parent_encoder(needs, **options), self._parent_folder(needs))

    def parent_masked_model(self, needs: str, **options: Any) -> Any:
        """Returns the parent as a masked language model, as of `Networks`."""
        with reading(self._parent_folder(needs)):
            return super().parent_masked_model(needs, **options)
