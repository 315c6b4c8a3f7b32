"""Terms as bytes: every letter comes back, in any order, also half a surrogate pair."""

from __future__ import annotations

import numpy as np
import pytest

from methods.una import vocabulary as module
from methods.una.vocabulary import vocabulary

TERMS = ["a", "\u00e9cole", "\u65e5\u672c", "\U0001f600", "\ud800", "''", "x" * 300]


def test_words_and_texts_are_the_terms_as_they_were() -> None:
    terms = vocabulary(TERMS)
    assert len(terms) == len(TERMS)
    assert [terms.word(number) for number in range(len(TERMS))] == TERMS
    assert terms.words(np.array([3, 3, 0])) == [TERMS[3], TERMS[3], "a"]
    assert terms.words(np.zeros(0, dtype=np.int32)) == []
    assert terms.texts(np.array([1, 4, 0]), np.array([0, 0, 2, 3, 3])) == ["", "\u00e9cole \ud800", "a", ""]


@pytest.mark.parametrize("chunk", [2, 10_000])
def test_another_order_renumbers_the_terms(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    order = np.random.default_rng(0).permutation(len(TERMS))
    ordered = vocabulary(TERMS).ordered(order)
    assert ordered.words(np.arange(len(TERMS))) == [TERMS[number] for number in order]
    assert ordered.ends[-1] == len(ordered.letters)
