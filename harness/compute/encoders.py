"""Load an encoder; library errors become InputError."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.io.records import check_plain
from methods.core.model_files import in_one_line
from methods.core.networks import Networks
from methods.core.reading import TRIAL, check_finite, read_any

MARKS = ("config.json", "modules.json", "sentbench.json", "vectors.safetensors")
"""Model files; every model folder has at least one of them."""


def read_encoder(folder: Path, *, pooling: str | None = None) -> Any:
    """Returns the encoder of a folder, see `methods.core.reading.read_any`; notes go to standard error.
    Errors: InputError if the folder has no encoder or an unreadable file, or a vector is not finite.
    """
    with reading(folder):
        encoder, notes = read_any(folder, pooling=pooling)
    for note in notes:
        print(f"sentbench: {note}", file=sys.stderr)
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


def checked(encoder: Any, folder: Path) -> Any:
    """Returns the encoder after encoding two texts. Errors: InputError if a vector is not finite."""
    check_finite(encoder.encode(TRIAL), folder)
    return encoder


class CheckedNetworks(Networks):
    """The networks of a run, from folders; a damaged folder raises InputError."""

    def new_encoder(self, *, hf_pooler: bool = False) -> Any:
        """Returns a new copy of the backbone, like `Networks`."""
        with reading(self.backbone):
            return checked(super().new_encoder(hf_pooler=hf_pooler), self.backbone)

    def parent_encoder(self, needs: str, **options: Any) -> Any:
        """Returns the parent as an encoder, like `Networks`."""
        with reading(self._parent_folder(needs)):
            return checked(super().parent_encoder(needs, **options), self._parent_folder(needs))

    def parent_masked_model(self, needs: str, **options: Any) -> Any:
        """Returns the parent as a masked language model, like `Networks`."""
        with reading(self._parent_folder(needs)):
            return super().parent_masked_model(needs, **options)
