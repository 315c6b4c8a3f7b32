"""WordNet in the layout of its own distribution: index.POS, data.POS and POS.exc.

Source: the manual pages wndb(5WN) and morphy(7WN). An index line names a lemma's synsets by their byte
offsets in the data file; a data line lists the words of one synset.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from harness.data.lines import decoded_lines
from harness.errors import InputError

PARTS = ("noun", "verb", "adj", "adv")
FILES = tuple(name for part in PARTS for name in (f"index.{part}", f"data.{part}", f"{part}.exc"))
ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
"""Endings of inflected forms and, after the colon, what stands for them in the base form."""


class WordNet:
    """The synonyms of words: all other lemmas of all synsets of a word's base forms."""

    def __init__(self, folder: Path) -> None:
        """Reads the folder. Errors: InputError if a file is missing or a line has too few fields."""
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise InputError(
                f"{folder}: no {missing[0]}, expected the database files of WordNet 3.x; "
                "`apt-get install wordnet-base` brings them, then `sentbench data fetch wordnet`"
            )
        self._offsets = {part: _read_index(folder / f"index.{part}") for part in PARTS}
        self._words = {part: _read_synsets(folder / f"data.{part}") for part in PARTS}
        self._exceptions = {part: _read_exceptions(folder / f"{part}.exc") for part in PARTS}
        self.synonyms = lru_cache(maxsize=100_000)(self._synonyms)

    def base_forms(self, word: str, part: str) -> list[str]:
        """Returns the lemmas of one part of speech that `word` may be a form of."""
        candidates = [word, *self._exceptions[part].get(word, ())]
        candidates += [
            word.removesuffix(ending) + base
            for ending, base in (rule.split(":") for rule in ENDINGS[part].split())
            if word.endswith(ending)
        ]
        return [form for form in dict.fromkeys(candidates) if form in self._offsets[part]]

    def _synonyms(self, word: str) -> tuple[str, ...]:
        """Returns the other lemmas of the word's synsets, sorted, in lower case with blanks."""
        lowered = word.lower()
        found = {
            lemma
            for part in PARTS
            for form in self.base_forms(lowered, part)
            for offset in self._offsets[part][form]
            for lemma in self._words[part][offset]
        }
        return tuple(sorted(found - {lowered}))


def _read_index(path: Path) -> dict[str, tuple[int, ...]]:
    """Returns lemma -> offsets of its synsets: the last fields of a line, as many as the third says."""
    return {
        fields[0]: tuple(int(offset) for offset in fields[-int(fields[2]) :])
        for fields in _fields(path, least=7)
    }


def _read_synsets(path: Path) -> dict[int, tuple[str, ...]]:
    """Returns offset -> words: the count is hexadecimal, a word is followed by one more field."""
    return {
        int(fields[0]): tuple(_plain(word) for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2])
        for fields in _fields(path, least=6)
    }


def _read_exceptions(path: Path) -> dict[str, tuple[str, ...]]:
    return {fields[0]: tuple(fields[1:]) for fields in _fields(path, least=2)}


def _fields(path: Path, *, least: int) -> list[list[str]]:
    """Returns the fields of every line but those of the licence, which begin with a blank."""
    found = []
    for number, line in decoded_lines(path):
        if line.startswith(" "):
            continue
        fields = line.split()
        if len(fields) < least:
            raise InputError(
                f"{path}: line {number} has {len(fields)} fields, expected at least {least}; fetch it again"
            )
        found.append(fields)
    return found


def _plain(word: str) -> str:
    """Returns a word of a data file as text, without the marker of an adjective's place."""
    return word.split("(")[0].replace("_", " ").lower()
