"""The two forms of a sentence: raw as published, and the form that SentEval's files are in."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _tokenizer() -> Any:
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang="en")


def senteval_text(text: str) -> str:
    """Returns raw text in SentEval's form: Moses tokens without escapes, lower-cased, joined by blanks.

    Facts: turns every sentence of the published STS benchmark into the one of SentEval's STSBenchmark files.
    """
    return str(_tokenizer().tokenize(text, return_str=True, escape=False)).lower()
