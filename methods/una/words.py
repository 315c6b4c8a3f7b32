"""The words of a sentence, as NLTK's word tokenizer divides it."""

from __future__ import annotations

from functools import cache
from typing import Any

DOTTED_I = "\u0130"
"""The one letter that is longer in lower case, so that a word would no longer be found where it stands."""


@cache
def _tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def lower(text: str) -> str:
    """Returns the text in lower case, as long as it was."""
    return text.replace(DOTTED_I, "I").lower()


def words(text: str) -> list[str]:
    """Returns the lower-cased word tokens of a sentence, punctuation apart.

    Source: NLTK's `word_tokenize`, which the released code calls, without its division into sentences.
    """
    tokens: list[str] = _tokenizer().tokenize(lower(text))
    return tokens
