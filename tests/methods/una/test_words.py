"""The words of a sentence: known examples, and equality with NLTK's tokenizer on whole texts."""

from __future__ import annotations

import random
import re

import pytest
from nltk.tokenize.destructive import MacIntyreContractions, NLTKWordTokenizer

from methods.una.words import PLAIN, lower, words

MARKS = [
    *".,:;'\"`()[]{}<>*?!#$%&-", "''", "``", "--", "..", "'s", "'ll", "n't", "'re", "'t", "'tis",
    "'n", "d'ye",
    "\u00ab", "\u00bb", "\u201c", "\u201d", "\u2018", "\u2019", "\u2014", "\u00b2", "\u0131", "\u017f",
]  # fmt: skip
WORDS = [
    "a",
    "b1",
    "42",
    "cat",
    "S",
    "\u00c9t\u00e9",
    "cannot",
    "Gimme",
    "gonna",
    "gotta",
    "lemme",
    "wanna",
    "more",
]
BLANKS = ["  ", "\t", "\u00a0", " \n"]


def test_words_are_those_of_nltk_in_lower_case_with_punctuation_apart() -> None:
    assert words('He said: "I can\'t", twice.') == [
        "he", "said", ":", "``", "i", "ca", "n't", "''", ",", "twice", ".",
    ]  # fmt: skip
    assert words("Born in 1956. Died U.S.") == ["born", "in", "1956.", "died", "u.s", "."]
    assert words("\u0130stanbul \u65e5\u672c \u00df\u00c9") == ["istanbul", "\u65e5\u672c", "\u00df\u00e9"]
    assert words("") == words(" \t") == []


def piece(rng: random.Random) -> str:
    """One word with up to three marks around it, or parts at random."""
    if rng.random() < 0.3:
        return "".join(rng.choice([*MARKS, *WORDS]) for _ in range(rng.randint(1, 4)))
    before, after = (["", "", "", "(", '"'], ["", "", "", "", "'s", ")", ",", ".", '"', "-cat"])
    return rng.choice(before) + rng.choice(WORDS) + rng.choice(after) + rng.choice(after) + rng.choice(after)


def test_words_equal_the_tokenizer_on_the_whole_text() -> None:
    rng, tokenizer, plain = random.Random(0), NLTKWordTokenizer(), 0
    for _ in range(3_000):
        pieces = [piece(rng) for _ in range(rng.randint(1, 7))]
        plain += sum(PLAIN.fullmatch(part.lower()) is not None for part in pieces)
        text = " ".join(pieces)
        if rng.random() < 0.05:
            text = text.replace(" ", rng.choice(BLANKS), 1)
        assert words(text) == tokenizer.tokenize(lower(text)), text
    assert plain > 1_500


def test_no_word_that_the_tokenizer_divides_counts_as_plain() -> None:
    patterns = [*MacIntyreContractions.CONTRACTIONS2, *MacIntyreContractions.CONTRACTIONS3]
    divided = ["".join(re.findall(r"\(([\w']+)\)", pattern.replace("(?i)", ""))) for pattern in patterns]
    assert len(divided) == 10
    assert "cannot" in divided
    for word in divided:
        assert not any(PLAIN.fullmatch(form) for form in (word, f"{word},", f"({word})", f"cat-{word}"))


@pytest.mark.parametrize("text", ["the cat sat. )", "the cat sat .", "the cat (sat.) '' \u201d"])
def test_a_last_period_is_found_across_blanks(text: str) -> None:
    assert words(text) == NLTKWordTokenizer().tokenize(text)
    assert words(text)[2:5] != ["sat.", ")"]
