"""The words of a sentence on known examples."""

from __future__ import annotations

from methods.una.words import words


def test_words_are_those_of_nltk_in_lower_case_with_punctuation_apart() -> None:
    assert words('He said: "I can\'t", twice.') == [
        "he", "said", ":", "``", "i", "ca", "n't", "''", ",", "twice", ".",
    ]  # fmt: skip
    assert words("Born in 1956. Died U.S.") == ["born", "in", "1956.", "died", "u.s", "."]
    assert words("\u0130stanbul \u65e5\u672c \u00df\u00c9") == ["istanbul", "\u65e5\u672c", "\u00df\u00e9"]
    assert words("") == words(" \t") == []
