"""Synonyms of WordNet, read by NLTK from the files of WordNet's distribution."""

import io
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import nltk.data
from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError

from harness.errors import InputError

PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
FILES = tuple(name for part in PARTS_OF_SPEECH for name in (f"index.{part}", f"data.{part}", f"{part}.exc"))


class WordNet:
    """The synonyms of words: all other lemmas of all synsets of a word's base forms."""

    def __init__(self, folder: Path) -> None:
        """Reads the folder. Errors: InputError if a file is missing or damaged."""
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise InputError(
                f"{folder}: no {missing[0]} of WordNet 3.0; "
                "`apt-get install wordnet-base` installs them, then `sentbench data fetch wordnet`"
            )
        nltk.data.path.append(str(folder.resolve()))  # NLTK reads only from registered folders
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NLTK warns that other languages are missing
                self._reader = _Reader(str(folder), None)
        except (WordNetError, ValueError, StopIteration, IndexError) as error:
            reason = str(error) or "a line has too few fields"
            raise InputError(
                f"{folder}: not the database files of WordNet 3.0 ({reason}); fetch them again"
            ) from None
        self.synonyms = lru_cache(maxsize=100_000)(self._synonyms)

    def _synonyms(self, word: str) -> tuple[str, ...]:
        """Returns the other lemmas of the word's synsets, sorted, in lower case with blanks.

        A listed irregular form may also be a regular form of another word, so both count.
        """
        synsets = [
            synset
            for irregular in (True, False)
            for synset in self._reader.synsets(word.lower(), check_exceptions=irregular)
        ]
        lemmas = {name.replace("_", " ").lower() for synset in synsets for name in synset.lemma_names()}
        return tuple(sorted(lemmas - {word.lower()}))


class _Reader(WordNetCorpusReader):
    """NLTK's reader without the files that synonyms do not need and Debian does not ship.

    These are `lexnames`, the names of the lexicographers' files, and `index.sense`, which NLTK uses for other
    languages.
    """

    def open(self, file: str) -> Any:
        if file == "lexnames":
            return io.StringIO("".join(f"{number:02d} file{number:02d} 0\n" for number in range(45)))
        return super().open(file)

    def map_wn(self, version: str = "wordnet") -> None:
        return None
