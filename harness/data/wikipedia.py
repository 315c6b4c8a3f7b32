"""Wikitext to plain sentences: prose only, one sentence at a time, in the order of the dump.

Markup is parsed by mwparserfromhell and sentences are split by sentencex; this module selects the text to
keep.
"""

import bz2
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import mwparserfromhell
import sentencex
from mwparserfromhell import nodes
from mwparserfromhell.wikicode import Wikicode

from harness.errors import InputError

GAP = "\ufffc"
"""Marks where something unreadable (a formula, a template) was removed; a sentence with a gap is dropped."""

DROPPED_LINE = "\ufffd"
"""Marks a line that is not prose (list items, definitions); the line is dropped."""

SILENT_TAGS = {"ref", "references", "br", "gallery", "imagemap", "table", "noinclude", "timeline", "section"}
SILENT_TEMPLATES = re.compile(
    r"cite|citation|cn$|fact$|sfn|harv|r$|rp$|refn|efn|note|main|see also|further|details|about|for$|"
    r"use |pp-|dead link|when$|who$|which$|clarify|dubious|page needed|verify|anchor|clear|portal|toc|"
    r"infobox|coord|redirect|multiple image|good article|featured article|dmy|mdy|unreferenced|refimprove|"
    r"original|by whom|specify|failed verification|full|update|better source|lead|weasel|vague|"
    r"attribution|reflist",
    re.IGNORECASE,
)
SPOKEN_TEMPLATES = {
    "lang",
    "lang-en",
    "nowrap",
    "nobr",
    "transl",
    "transliteration",
    "abbr",
    "sc",
    "smallcaps",
}
UNREADABLE_TAGS = {"math", "code", "pre", "syntaxhighlight", "source", "score", "sup", "sub", "nowiki"}
NAMESPACE = re.compile(r"^:?\s*(file|image|category|media|wikt|[a-z]{2,3}(-[a-z]+)?)\s*:", re.IGNORECASE)

SHORTEST, LONGEST = 5, 60
"""Fewest and most words of a sentence that is kept."""

STARTS = re.compile(r"[\"'“‘(]?[A-Z0-9]")
ENDS = re.compile(r"[.!?][\"'”’)]?$")
MARKUP = re.compile(r"[|{}<>\[\]=*]|__|''|https?:")
EMPTY_BRACKETS = re.compile(r"\s*\([\s,;:.]*\)")
OPEN_BRACKETS = re.compile(r"\([\s,;]+")


def sentences_of_dump(path: Path) -> Iterator[str]:
    """Yields the distinct prose sentences of all articles of a bzip2 XML dump, in order.

    Errors: InputError if the file is not a complete bzip2 file or not XML.
    """
    seen: set[str] = set()
    try:
        for wikitext in articles(path):
            for sentence in sentences_of_wikitext(wikitext):
                if sentence not in seen:
                    seen.add(sentence)
                    yield sentence
    except (EOFError, OSError, ElementTree.ParseError) as error:
        raise InputError(f"{path.name}: not a complete Wikipedia dump ({error}); download it again") from None


def articles(path: Path) -> Iterator[str]:
    """Yields the wikitext of every article (name space 0, no redirects) of a dump."""
    with bz2.open(path) as file:
        for _, element in ElementTree.iterparse(file):
            if not element.tag.endswith("}page"):
                continue
            prefix = element.tag.removesuffix("page")
            space = element.findtext(f"{prefix}ns", "0")
            text = element.findtext(f"{prefix}revision/{prefix}text") or ""
            if space == "0" and element.find(f"{prefix}redirect") is None:
                yield text
            element.clear()


def sentences_of_wikitext(wikitext: str) -> Iterator[str]:
    """Yields the prose sentences of one article's wikitext."""
    for line in plain_text(mwparserfromhell.parse(wikitext)).split("\n"):
        if DROPPED_LINE in line or not line.strip():
            continue
        for sentence in sentencex.segment("en", tidy(line)):
            if is_prose(sentence.strip()):
                yield sentence.strip()


def plain_text(wikicode: Wikicode) -> str:
    """Returns the readable text of parsed wikitext, with marks for removed parts."""
    return "".join(_text_of(node) for node in wikicode.nodes)


def _text_of(node: nodes.Node) -> str:
    match node:
        case nodes.Text():
            return str(node.value)
        case nodes.Wikilink() if NAMESPACE.match(str(node.title)):
            return ""
        case nodes.Wikilink():
            return plain_text(node.text if node.text is not None else node.title)
        case nodes.Tag():
            return _text_of_tag(node)
        case nodes.Template():
            return _text_of_template(node)
        case nodes.ExternalLink():
            return plain_text(node.title) if node.title is not None and node.brackets else GAP
        case nodes.HTMLEntity():
            return str(node.normalize())
        case nodes.Heading():
            return "\n"
        case nodes.Comment():
            return ""
        case _:
            return GAP


def _text_of_tag(tag: nodes.Tag) -> str:
    if tag.wiki_markup and set(str(tag.wiki_markup)) <= set("*#:;"):
        return DROPPED_LINE
    name = str(tag.tag).strip().lower()
    if name in SILENT_TAGS:
        return "\n" if name == "table" else ""
    if name in UNREADABLE_TAGS:
        return GAP
    return plain_text(tag.contents) if tag.contents is not None else ""


def _text_of_template(template: nodes.Template) -> str:
    name = str(template.name).strip()
    if name.lower() in SPOKEN_TEMPLATES and template.params:
        return plain_text(template.params[-1].value)
    return "" if SILENT_TEMPLATES.match(name) else GAP


def tidy(line: str) -> str:
    """Returns the line with single blanks and without the brackets that removed markup left empty."""
    line = EMPTY_BRACKETS.sub("", " ".join(line.replace("\u00ad", "").split()))
    return OPEN_BRACKETS.sub("(", line).replace(" ,", ",").replace(" .", ".")


def is_prose(sentence: str) -> bool:
    """Returns whether a sentence is complete, of a sensible length, and free of gaps and markup."""
    words = sentence.split()
    return (
        SHORTEST <= len(words) <= LONGEST
        and GAP not in sentence
        and STARTS.match(sentence) is not None
        and ENDS.search(sentence) is not None
        and MARKUP.search(sentence) is None
        and sentence.count("(") == sentence.count(")")
        and sentence.count('"') % 2 == 0
        and sum(word[0].islower() for word in words) * 2 >= len(words)
    )
