"""Custom pairs: every format and typical contents, read or refused with the line."""

import csv
import json
from itertools import permutations
from pathlib import Path

import pytest

from harness.data.own_pairs import Entry, read_own_pairs, scored_pairs_of
from harness.data.sts import ScoredPair
from harness.errors import InputError

PAIRS = [
    ScoredPair("A man plays.", "A person plays.", 4.2),
    ScoredPair('She said "no".', "She said\u00a0'no', \U0001f600", 5.0),
    ScoredPair("", "  a; b, c\u2028d ", -1.0),
]
TABLE = [
    ["sentence1", "sentence2", "score"],
    *([scored.first, scored.second, str(scored.score)] for scored in PAIRS),
]
OBJECTS = [{"sentence1": scored.first, "sentence2": scored.second, "score": scored.score} for scored in PAIRS]


def tsv(rows: list[list[str]], end: str = "\n") -> str:
    return "".join("\t".join(row) + end for row in rows)


def csv_text(folder: Path, rows: list[list[str]], delimiter: str = ",") -> str:
    """Returns the output of Python's csv module."""
    path = folder / "written"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path.read_bytes().decode()


def read(folder: Path, name: str, content: str | bytes) -> list[ScoredPair]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_own_pairs(path)


def test_each_format_gives_the_same_pairs(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(row) for row in OBJECTS)
    decimal_commas = [[*row[:2], row[2].replace(".", ",")] for row in TABLE]
    contents = {
        "a.tsv": tsv(TABLE),
        "b.tsv": tsv(TABLE[1:]),
        "c.csv": csv_text(tmp_path, TABLE),
        "d.csv": csv_text(tmp_path, TABLE[1:]),
        "e.csv": csv_text(tmp_path, decimal_commas, ";"),
        "f.jsonl": lines,
        "g.json": json.dumps(OBJECTS),
        "h.jsonl": json.dumps(OBJECTS),
        "i.TSV": tsv(TABLE),
    }
    for name, content in contents.items():
        assert read(tmp_path, name, content) == PAIRS, name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_encodings_line_ends_and_blank_lines_have_no_effect(tmp_path: Path, encoding: str, end: str) -> None:
    """With and without a line of names, after which a byte order mark would be part of a sentence."""
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    for table in (TABLE, TABLE[1:]):
        assert read(tmp_path, "a.tsv", (mark + tsv(table, end)).encode(encoding)) == PAIRS
        text = csv_text(tmp_path, table)
        assert read(tmp_path, "a.csv", (mark + text).encode(encoding)) == PAIRS
    lines = end.join(json.dumps(row, ensure_ascii=False) for row in OBJECTS) + end
    assert read(tmp_path, "a.jsonl", (mark + lines).encode(encoding)) == PAIRS


@pytest.mark.parametrize(
    "names",
    [
        ["Sentence_1", "Sentence 2", "Similarity"],
        ["sentence_A", "sentence_B", "relatedness_score"],
        ["text1", "text2", "label"],
    ],
)
def test_columns_have_several_names_and_any_order(tmp_path: Path, names: list[str]) -> None:
    rows = [[score, "x", second, first] for first, second, score in [names, *TABLE[1:]]]
    assert read(tmp_path, "a.tsv", tsv(rows)) == PAIRS


def test_a_quoted_field_of_a_tsv_is_unquoted_and_a_quotation_stays(tmp_path: Path) -> None:
    """The first is the output of pandas for `"No," she said.`; the second is that text without quoting."""
    content = '"""No,"" she said."\t"No," she said.\t1\nsay "a"\t"\t2\n'
    assert read(tmp_path, "a.tsv", content) == [
        ScoredPair('"No," she said.', '"No," she said.', 1.0),
        ScoredPair('say "a"', '"', 2.0),
    ]


@pytest.mark.parametrize(
    ("field", "read_as"),
    [
        ('"a"', "a"), ('"', '"'), ('"a', '"a'), ('a"', 'a"'), ('"""', '"""'), ('""""', '"'),
        ('"a""b"', 'a"b'), ('"a"b"', '"a"b"'), ('" a "', " a "), ("''", "''"),
    ],
)  # fmt: skip
def test_quotes_of_a_tsv_field_are_removed_if_they_enclose_it_and_those_inside_are_doubled(
    field: str, read_as: str, tmp_path: Path
) -> None:
    rows = [ScoredPair(read_as, "b", 1.0), ScoredPair("c", read_as, 2.0)]
    assert read(tmp_path, "a.tsv", f"{field}\tb\t1\nc\t{field}\t2\n") == rows


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["tsv", "csv"])
@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_columns_have_any_order_with_any_line_ends(
    order: tuple[int, ...], ending: str, end: str, tmp_path: Path
) -> None:
    """The last column may be a sentence, which has no part of the line's end."""
    lines = [[row[place] for place in order] for row in TABLE]
    text = tsv(lines, end) if ending == "tsv" else csv_text(tmp_path, lines).replace("\r\n", end)
    assert read(tmp_path, f"a.{ending}", text) == PAIRS


@pytest.mark.parametrize("field", ["", '""'])
def test_an_empty_field_of_a_tsv_is_no_score_with_and_without_quotes(field: str, tmp_path: Path) -> None:
    rows = [ScoredPair("e", "f", 1.0), ScoredPair("c", "d", 2.0)]
    assert read(tmp_path, "a.tsv", f"e\tf\t1\nx\ty\t{field}\nc\td\t2\n") == rows


def test_a_field_of_a_csv_may_have_line_ends_and_any_length(tmp_path: Path) -> None:
    long, limit = "word " * 60_000, csv.field_size_limit()
    actual = read(tmp_path, "a.csv", csv_text(tmp_path, [["a\nb", long, "1"], ["c", "d", "2"]]))
    assert actual == [ScoredPair("a\nb", long, 1.0), ScoredPair("c", "d", 2.0)]
    assert csv.field_size_limit() == limit


def test_scores_have_any_scale_and_form_and_pairs_without_one_are_left_out(tmp_path: Path) -> None:
    values = [1, True, "0.5", -3e2, None, "", 100]
    lines = [json.dumps({"text1": "a", "text2": "b", "label": value}) for value in values]
    actual = [pair.score for pair in read(tmp_path, "a.jsonl", "\n".join(lines))]
    assert actual == [1.0, 1.0, 0.5, -300.0, 100.0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "", "the name of a file of pairs must end in .tsv, .csv, .jsonl, .json"),
        ("a.tsv", "", "line 1 has nothing; expected columns sentence1"),
        ("a.tsv", "a\tb\tc\n", "line 1 has a, b, c; expected columns sentence1"),
        ("a.tsv", tsv(TABLE) + "a\tb\n", "line 5 has 2 columns, expected 3 as line 1"),
        ("a.tsv", tsv(TABLE) + "a\tb\thigh\n", "line 5: the score is 'high', expected a finite number"),
        ("a.tsv", tsv(TABLE) + "a\tb\tnan\n", "line 5: the score is 'nan', expected a finite number"),
        ("a.tsv", "a\tb\t1\na\tb\t1\n", "2 scored pairs, all of one score, expected at least two"),
        ("a.tsv", "a\tb\t1\n", "1 scored pairs, expected at least two"),
        ("a.tsv", b"a\tb\t1\n\xff\tb\t2\n", "line 2 is not utf-8"),
        ("a.csv", 'a,b,1\n"c,d,2\n', "is not CSV"),
        ("a.jsonl", '{"sentence1": "a"', "line 1: is not JSON"),
        ("a.jsonl", "3\n", "line 1 has no names"),
        ("a.jsonl", '{"sentence1": "a", "sentence2": 3, "score": 1}', "line 1: a sentence is not text"),
        ("a.jsonl", '{"a": "b"}', "line 1 has a; expected columns sentence1"),
        ("a.json", "[" * 100_000, "is not JSON"),
    ],
)
def test_an_invalid_file_of_pairs_is_refused_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, name, content)
    assert said in str(error.value)
    assert name in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.tsv: no such file"):
        read_own_pairs(tmp_path / "none.tsv")


def test_rows_are_checked_as_lines_are() -> None:
    with pytest.raises(InputError, match="here: row 2: the score is 'x'"):
        scored_pairs_of([Entry("row 1", None, ("a", "b", 1)), Entry("row 2", None, ("a", "b", "x"))], "here")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("sentence_A\tsentence_B\tlabel\trelatedness_score", "the score may be label or relatedness_score"),
        ("text1\tsentence1\tsentence2\tscore", "the first sentence may be text1 or sentence1"),
        ("s1\ts2\tsecond\tscore", "the second sentence may be s2 or second"),
    ],
)
def test_two_columns_for_one_role_are_refused_with_both_names(tmp_path: Path, head: str, said: str) -> None:
    names = head.split("\t")
    objects = [dict(zip(names, ("a", "b", "1", str(number)), strict=True)) for number in range(3)]
    for name, content in {
        "a.tsv": "\n".join([head, "a\tb\t1\t2"]),
        "a.csv": "\n".join([head.replace("\t", ","), "a,b,1,2"]),
        "a.jsonl": "\n".join(map(json.dumps, objects)),
    }.items():
        with pytest.raises(InputError, match=f"line 1: {said}; remove or rename all but one"):
            read(tmp_path, name, content)


def test_columns_that_are_not_read_are_named_and_splits_are_not_mixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [["Genre", "split", "s1", "s2", "score"], ["x", "dev", "a", "b", "1"], ["y", "dev", "c", "d", "2"]]
    assert len(read(tmp_path, "a.tsv", tsv(rows))) == 2
    assert capsys.readouterr().err == f"sentbench: {tmp_path / 'a.tsv'}: not read: column Genre, split\n"
    assert len(read(tmp_path, "a.tsv", tsv([row[2:] for row in rows]))) == 2
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match="column split has dev, test; keep the rows of one, or remove"):
        read(tmp_path, "a.tsv", tsv([*rows, ["z", "test", "e", "f", "3"]]))


def test_blanks_before_quotes_of_a_csv_do_not_belong_to_its_fields(tmp_path: Path) -> None:
    content = 'sentence1, sentence2, score\n"a, b", "c, ""d""", 1\n"e", " f", 2\n'
    assert read(tmp_path, "a.csv", content) == [
        ScoredPair("a, b", 'c, "d"', 1.0),
        ScoredPair("e", " f", 2.0),
    ]
    assert read(tmp_path, "b.csv", "a, b,1\nc, d,2\n") == [
        ScoredPair("a", " b", 1.0),
        ScoredPair("c", " d", 2.0),
    ]


def test_a_number_without_end_and_half_a_character_are_refused(tmp_path: Path) -> None:
    for content, said in {
        '{"s1": "a", "s2": "b", "score": 1' + 400 * "0" + "}": "line 1: the score has over 300 digits",
        '{"s1": "a", "s2": "\\ud800", "score": 1}': "line 1: a sentence has half of a surrogate pair",
    }.items():
        with pytest.raises(InputError, match=said):
            read(tmp_path, "a.jsonl", content)


@pytest.mark.parametrize(
    "name",
    [
        *("score", "Label", "similarity", "gold", "gold_score", "relatedness_score", "similarity score"),
        "rating",
    ],
)
def test_a_column_of_scores_has_any_of_these_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(f"s1\ts2\t{name}\na\tb\t1\nc\td\t2\n")
    assert read_own_pairs(path) == [ScoredPair("a", "b", 1.0), ScoredPair("c", "d", 2.0)]
