"""Wikitext to sentences: small articles whose prose is known."""

import bz2
from pathlib import Path

import pytest

from harness.data.wikipedia import is_prose, sentences_of_dump, sentences_of_wikitext
from harness.errors import InputError

ARTICLE = """{{Infobox country|name=Aland}}
'''Aland''' is a [[country]] in the [[Europe|north of Europe]].<ref>{{cite web|title=A}}</ref> It has
<!-- hidden --> many small lakes &amp; rivers.

It lies at {{convert|12|km}} from the nearest large town. The second sentence of the line is kept as well.

[[File:A.jpg|thumb|A caption that nobody should ever read here.]]
== A heading that looks like a whole sentence. ==
* A list item that looks like a whole sentence.
{| class="wikitable"
| A cell that looks like a whole sentence.
|}
The name ({{lang|xx|Álland}}) comes from an old word for water. Its area is <math>x^2</math> in square units.
A [http://x.org site] shows the map of it. Too short this.
[[Category:Countries]]
"""

HEAD = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/">'


def page(text: str, *, ns: int = 0, extra: str = "") -> str:
    return f"<page><title>T</title><ns>{ns}</ns>{extra}<revision><text>{text}</text></revision></page>"


def test_prose_is_kept_and_everything_else_goes() -> None:
    """Dropped: infobox, reference, comment, picture, heading, list, table, category, sentences with a gap (a
    converted length, a formula) and one of fewer than five words. A line break inside a paragraph ends the
    line, so a sentence broken by one is lost, too.
    """
    assert list(sentences_of_wikitext(ARTICLE)) == [
        "Aland is a country in the north of Europe.",
        "The second sentence of the line is kept as well.",
        "The name (Álland) comes from an old word for water.",
        "A site shows the map of it.",
    ]


@pytest.mark.parametrize("name", ["cite web", "For", "use dmy dates", "Infobox country", "refimprove"])
def test_a_template_for_editors_leaves_no_gap_in_a_sentence(name: str) -> None:
    text = f"This one has a template {{{{{name}|what it says}}}}that no reader sees."
    assert list(sentences_of_wikitext(text)) == ["This one has a template that no reader sees."]
    assert not list(sentences_of_wikitext(text.replace(name, "convert")))


@pytest.mark.parametrize(
    "sentence",
    [
        "this one starts in lower case.",
        "This one does not end with a stop",
        "This one (has an open bracket here.",
        'This one "has an open quotation here.',
        "This one has a gap \ufffc in it.",
        "This one keeps | a piece of markup.",
        "This one keeps ''a piece of markup.",
        "Names Only Of Many Towns, London, Paris, Rome.",
    ],
)
def test_an_incomplete_sentence_is_not_prose(sentence: str) -> None:
    assert is_prose("This one is a whole sentence.")
    assert not is_prose(sentence)


@pytest.mark.parametrize(("words", "kept"), [(4, False), (5, True), (60, True), (61, False)])
def test_sentences_of_five_to_sixty_words_are_kept(words: int, kept: bool) -> None:
    assert is_prose(" ".join(["One", *["word"] * (words - 2), "more."])) is kept


def test_articles_only_each_sentence_once_in_their_order(tmp_path: Path) -> None:
    first, second = "The first sentence of it all.", "A second sentence comes after it."
    pages = [
        page(f"{first} {second}"),
        page("A page about pages is left out.", ns=4),
        page("A page that only points elsewhere is left out.", extra='<redirect title="X"/>'),
        page(f"{second} The third sentence is a new one."),
    ]
    path = tmp_path / "wiki.bz2"
    path.write_bytes(bz2.compress("".join([HEAD, *pages, "</mediawiki>"]).encode()))
    assert list(sentences_of_dump(path)) == [first, second, "The third sentence is a new one."]


@pytest.mark.parametrize("content", [b"no bzip2", bz2.compress(b"<a>" * 9)[:-9], bz2.compress(b"<open>")])
def test_damaged_dump_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wiki.bz2").write_bytes(content)
    with pytest.raises(InputError, match=r"wiki\.bz2: not a complete Wikipedia dump"):
        list(sentences_of_dump(tmp_path / "wiki.bz2"))
