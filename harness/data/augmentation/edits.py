"""Word edits of one text: the four operations of EDA with its cleaning of the text, and the two of SimCSE.

Source: Wei and Zou, "EDA: Easy Data Augmentation", EMNLP 2019, and its released code; Gao et al., SimCSE,
table 1, whose code for them is not released. Every edit is a pure function of the words and a NumPy
generator. The count of EDA's edits is a share of the words, rounded down.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from harness.data.augmentation.views import Edit

Synonyms = Callable[[str], Sequence[str]]
"""Word -> its synonyms in a fixed order, without the word itself; possibly empty."""

TRIES = 10
"""Attempts to draw a word with synonyms before an insertion is given up."""

_STOP_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those am is are
was were be been being have has had having do does did doing a an the and but if or because as until while
of at by for with about against between into through during before after above below to from up down in out
on off over under again further then once here there when where why how all any both each few more most
other some such no nor not only own same so than too very s t can will just don should now
"""
"""The words that EDA never replaces by a synonym."""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def edit_text(text: str, view: Edit, rng: np.random.Generator, synonyms: Synonyms) -> str:
    """Returns one text after the operation of a view; at least one word is kept."""
    words = (clean(text) if view.clean else text).split()
    if not words:
        return ""
    edits = max(view.at_least, int(view.share * len(words)))
    match view.kind:
        case "synonym":
            words = replace_by_synonyms(words, rng, edits=edits, synonyms=synonyms)
        case "insert":
            words = insert_synonyms(words, rng, edits=edits, synonyms=synonyms)
        case "swap":
            words = swap_words(words, rng, edits=edits)
        case "delete":
            words = delete_words(words, rng, probability=view.share)
        case "crop":
            words = crop_words(words, rng, share=view.share)
        case "remove":
            words = remove_words(words, rng, share=view.share, at_least=view.at_least)
    return " ".join(words)


def clean(text: str) -> str:
    """Returns the text in lower case with letters and single blanks only, as EDA's code prepares it.

    Apostrophes and quotes are deleted; hyphens and everything else become blanks.
    """
    lowered = re.sub(r"[’'\"]", "", text.lower())
    return " ".join(re.sub(r"[^a-z ]", " ", lowered).split())


def replace_by_synonyms(
    words: Sequence[str], rng: np.random.Generator, *, edits: int, synonyms: Synonyms
) -> list[str]:
    """Returns the words with `edits` different words, drawn among those that are not stop words, replaced.

    Every occurrence of a drawn word is replaced; words without synonyms do not count.
    """
    edited = list(words)
    candidates = sorted({word for word in words if word.lower() not in STOP_WORDS})
    for word in (candidates[index] for index in rng.permutation(len(candidates))):
        if edits <= 0:
            break
        known = synonyms(word)
        if known:
            chosen = known[int(rng.integers(len(known)))]
            edited = [chosen if other == word else other for other in edited]
            edits -= 1
    return edited


def insert_synonyms(
    words: Sequence[str], rng: np.random.Generator, *, edits: int, synonyms: Synonyms
) -> list[str]:
    """Returns the words with `edits` synonyms of random words put before random positions."""
    edited = list(words)
    for _ in range(edits):
        for _ in range(TRIES):
            known = synonyms(edited[int(rng.integers(len(edited)))])
            if known:
                edited.insert(int(rng.integers(len(edited))), known[int(rng.integers(len(known)))])
                break
    return edited


def swap_words(words: Sequence[str], rng: np.random.Generator, *, edits: int) -> list[str]:
    """Returns the words after `edits` exchanges of two different positions."""
    edited = list(words)
    for _ in range(edits if len(words) > 1 else 0):
        first, second = rng.choice(len(edited), size=2, replace=False)
        edited[first], edited[second] = edited[second], edited[first]
    return edited


def delete_words(words: Sequence[str], rng: np.random.Generator, *, probability: float) -> list[str]:
    """Returns the words that stay if each goes with `probability`; one random word if none would be left."""
    kept = [word for word, draw in zip(words, rng.random(len(words)), strict=True) if draw >= probability]
    return kept or [words[int(rng.integers(len(words)))]]


def crop_words(words: Sequence[str], rng: np.random.Generator, *, share: float) -> list[str]:
    """Returns n - round(share n) consecutive words of n, at least one, with a uniform start.

    The rounding and the uniform start are ours: SimCSE's paper states only the share.
    """
    kept = max(1, len(words) - round(share * len(words)))
    start = int(rng.integers(len(words) - kept + 1))
    return list(words[start : start + kept])


def remove_words(words: Sequence[str], rng: np.random.Generator, *, share: float, at_least: int) -> list[str]:
    """Returns the words in order without round(share n) of them, at least `at_least`; one always stays.

    The positions are distinct and uniform. The rounding is ours.
    """
    removed = min(max(at_least, round(share * len(words))), len(words) - 1)
    gone = set(rng.permutation(len(words))[:removed].tolist())
    return [word for position, word in enumerate(words) if position not in gone]
