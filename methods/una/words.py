"""The words of a sentence, as NLTK's word tokenizer divides it, most of them without running its rules."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

DOTTED_I = "\u0130"
"""The one letter that is longer in lower case, so that a word would no longer be found where it stands."""

PLAIN = re.compile(
    r"(?!.*(?:cannot|gimme|gonna|gotta|lemme|wanna))"
    r"(\(?)([a-z0-9\u00e0-\u00f6\u00f8-\u00ff]+(?:-[a-z0-9\u00e0-\u00f6\u00f8-\u00ff]+)*)('s)?(\)?)([,;:?!]?)(\.?)"
)
"""Pieces between blanks whose tokens are the groups, the period only at the end of a text; not the words that
the tokenizer divides for themselves."""

REMEMBERED = 2**14
"""Pieces between blanks whose division is kept; bounds the memory."""


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
    Facts: of its rules only that of the last period looks beyond a blank: back from the end of the text, over
    closing marks and blanks. So pieces between single blanks are divided one by one, unless the last has
    neither letter nor digit.
    """
    text = lower(text)
    *pieces, last = text.split(" ")
    if len(pieces) < 2 or [*pieces, last] != text.split() or not any(map(str.isalnum, last)):
        return _tokenize(text)
    found: list[str] = []
    for piece in pieces:
        plain = PLAIN.fullmatch(piece)
        if plain and not plain[6]:
            found += filter(None, plain.groups())
        elif found:
            found += _divided(f"x {piece} x")[1:-1]
        else:
            found += _divided(f"{piece} x")[:-1]
    plain = PLAIN.fullmatch(last)
    if plain and not (plain[5] and plain[6]):
        return [*found, *filter(None, plain.groups())]
    return [*found, *_divided(f"x {last}")[1:]]


def forget_divisions() -> None:
    """Lets go of the remembered divisions, which lie among the texts of a corpus and keep their memory."""
    _divided.cache_clear()


@lru_cache(REMEMBERED)
def _divided(text: str) -> tuple[str, ...]:
    return tuple(_tokenize(text))


def _tokenize(text: str) -> list[str]:
    tokens: list[str] = _tokenizer().tokenize(text)
    return tokens
