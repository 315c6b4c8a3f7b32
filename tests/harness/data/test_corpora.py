"""Training corpora: rows, and every kind of invalid file."""

from pathlib import Path

import pytest

from harness.data.corpora import corpus_file, evenly_spaced, read_corpus
from harness.errors import InputError
from methods.core.rows import Row


def test_one_sentence_a_line_without_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "wiki.txt"
    path.write_bytes("A tab\tstays.\r\n\n  Blanks around go. \nÉ\u2028same line".encode())
    assert read_corpus(path) == [
        Row(0, "A tab\tstays."),
        Row(1, "Blanks around go."),
        Row(2, "É\u2028same line"),
    ]


def test_paraphrases_follow_after_tabs(tmp_path: Path) -> None:
    path = tmp_path / "views.tsv"
    path.write_text("a\tb\tc\n\nd\te \tf\n", encoding="utf-8")
    assert read_corpus(path) == [Row(0, "a", ("b", "c")), Row(1, "d", ("e", "f"))]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.txt", b"", "empty corpus"),
        ("c.tsv", b"\n  \n", "empty corpus"),
        ("c.txt", b"fine\nna\xefve\n", "line 2 is not utf-8"),
        ("c.tsv", b"alone\n", "line 1 has 0 paraphrases, expected a sentence and 1"),
        ("c.tsv", b"a\tb\tc\nd\te\n", "line 2 has 1 paraphrases, expected a sentence and 2"),
        ("c.tsv", b"a\tb\n\tc\n", "line 2 has 1 paraphrases"),
    ],
)
def test_damaged_corpus_is_named_with_its_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_corpus(path)
    assert str(path) in str(caught.value)


def test_file_of_a_fetched_corpus_is_its_only_text_file(tmp_path: Path) -> None:
    (tmp_path / "source.json").write_text("{}")
    (tmp_path / "wiki.txt").write_text("a\n")
    assert corpus_file(tmp_path) == tmp_path / "wiki.txt"
    assert read_corpus(tmp_path) == [Row(0, "a")]
    (tmp_path / "more.tsv").write_text("a\tb\n")
    with pytest.raises(InputError, match=r"text files more\.tsv, wiki\.txt; name one"):
        corpus_file(tmp_path)
    assert corpus_file(tmp_path / "more.tsv") == tmp_path / "more.tsv"


def test_evenly_spaced_rows_reach_the_end_if_the_distance_is_not_an_integer() -> None:
    """Four of ten: 0, 2.5, 5 and 7.5, rounded down."""
    assert evenly_spaced(range(10), 4) == [0, 2, 5, 7]
    assert evenly_spaced(range(3), 3) == evenly_spaced(range(3), None) == [0, 1, 2]
