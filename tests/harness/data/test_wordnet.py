"""Synonyms read from WordNet's own files."""

from pathlib import Path

import pytest

from harness.data.wordnet import WordNet
from harness.errors import InputError
from tests.harness.data.tiny_wordnet import write_wordnet

DEBIAN = Path("/usr/share/wordnet")
REAL = {
    "swiftly": ("fleetly",),
    "axes": ("ax", "axe", "axis", "axis of rotation", "axis vertebra", "bloc"),
    "the": (),
}
"""Synonyms in the files of Debian's package wordnet-base 3.0."""
SMALL = {
    "dog": ("canis familiaris",),
    "run": ("flee", "go", "operate"),
    "old": ("aged",),
    "quickly": ("fast",),
    "river": (),
    "unknown": (),
    "dogs": ("canis familiaris", "dog"),
    "Dogs": ("canis familiaris", "dog"),
    "tries": ("attempt", "try"),
    "trying": ("attempt", "try"),
    "geese": ("fathead", "goose"),
    "ran": ("flee", "go", "operate", "run"),
    "bigger": ("big", "large"),
    "axes": ("ax", "axe", "axis", "axis vertebra"),
}
"""`axes` is listed as the plural of axis and is regularly the plural of axe."""


def test_synonyms_are_the_other_words_of_all_synsets_of_a_word_and_of_its_base(tmp_path: Path) -> None:
    """An inflected form, by its ending or by exception, has the synonyms of its base, and the base."""
    wordnet = WordNet(write_wordnet(tmp_path))
    assert {word: wordnet.synonyms(word) for word in SMALL} == SMALL


def test_a_missing_file_names_its_package_and_a_torn_line_its_fault(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path / "wordnet")
    with (folder / "index.noun").open("a") as file:
        file.write("zebra n 1\n")
    with pytest.raises(InputError, match=r"wordnet: not the database files.*a line has too few fields"):
        WordNet(folder)
    (folder / "data.verb").unlink()
    with pytest.raises(InputError, match=r"no data\.verb.*apt-get install wordnet-base"):
        WordNet(folder)


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="the system package wordnet-base is not installed")
def test_the_real_files_know_real_words() -> None:
    wordnet = WordNet(DEBIAN)
    assert {word: wordnet.synonyms(word) for word in REAL} == REAL
