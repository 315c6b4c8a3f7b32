"""Synonyms read from WordNet's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.data.wordnet import WordNet
from harness.errors import InputError
from tests.harness.data.tiny_wordnet import write_wordnet

DEBIAN = Path("/usr/share/wordnet")
REAL = {
    "swiftly": ("fleetly",),
    "axes": ("ax", "axe", "axis", "axis of rotation", "axis vertebra", "bloc"),
}
"""Synonyms in the files of Debian's package wordnet-base 3.0."""


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return WordNet(write_wordnet(tmp_path_factory.mktemp("wordnet")))


@pytest.mark.parametrize(
    ("word", "synonyms"),
    [
        ("dog", ("canis familiaris",)),
        ("man", ("adult male",)),
        ("run", ("flee", "go", "operate")),
        ("old", ("aged",)),
        ("quickly", ("fast",)),
        ("river", ()),
        ("unknown", ()),
    ],
)
def test_synonyms_are_the_other_words_of_all_synsets(
    wordnet: WordNet, word: str, synonyms: tuple[str, ...]
) -> None:
    assert wordnet.synonyms(word) == synonyms


def test_inflected_forms_have_the_synonyms_of_their_base_and_the_base(wordnet: WordNet) -> None:
    """By ending: dogs, tries, tried, trying. By exception: geese, ran, bigger. In capitals: Dogs."""
    assert wordnet.synonyms("dogs") == ("canis familiaris", "dog")
    assert wordnet.synonyms("Dogs") == ("canis familiaris", "dog")
    for form in ("tries", "trying"):
        assert wordnet.synonyms(form) == ("attempt", "try")
    assert wordnet.synonyms("geese") == ("fathead", "goose")
    assert wordnet.synonyms("ran") == ("flee", "go", "operate", "run")
    assert wordnet.synonyms("bigger") == ("big", "large")


def test_an_irregular_form_that_is_also_regular_has_both_readings(wordnet: WordNet) -> None:
    """axes is listed as the plural of axis and is regularly that of axe."""
    assert wordnet.synonyms("axes") == ("ax", "axe", "axis", "axis vertebra")


def test_a_missing_file_says_which_package_brings_it(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path / "wordnet")
    (folder / "data.verb").unlink()
    with pytest.raises(InputError, match=r"no data\.verb.*apt-get install wordnet-base"):
        WordNet(folder)


def test_a_torn_line_is_one_clear_line(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path / "wordnet")
    text = (folder / "index.noun").read_text()
    (folder / "index.noun").write_text(text + "zebra n 1\n")
    with pytest.raises(InputError, match=r"wordnet: not the database files.*a line has too few fields"):
        WordNet(folder)


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="the system package wordnet-base is not installed")
def test_the_real_files_know_real_words() -> None:
    wordnet = WordNet(DEBIAN)
    assert {"fast", "speedy"} <= set(wordnet.synonyms("quick"))
    assert {word: wordnet.synonyms(word) for word in REAL} == REAL
    assert wordnet.synonyms("the") == ()
