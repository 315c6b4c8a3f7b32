"""Derived texts, cached on disk by a hash of everything that determines them."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress

from harness.errors import InputError
from harness.io.files import write_record
from harness.io.records import read_object
from harness.paths import made_texts

TEXTS_KEY = "texts"
"""Key of the texts in a cache file."""


def kept(texts: Sequence[str], make: Callable[[str], str], *, by: Sequence[str]) -> list[str]:
    """Returns `make` of each text.

    by: everything else that determines the result; with the texts it names the file. If a file is damaged or
    cannot be written, the texts are computed again.
    """
    name = hashlib.sha256(json.dumps([list(by), list(texts)]).encode()).hexdigest()
    path = made_texts() / f"{name}.json"
    if path.is_file():
        with suppress(InputError):
            cached: list[str] = read_object(path, TEXTS_KEY, again="delete it")[TEXTS_KEY]
            return cached
    made = [make(text) for text in texts]
    with suppress(OSError):
        write_record(path, {TEXTS_KEY: made})
    return made
