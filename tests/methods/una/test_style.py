"""How a copy is written: spaced lower case, or in the case and spacing of its sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.una.style import find_word, in_case_of, matched
from methods.una.words import lower, words

SENTENCES = [
    'He said "stop" (twice), didn\'t he?',
    "  Two  blanks\tand a tab. U.S. rules. ",
    "``Old'' quotes and 'single' ones, cannot gimme.",
    "\u0130stanbul, \u201cquoted\u201d \u2014 \u00c9COLE's end...",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_a_matched_copy_without_changes_is_the_sentence_itself(text: str) -> None:
    assert len(lower(text)) == len(text)
    assert matched(text, words(text), words(text)) == text


def test_a_matched_copy_keeps_case_spacing_and_quotes() -> None:
    text = 'The NATO envoy said "hello".'
    before, after = words(text), words(text)
    after[1], after[2], after[5] = "eu", "``", "goodbye"
    assert matched(text, before, after) == 'The EU " said "goodbye".'


def test_the_new_word_takes_the_case_of_the_old() -> None:
    assert [in_case_of(old, "naples") for old in ("ROME", "Rome", "rome", "I", "1956", "iPod")] == [
        "NAPLES",
        "Naples",
        "naples",
        "Naples",
        "naples",
        "naples",
    ]


def test_words_are_found_in_order_and_a_quote_by_any_of_its_forms() -> None:
    assert find_word("a cat a", "a", 1) == (3, 4)
    assert find_word('so "x"', "``", 2) == (3, 4)
    assert find_word("so ''x", "``", 2) == (3, 5)


@pytest.mark.mirror
def test_every_word_of_the_mirrors_sentences_is_found_with_blanks_alone_between(mirror: Path) -> None:
    texts = (mirror / "corpora/wiki.txt").read_text(encoding="utf-8").splitlines()
    assert len(texts) > 30_000
    for text in texts[::5]:
        end, lowered = 0, lower(text)
        for word in words(text):
            start, stop = find_word(lowered, word, end)
            assert not text[end:start].strip(), text
            end = stop
        assert not text[end:].strip(), text
