"""Readers of scored pairs, on files written by hand and on the mirror."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.data.sts import (
    ScoredPair,
    SickRow,
    StsbRow,
    read_pairs_jsonl,
    read_senteval_sts,
    read_sick,
    read_stsb,
)
from harness.errors import InputError

SICK_HEAD = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SCORED = {12: 3108, 13: 1500, 14: 3750, 15: 3000, 16: 1186}


def write_subset(folder: Path, name: str, sentences: str, gold: str) -> None:
    (folder / f"STS.input.{name}.txt").write_text(sentences, encoding="utf-8")
    (folder / f"STS.gs.{name}.txt").write_text(gold, encoding="utf-8")


def test_unscored_pairs_are_dropped_and_subsets_keep_their_names(tmp_path: Path) -> None:
    """Of three pairs the second has an empty gold line; further columns of the input are not read."""
    write_subset(tmp_path, "surprise.OnWN", "a cat\tthe cat\nb\tc\n d \té\tsource\n", "4.5\n\n0\n")
    write_subset(tmp_path, "MSRvid", "x\ty\n", "2.400")
    assert read_senteval_sts(tmp_path) == {
        "MSRvid": [ScoredPair("x", "y", 2.4)],
        "surprise.OnWN": [ScoredPair("a cat", "the cat", 4.5), ScoredPair("d", "é", 0.0)],
    }


def test_subsets_are_in_the_order_of_names_and_pairs_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Two systems are compared pair by pair, so the order depends only on the data."""
    for name in ("b", "a", "surprise.c"):
        write_subset(tmp_path, name, f"{name} 2 2 2\tx\n{name} 1\tx\n{name} 3 3\tx\n", "0\n5\n5.0\n")
    actual = read_senteval_sts(tmp_path)
    assert list(actual) == ["a", "b", "surprise.c"]
    assert [pair.first for pair in actual["a"]] == ["a 2 2 2", "a 1", "a 3 3"]
    assert [pair.score for pair in actual["a"]] == [0.0, 5.0, 5.0], "both ends of the scale"


def test_the_scale_of_sick_is_from_one_to_five(tmp_path: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(SICK_HEAD + "1\ta\tb\t1.0\tNEUTRAL\n2\tc\td\t5.0\tENTAILMENT\n")
    assert [row.pair.score for row in read_sick(path)] == [1.0, 5.0]


@pytest.mark.parametrize(
    ("sentences", "gold", "message"),
    [
        ("a\tb\nalone\n", "1\n2\n", r"STS\.input\.X\.txt: line 2 has 1 columns, expected 2"),
        ("a\tb\nc\td\n", "1\n", r"STS\.gs\.X\.txt: 1 lines, expected 2 as in STS\.input\.X\.txt"),
        ("a\tb\n", "5.1\n", r"STS\.gs\.X\.txt: line 1 has score '5\.1', expected a number from 0 to 5"),
    ],
)
def test_damaged_sts_files_are_named_with_their_line(
    tmp_path: Path, sentences: str, gold: str, message: str
) -> None:
    write_subset(tmp_path, "X", sentences, gold)
    with pytest.raises(InputError, match=message):
        read_senteval_sts(tmp_path)


def test_stsb_rows_keep_quotes_and_ignore_licence_columns(tmp_path: Path) -> None:
    path = tmp_path / "sts-dev.csv"
    path.write_text(
        'main-news\tMSRpar\t2012train\t0042\t3.750\t"It\'s late," he said.\tHe said "no.\n'
        "main-captions\timages\t2014\t7\t0\tA dog.\tA cat.\tCC-BY\thttp://x\n"
    )
    assert read_stsb(path) == [
        StsbRow(ScoredPair('"It\'s late," he said.', 'He said "no.', 3.75), "2012train", "MSRpar"),
        StsbRow(ScoredPair("A dog.", "A cat.", 0.0), "2014", "images"),
    ]
    path.write_text("main-news\tMSRpar\t2012train\t0042\t3.750\tone sentence\n")
    with pytest.raises(InputError, match=r"sts-dev\.csv: line 1 has 6 columns, expected 7"):
        read_stsb(path)


def test_sick_columns_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(
        "sentence_B\textra\tpair_ID\tsentence_A\tentailment_judgment\trelatedness_score\n"
        "second\t-\t1\tfirst\tNEUTRAL\t3.3\r\n"
    )
    assert read_sick(path) == [SickRow(ScoredPair("first", "second", 3.3), "NEUTRAL")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"SICK_trial\.txt is empty"),
        (SICK_HEAD.replace("sentence_A", "other"), r"line 1 has no column sentence_A"),
        (SICK_HEAD + "1\ta\tb\t0.5\tNEUTRAL\n", r"line 2 has score '0\.5', expected a number from 1 to 5"),
        (SICK_HEAD + "1\ta\tb\t3\tMAYBE\n", r"line 2 has label 'MAYBE', expected one of NEUTRAL"),
    ],
)
def test_damaged_sick_files_are_named_with_their_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "SICK_trial.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_sick(path)


def test_pairs_of_json_lines_keep_their_blanks_and_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({"score": 3, "sentence1": " a", "sentence2": "b\n"}) + "\n")
    assert read_pairs_jsonl(path) == [ScoredPair(" a", "b\n", 3.0)]
    path.write_text(path.read_text() + '{"sentence1": "a", "sentence2": "b"}\n')
    with pytest.raises(InputError, match=r"test\.jsonl: line 2"):
        read_pairs_jsonl(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r"line 3 is not JSON \(Expecting .*\), expected an object with sentence1, sentence2, score"),
        ("[1]", "line 3 holds a list, expected an object"),
        ('{"sentence1": "a", "sentence2": "b"}', "line 3 has no score, expected an object"),
        ('{"sentence1": "a", "sentence2": 2, "score": 1}', "line 3: a sentence is not text"),
        ("\ufeff{}", r"line 3 is not JSON"),
    ],
)
def test_the_line_and_the_fault_of_a_pair_in_json_are_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(f'{{"sentence1": "a", "sentence2": "b", "score": 1}}\n\n{line}\n')
    with pytest.raises(InputError, match=rf"test\.jsonl: {said}"):
        read_pairs_jsonl(path)


def test_a_byte_order_mark_at_the_start_of_a_file_is_no_text(tmp_path: Path) -> None:
    """Spreadsheets and editors of Windows write it; in a later line it is part of the text."""
    row = {"sentence1": "\ufeffa", "sentence2": "b", "score": 1}
    (tmp_path / "pairs.jsonl").write_text("\ufeff" + json.dumps(row, ensure_ascii=False) + "\r\n")
    assert read_pairs_jsonl(tmp_path / "pairs.jsonl") == [ScoredPair("\ufeffa", "b", 1.0)]
    (tmp_path / "SICK_train.txt").write_text("\ufeff" + SICK_HEAD + "1\ta\tb\t3\tNEUTRAL\n")
    assert len(read_sick(tmp_path / "SICK_train.txt")) == 1
    write_subset(tmp_path, "X", "\ufeffa\tb\n\ufeffc\td\n", "\ufeff1\n2\n")
    assert read_senteval_sts(tmp_path)["X"] == [ScoredPair("a", "b", 1.0), ScoredPair("\ufeffc", "d", 2.0)]


@pytest.mark.mirror
def test_mirror_holds_the_published_numbers_of_scored_pairs(mirror: Path) -> None:
    folder = mirror / "senteval/downstream"
    counted = {
        year: sum(map(len, read_senteval_sts(folder / f"STS/STS{year}-en-test").values())) for year in SCORED
    }
    assert counted == SCORED
    stsb = [len(read_stsb(folder / f"STS/STSBenchmark/sts-{part}.csv")) for part in ("train", "dev", "test")]
    assert stsb == [5749, 1500, 1379]
    sick = [len(read_sick(folder / f"SICK/SICK_{part}.txt")) for part in ("train", "trial", "test_annotated")]
    assert sick == [4500, 500, 4927]
    assert len(read_pairs_jsonl(mirror / "mteb/sickr-sts/test.jsonl")) == 9927


def test_a_subset_is_named_by_all_that_is_between_the_first_prefix_and_the_ending(tmp_path: Path) -> None:
    """Of a name that has the prefix or the ending in it as well, only the outer ones are taken away."""
    names = ["STS.input.twice", "a.txt.b", "text", "tweet.txt"]
    for name in names:
        write_subset(tmp_path, name, "a\tb\n", "1\n")
    assert list(read_senteval_sts(tmp_path)) == names


def test_a_gold_line_of_blanks_is_empty_and_a_score_may_have_blanks_around_it(tmp_path: Path) -> None:
    write_subset(tmp_path, "X", "a\tb\nc\td\n", " \n 4.5 \n")
    assert read_senteval_sts(tmp_path) == {"X": [ScoredPair("c", "d", 4.5)]}


@pytest.mark.parametrize(("score", "accepted"), [("-0.1", False), ("0", True), ("5", True), ("5.001", False)])
def test_every_reader_except_sicks_accepts_scores_from_zero_to_five(
    score: str, accepted: bool, tmp_path: Path
) -> None:
    write_subset(tmp_path, "X", "a\tb\n", f"{score}\n")
    (tmp_path / "stsb.csv").write_text(f"g\tf\t2012\t1\t{score}\ta\tb\n")
    row = {"sentence1": "a", "sentence2": "b", "score": float(score)}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    readers: list[Callable[[], float]] = [
        lambda: read_senteval_sts(tmp_path)["X"][0].score,
        lambda: read_stsb(tmp_path / "stsb.csv")[0].pair.score,
        lambda: read_pairs_jsonl(tmp_path / "pairs.jsonl")[0].score,
    ]
    for read in readers:
        if accepted:
            assert read() == float(score)
        else:
            with pytest.raises(InputError, match="expected a number from 0 to 5"):
                read()


def test_a_line_of_sick_has_as_many_columns_as_its_head(tmp_path: Path) -> None:
    path = tmp_path / "SICK_train.txt"
    path.write_text(SICK_HEAD + "1\ta\tb\t3.0\n")
    with pytest.raises(InputError, match="line 2 has 4 columns, expected 5"):
        read_sick(path)
