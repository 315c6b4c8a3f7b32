"""The words of a sentence on known examples, and others written in the case and spacing of the sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.una.words import find_word, in_case_of, lower, matched, words

SENTENCES = [
    'He said "stop" (twice), didn\'t he?',
    "  Two  blanks\tand a tab. U.S. rules. ",
    "``Old'' quotes and 'single' ones, cannot gimme.",
    "\u0130stanbul, \u201cquoted\u201d \u2014 \u00c9COLE's end...",
]


def test_words_are_those_of_nltk_in_lower_case_with_punctuation_apart() -> None:
    assert words('He said: "I can\'t", twice.') == [
        "he", "said", ":", "``", "i", "ca", "n't", "''", ",", "twice", ".",
    ]  # fmt: skip
    assert words("Born in 1956. Died U.S.") == ["born", "in", "1956.", "died", "u.s", "."]
    assert words("\u0130stanbul \u65e5\u672c \u00df\u00c9") == ["istanbul", "\u65e5\u672c", "\u00df\u00e9"]
    assert words("") == words(" \t") == []


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
