"""The two forms of a sentence: raw as published, and the form of SentEval's files."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.data.kept_texts import kept


@cache
def _tokenizer() -> Any:
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang="en")


def senteval_text(text: str) -> str:
    """Returns raw text in SentEval's form: Moses tokens without escapes, lower-cased, joined by blanks.

    Reproduces SentEval's text of every sentence of the published STS sets of 2012 to 2016 and of the STS
    benchmark.
    """
    tokens = str(_tokenizer().tokenize(text, return_str=True, escape=False))
    return " ".join(tokens.lower().split())


def senteval_texts(texts: Sequence[str]) -> list[str]:
    """Returns `senteval_text` of each text, cached on disk by the texts, this module and the tokeniser."""
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return kept(texts, senteval_text, by=[code, version("sacremoses")])
