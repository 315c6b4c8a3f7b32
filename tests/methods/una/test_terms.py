"""TF-IDF, ranks and scores: a corpus worked by hand, slow loops, and the words of a sentence."""

from pathlib import Path

import numpy as np
import pytest

from methods.core.errors import InputError
from methods.una import terms
from methods.una.corruption import probabilities
from methods.una.terms import (
    Positions,
    Ranking,
    Sentences,
    count_terms,
    in_case_of,
    matched,
    take,
    words,
    words_of,
)
from tests.methods.una.reference import SlowTerms

TOY = ["the cat sat on the mat", "the dog sat", "a cat ran", "the dog ran fast"]


def counted(texts: list[str], unit: str = "position") -> tuple[Ranking, Sentences]:
    return count_terms(texts, sentences=len(texts), unit=unit)


def every(sentences: Sentences) -> Positions:
    return take(sentences, np.arange(len(sentences.ends) - 1))


def random_documents(count: int = 60, seed: int = 0) -> list[list[str]]:
    """Documents of 1 to 12 words from a skewed vocabulary, repeats likely."""
    rng = np.random.default_rng(seed)
    return [
        [f"w{int(word)}" for word in np.minimum(rng.zipf(1.6, size=rng.integers(1, 13)), 40)]
        for _ in range(count)
    ]


def test_the_toy_corpus_has_its_worked_statistics() -> None:
    """N = 4. the is in 3 sentences: ln(4/3); cat, sat, dog, ran in 2: ln 2; on, mat, a, fast in 1: ln 4.

    Largest tf: a ln(4/3) of 3 words, so s = ln(4/3) ln 4 = 0.398812; fast ln(5/4) ln 4; on, mat ln(7/6) ln 4;
    cat, sat, dog, ran ln(4/3) ln 2; the ln(4/3) ln(4/3) in each sentence where it is a third of the words.
    """
    ranking, _ = counted(TOY)
    assert ranking.terms == ["a", "fast", "on", "mat", "cat", "sat", "dog", "ran", "the"]
    expected = [0.398812, 0.309343, 0.213698, 0.213698, 0.199406, 0.199406, 0.199406, 0.199406, 0.082761]
    np.testing.assert_allclose(ranking.relevance, expected, atol=1e-6)
    idf = [1.386294] * 4 + [0.693147] * 4 + [0.287682]
    np.testing.assert_allclose(ranking.idf, idf, atol=1e-6)
    np.testing.assert_allclose(np.diff(ranking.mass), ranking.relevance, atol=1e-15)


def test_words_are_split_once_for_all_runs_on_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept statistics equal those of a new split, also for a text without words, letters of four bytes and an
    empty text.
    """
    texts = [*TOY, "", "\U0001f600 caf\u00e9 \udc80 the"]
    expected = count_terms(texts, sentences=5, unit="type")
    for _ in range(2):
        for split, wanted in zip(
            count_terms(texts, sentences=5, unit="type", folder=tmp_path), expected, strict=True
        ):
            for part, other in zip(split, wanted, strict=True):
                assert np.array_equal(part, other)
        monkeypatch.setattr(terms, "words", None)
    with pytest.raises(TypeError):
        words_of([*texts, "x"], tmp_path)
    assert [len(part) for part in words_of([])] == [0, 0, 1]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("position", [0, 0.233073, 0.233073, 1.266927, 0, 1.266927]),
        ("type", [0, 0.194227, 0.194227, 1.055773, 0, 1.055773]),
    ],
)
def test_scores_of_the_first_toy_sentence_tell_positions_from_types(unit: str, expected: list[float]) -> None:
    """Halved: the mean is over six positions, two of them `the`, or over five distinct terms."""
    _, sentences = counted(TOY, unit)
    np.testing.assert_allclose(0.5 * take(sentences, np.array([0])).ratios, expected, atol=1e-6)


@pytest.mark.parametrize("chunk", [7, 20_000])
def test_statistics_equal_the_slow_loops_at_any_chunk_size(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms, "CHUNK", chunk)
    documents = random_documents()
    ranking, sentences = counted([" ".join(document) for document in documents])
    slow = SlowTerms(documents)
    assert ranking.terms == slow.ranked
    np.testing.assert_allclose(ranking.relevance, [slow.relevance[word] for word in slow.ranked], atol=1e-12)
    assert [slow.ranked[rank] for rank in sentences.ranks] == [word for doc in documents for word in doc]
    actual = probabilities(every(sentences), 0.5)
    np.testing.assert_allclose(
        actual, [p for document in documents for p in slow.probabilities(document, 0.5)], atol=1e-6
    )


def test_augmentations_count_as_documents_and_get_no_scores() -> None:
    texts = [*TOY, "a mat", "the cat"]
    ranking, sentences = count_terms(texts, sentences=len(TOY), unit="position")
    slow = SlowTerms([text.split() for text in texts])
    assert ranking.terms == slow.ranked
    assert len(sentences.ends) == len(TOY) + 1
    np.testing.assert_allclose(
        probabilities(take(sentences, np.array([0])), 0.5), slow.probabilities(TOY[0].split(), 0.5), atol=1e-6
    )


@pytest.mark.parametrize("texts", [["a b", "b a"], ["", ""]])
def test_a_corpus_without_differences_is_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match="use a larger corpus"):
        counted(texts)


@pytest.mark.parametrize("unit", ["position", "type"])
def test_scores_are_the_same_to_the_last_bit_in_any_batch(unit: str) -> None:
    _, sentences = counted([" ".join(document) for document in random_documents(200)], unit)
    together = every(sentences)
    for start in range(0, 200, 7):
        batch = take(sentences, np.arange(start, min(start + 7, 200)))
        words = slice(sentences.ends[start], sentences.ends[min(start + 7, 200)])
        assert batch.ratios.tobytes() == together.ratios[words].tobytes()


SENTENCES = [
    'He said "stop" (twice), didn\'t he?',
    "  Two  blanks\tand a tab. U.S. rules. ",
    "``Old'' quotes and 'single' ones, cannot gimme.",
    "\u0130stanbul, \u201cquoted\u201d \u2014 \u00c9COLE's end...",
]


def test_words_equal_nltks_in_lower_case_with_separate_punctuation() -> None:
    assert words('He said: "I can\'t", twice.') == [
        "he", "said", ":", "``", "i", "ca", "n't", "''", ",", "twice", ".",
    ]  # fmt: skip
    assert words("Born in 1956. Died U.S.") == ["born", "in", "1956.", "died", "u.s", "."]
    assert words("\u0130stanbul \u65e5\u672c \u00df\u00c9") == ["istanbul", "\u65e5\u672c", "\u00df\u00e9"]
    assert words("") == words(" \t") == []


@pytest.mark.parametrize("text", SENTENCES)
def test_a_matched_copy_without_changes_is_the_sentence_itself(text: str) -> None:
    assert matched(text, words(text), words(text)) == text


def test_a_matched_copy_keeps_case_spacing_and_quotes() -> None:
    text = 'The NATO envoy said "hello".'
    before, after = words(text), words(text)
    after[1], after[2], after[5] = "eu", "``", "goodbye"
    assert matched(text, before, after) == 'The EU " said "goodbye".'


def test_the_new_word_takes_the_case_of_the_old() -> None:
    actual = [in_case_of(old, "naples") for old in ("ROME", "Rome", "rome", "I", "1956", "iPod")]
    assert actual == ["NAPLES", "Naples", "naples", "Naples", "naples", "naples"]
