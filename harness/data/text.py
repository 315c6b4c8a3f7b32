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

    Facts: turns every sentence of the published STS sets of 2012 to 2016 and of the STS benchmark into the
    one that SentEval's files hold.
    """
    tokens = str(_tokenizer().tokenize(text, return_str=True, escape=False))
    return " ".join(tokens.lower().split())
