"""Readers of the classification, inference and re-ranking files: kept and refused content."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.data import classification, reranking
from harness.data.reranking import read_askubuntu, read_scidocs
from harness.errors import InputError
from tests.harness.tasks.layouts import LAYOUTS

READERS: dict[str, Callable[[Path], Any]] = {**classification.READERS, **reranking.READERS}


def test_polarity_lines_end_at_line_feeds_only_and_are_latin_1(tmp_path: Path) -> None:
    """Byte 0x85 would end a line for Python's splitlines in latin-1; here it is part of a review."""
    (tmp_path / "rt-polarity.pos").write_bytes(b"caf\xe9 \x85 good\nfine\r\n")
    (tmp_path / "rt-polarity.neg").write_bytes(b"bad")
    part = READERS["MR"](tmp_path)["train"]
    assert part.texts == [("caf\u00e9 \x85 good",), ("fine",), ("bad",)]
    assert part.labels == [1, 1, 0]


MRPC_FILES = "msr_paraphrase_train.txt msr_paraphrase_test.txt"
MRPC = b'Quality\ta\tb\tx\ty\n1\t7\t8\t"open quote\tsecond "text"\n'


@pytest.mark.parametrize(
    ("name", "files", "content", "text", "label"),
    [
        ("TREC", "train_5500.label TREC_10.label", b"NUM:dist How : Caf\xe9 ?\n", ("How : Caf\u00e9 ?",), 5),
        ("TREC", "train_5500.label TREC_10.label", b"NUM:dist a\x81 \x92\n", ("a\x81 \x92",), 5),
        ("MRPC", MRPC_FILES, MRPC, ('"open quote', 'second "text"'), 1),
    ],
)
def test_trec_keeps_the_coarse_type_and_mrpc_quotes_as_text_below_its_header(
    name: str, files: str, content: bytes, text: tuple[str, ...], label: int, tmp_path: Path
) -> None:
    for file in files.split():
        (tmp_path / file).write_bytes(content)
    for part in READERS[name](tmp_path).values():
        assert (part.texts, part.labels) == ([text], [label])


def test_sentences_of_snli_are_latin_1_and_its_labels_are_of_the_same_lines(tmp_path: Path) -> None:
    for part in ("train", "dev", "test"):
        (tmp_path / f"s1.{part}").write_bytes(b"caf\xe9\x92\nb\n")
        (tmp_path / f"s2.{part}").write_bytes(b"c\n\xc3\xa9\n")
        (tmp_path / f"labels.{part}").write_text("neutral\nentailment\n")
    for part in READERS["SNLI"](tmp_path).values():
        assert part.texts == [("caf\u00e9\x92", "c"), ("b", "\u00c3\u00a9")]
        assert [part.classes[label] for label in part.labels] == ["neutral", "entailment"]


PARTS = {
    "SST": {part: part for part in ("train", "dev", "test")},
    "TREC": {"train": "train_5500.label", "test": "TREC_10.label"},
    "MRPC": {part: part for part in ("train", "test")},
    "SICK-E": {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"},
    "SNLI": {part: part for part in ("train", "dev", "test")},
}
"""Reader -> each part and the prefix of its texts in the small layouts: part or file."""


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_read_from_its_own_file(name: str, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path)
    parts = READERS[name](tmp_path)
    marks = {part: {texts[0].split()[0] for texts in parts[part].texts} for part in parts}
    assert marks == {part: {mark} for part, mark in PARTS[name].items()}


def test_askubuntu_skips_queries_without_a_similar_question(tmp_path: Path) -> None:
    LAYOUTS["AskUbuntu"](tmp_path)
    queries = read_askubuntu(tmp_path)["all"]
    assert [query.text for query in queries] == [f"title {1000 * q}" for q in (1, 2, 3, 4, 6, 7, 8, 9)]
    assert {(len(query.candidates), query.positives) for query in queries} == {(20, 4)}
    assert {query.tie_order for query in queries} == {tuple(range(20))}


def test_scidocs_counts_a_relevant_paper_without_a_title_but_does_not_rank_it(tmp_path: Path) -> None:
    LAYOUTS["SciDocs"](tmp_path)
    content = json.loads((tmp_path / "data.json").read_text())
    content["corpus"]["cite0d0"]["title"] = None
    del content["corpus"]["cite0d4"]
    content["corpus"]["cite1"]["title"] = ""
    (tmp_path / "data.json").write_text(json.dumps(content))
    cite = read_scidocs(tmp_path)["cite"]
    assert [query.text for query in cite] == ["title cite0", "title cite2"]
    assert cite[0].candidates == ("title cite0d1", "title cite0d2", "title cite0d3")
    assert (cite[0].relevant, cite[0].positives) == ((True, False, False), 2)
    assert cite[0].tie_order == (2, 1, 0)


IDS = " ".join(map(str, range(1001, 1021)))
SCORES = " ".join(["1"] * 20)
BAD_LINES = [
    ("SST", "sentiment-train", "text\t2", "line 1: unknown label '2'"),
    ("SST", "sentiment-train", "text", "line 1 has 1 columns, expected 2"),
    ("TREC", "TREC_10.label", "why ?", "line 1 is not `TYPE:fine question`"),
    ("TRECQA", "test.jsonl", '{"query": "q", "positive": [], "negative": []}', "line 1 has an empty cand"),
    ("TRECQA", "test.jsonl", '{"query": "q"}', "line 1 is not an object with query, positive"),
    ("AskUbuntu", "test.txt", "1000\t1001", "line 1 has 2 columns, expected 4"),
    ("AskUbuntu", "test.txt", f"77\t1001\t{IDS}\t{SCORES}", "line 1: question 77 has no title"),
    ("AskUbuntu", "test.txt", f"1000\t2001\t{IDS}\t{SCORES}", "line 1: 2001 is similar but not a candidate"),
    ("AskUbuntu", "test.txt", f"1000\t1001\t{IDS}\t1 2", "line 1 has 2 BM25 scores for 20 candidates"),
    ("CR", "custrev.neg", None, "custrev.neg is empty"),
    ("SNLI", "s2.test", "one\ntwo", "have 60, 61 and 60 lines; fetch the data set again"),
]
"""Reader, file, replacement of its first line (None: of all), and the message."""


@pytest.mark.parametrize(("name", "file", "text", "message"), BAD_LINES)
def test_a_bad_line_or_file_is_named(
    name: str, file: str, text: str | None, message: str, tmp_path: Path
) -> None:
    LAYOUTS[name](tmp_path)
    _, _, rest = (tmp_path / file).read_text().partition("\n")
    (tmp_path / file).write_text("" if text is None else f"{text}\n{rest}")
    with pytest.raises(InputError, match=message) as error:
        READERS[name](tmp_path)
    assert "\n" not in str(error.value)


def test_a_query_of_scidocs_without_a_positive_is_named(tmp_path: Path) -> None:
    LAYOUTS["SciDocs"](tmp_path)
    content = json.loads((tmp_path / "data.json").read_text())
    content["test"]["cite"] = {"cite0": {"cite0d3": 0}}
    (tmp_path / "data.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="test/cite query cite0 has no positive"):
        READERS["SciDocs"](tmp_path)


PUBLISHED_ROWS = {
    "MR": ("senteval/downstream/MR", {"train": 10662}),
    "CR": ("senteval/downstream/CR", {"train": 3775}),
    "SUBJ": ("senteval/downstream/SUBJ", {"train": 10000}),
    "MPQA": ("senteval/downstream/MPQA", {"train": 10606}),
    "SST": ("senteval/downstream/SST/binary", {"train": 67349, "dev": 872, "test": 1821}),
    "TREC": ("senteval/downstream/TREC", {"train": 5452, "test": 500}),
    "MRPC": ("senteval/downstream/MRPC", {"train": 4076, "test": 1725}),
    "SICK-E": ("senteval/downstream/SICK", {"train": 4500, "dev": 500, "test": 4927}),
}


@pytest.mark.mirror
@pytest.mark.parametrize("name", PUBLISHED_ROWS)
def test_mirror_files_have_the_published_rows_and_every_class(name: str, mirror: Path) -> None:
    folder, rows = PUBLISHED_ROWS[name]
    parts = READERS[name](mirror / folder)
    assert {part: len(examples.labels) for part, examples in parts.items()} == rows
    assert all(len(Counter(examples.labels)) == len(examples.classes) for examples in parts.values())
