"""Sentences rewritten by their semantic roles: who does, what is done, whether denied, to whom.

A tagger is not part of this package. Either a file brings the rewritten sentences, or HanLP, if installed,
tags the corpus once before training.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from methods.core.errors import InputError

ORDER = ("ARG0", "PRED", "ARGM-NEG", "ARG1")
"""Roles that are kept, in the order they are written (PropBank names; PRED is the predicate itself)."""

MODEL = "UD_ONTONOTES_TOK_POS_LEM_FEA_NER_SRL_DEP_SDP_CON_XLMR_BASE"
"""HanLP's multilingual model with OntoNotes roles; PT-BERT does not name its tagger."""

CHUNK = 64
"""Sentences the tagger receives at once."""


class Span(NamedTuple):
    """Words start to end - 1 of a sentence and the role they have."""

    role: str
    start: int
    end: int


def rewrite(words: Sequence[str], frames: Sequence[Sequence[Span]]) -> str | None:
    """Returns the roles of each predicate in ORDER, predicate after predicate; None if no role is kept.

    Source: PT-BERT's SRL-guided MoCo baseline. Spans of an equal role keep their order in the sentence.
    """
    parts = [
        word
        for spans in frames
        for role in ORDER
        for span in sorted(spans, key=lambda span: span.start)
        if span.role == role
        for word in words[span.start : span.end]
    ]
    return " ".join(parts) if parts else None


def rewrite_all(sentences: Sequence[str]) -> list[str]:
    """Returns each sentence rewritten by HanLP's roles; one without a predicate stays as it is.

    Errors: InputError if HanLP is not installed.
    """
    try:
        hanlp: Any = import_module("hanlp")
    except ModuleNotFoundError:
        raise InputError(
            "key_view roles without role_file needs HanLP, which is not installed; install the extra "
            "`roles`, or give a role_file of `sentence<TAB>rewritten` lines"
        ) from None
    tagger = hanlp.load(getattr(hanlp.pretrained.mtl, MODEL))
    rewritten: list[str] = []
    for start in range(0, len(sentences), CHUNK):
        chunk = list(sentences[start : start + CHUNK])
        tagged = tagger(chunk, tasks=["tok", "srl"])
        for sentence, words, frames in zip(chunk, tagged["tok"], tagged["srl"], strict=True):
            spans = [[Span(role, begin, end) for _, role, begin, end in frame] for frame in frames]
            rewritten.append(rewrite(words, spans) or sentence)
    return rewritten


def read_rewritten(file: Path, sentences: Sequence[str]) -> list[str]:
    """Returns each sentence's rewrite from a file of two columns; one that the file lacks stays as it is.

    Errors: InputError if there is no such file, a line has not two columns, or no sentence is in the file.
    """
    if not file.is_file():
        raise InputError(
            f"{file}: no such file, role_file expects `sentence<TAB>rewritten` lines; "
            "make it with a role tagger or name another"
        )
    rewritten: dict[str, str] = {}
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            columns = line.rstrip("\n").split("\t")
            if len(columns) != 2 or not columns[1].strip():
                raise InputError(
                    f"{file}, line {number}: {len(columns)} columns, expected `sentence<TAB>rewritten`, "
                    "both filled; fix the line"
                )
            rewritten[columns[0]] = columns[1]
    if not any(sentence in rewritten for sentence in sentences):
        raise InputError(
            f"{file}: none of the {len(sentences)} training sentences is in its first column; "
            "give the file that was made from this corpus"
        )
    return [rewritten.get(sentence, sentence) for sentence in sentences]
