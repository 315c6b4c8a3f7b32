"""The two forms of a sentence: raw as published, and the form that SentEval's files are in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.files import sha256_of, write_json
from harness.paths import made_texts
from harness.records import read_object, sealed

TEXTS = "texts"
"""Entry of a file of texts that were brought into SentEval's form."""


@cache
def _tokenizer() -> Any:
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang="en")


def senteval_text(text: str) -> str:
    """Returns raw text in SentEval's form: Moses tokens without escapes, lower-cased, joined by blanks.

    Facts: turns every sentence of the published STS sets of 2012 to 2016 and of the STS benchmark into the
    one that SentEval's files hold.
    """
    tokens = str(_tokenizer().tokenize(text, return_str=True, escape=False))
    return " ".join(tokens.lower().split())


def senteval_texts(texts: Sequence[str]) -> list[str]:
    """Returns `senteval_text` of each text, kept on disk by all that determines it.

    The name of the file is a hash of the texts, of this module and of the tokeniser's version, and its
    content is sealed: a file that is damaged or cannot be written costs the time to make the texts again.
    """
    decides = [sha256_of(Path(__file__)), version("sacremoses"), list(texts)]
    place = made_texts() / f"{hashlib.sha256(json.dumps(decides).encode()).hexdigest()}.json"
    if place.is_file():
        with suppress(InputError):
            kept: list[str] = read_object(place, TEXTS, again="delete it")[TEXTS]
            return kept
    made = [senteval_text(text) for text in texts]
    with suppress(OSError):
        write_json(place, sealed({TEXTS: made}))
    return made
