"""The words of a sentence, as NLTK's word tokenizer divides it, and others where they stood."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

DOTTED_I = "\u0130"
"""The one letter that is longer in lower case, so that a word would no longer be found where it stands."""

QUOTES = ('"', "``", "''")
"""What a double quotation mark may look like in a text; the word tokenizer writes the latter two."""


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


def matched(text: str, before: Sequence[str], after: Sequence[str]) -> str:
    """Returns `text` with each word of `before` that differs in `after` exchanged where it stands.

    The new word takes the case of the old one: capitals, one capital, or none. All else stays as it was
    written, so that a cased tokenizer cannot tell the copy by its style.
    Shapes: before, after equally many words; `before` are the word tokens of the lower-cased text, in order.
    """
    lowered, written, end = lower(text), [], 0
    for old, new in zip(before, after, strict=True):
        start, stop = find_word(lowered, old, end)
        kept = text[start:stop]
        written += [text[end:start], kept if new == old else in_case_of(kept, new)]
        end = stop
    return "".join([*written, text[end:]])


def find_word(lowered: str, word: str, start: int) -> tuple[int, int]:
    """Returns where the next occurrence of a word token begins and ends; any quotation mark for a quote."""
    forms = QUOTES if word in QUOTES else (word,)
    begin, form = min((begin, form) for form in forms if (begin := lowered.find(form, start)) >= 0)
    return begin, begin + len(form)


def in_case_of(old: str, new: str) -> str:
    """Returns the lower-case word `new` in capitals, with one capital or as it is, whichever `old` has."""
    if new in QUOTES:
        return '"'
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
