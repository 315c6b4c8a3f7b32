"""Conversion of files from wheels and hub repositories to neutral files."""

import bz2
import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
from safetensors.numpy import load_file, save_file

from harness.data.conversions import (
    TEXTS,
    entailed_pairs,
    glove_arrays,
    glove_module,
    gunzip,
    pair_texts,
    wikipedia_dump,
    write_vectors,
)
from harness.data.corpora import read_corpus
from harness.data.sources import SOURCES
from harness.errors import InputError
from methods.core.rows import Row

VECTORS = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
WORDS = ["the", "of", "é"]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "inputs" / "deep").mkdir(parents=True)
    return tmp_path / "inputs"


def test_gunzip_writes_each_file_without_its_ending(inputs: Path, tmp_path: Path) -> None:
    packed = inputs / "deep/test.jsonl.gz"
    packed.write_bytes(gzip.compress(b"line\n"))
    gunzip(inputs, tmp_path)
    assert (tmp_path / "test.jsonl").read_bytes() == b"line\n"
    packed.write_bytes(packed.read_bytes()[:-6])
    with pytest.raises(InputError, match=r"test\.jsonl\.gz: not a complete gzip file"):
        gunzip(inputs, tmp_path)


@pytest.mark.parametrize("kind", ["arrays", "module", "module with padding"])
def test_arrays_and_modules_become_vectors_and_words_in_one_order(
    inputs: Path, tmp_path: Path, kind: str
) -> None:
    """A row of padding is removed."""
    words, rows = WORDS, VECTORS
    if kind == "module with padding":
        words, rows = ["PADDING_TOKEN", *WORDS], np.concatenate([np.zeros((1, 2), np.float32), VECTORS])
    if kind == "arrays":
        np.save(inputs / "emb.npy", VECTORS.astype(np.float64))
        parquet.write_table(pyarrow.table({"index": WORDS}), inputs / "index.parquet")
        glove_arrays(inputs, tmp_path)
    else:
        save_file({"emb_layer.weight": rows}, inputs / "deep/model.safetensors")
        (inputs / "deep/whitespacetokenizer_config.json").write_text(json.dumps({"vocab": words}))
        glove_module(inputs, tmp_path)
    (vectors,) = load_file(tmp_path / "vectors.safetensors").values()
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, VECTORS)
    assert (tmp_path / "vocab.txt").read_text(encoding="utf-8") == "".join(f"{word}\n" for word in WORDS)


def test_pickled_arrays_are_refused(inputs: Path, tmp_path: Path) -> None:
    np.save(inputs / "emb.npy", np.array([{}], dtype=object), allow_pickle=True)
    parquet.write_table(pyarrow.table({"index": WORDS}), inputs / "index.parquet")
    with pytest.raises(ValueError, match="allow_pickle"):
        glove_arrays(inputs, tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b"], r"2 words but an array of shape \(3, 2\)"),
        (["a", "b", "a"], "repeated"),
        (["a", "b", ""], "empty"),
        (["a", "b", "c\nd"], "a line break"),
    ],
)
def test_words_that_do_not_fit_their_vectors_are_refused(
    tmp_path: Path, words: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        write_vectors(tmp_path, words, VECTORS)


def test_premise_and_entailed_hypothesis_become_a_corpus_with_paraphrases(
    inputs: Path, tmp_path: Path
) -> None:
    (inputs / "nli.csv").write_text(
        'sent0,sent1,hard_neg\n"A man, who\tran.",A man ran.,Nobody.\n,empty premise,x\nOne "b".,Two.,x\n',
        encoding="utf-8",
    )
    entailed_pairs(inputs, tmp_path)
    assert read_corpus(tmp_path / "nli.tsv") == [
        Row(0, "A man, who ran.", ("A man ran.",)),
        Row(1, 'One "b".', ("Two.",)),
    ]


def test_dump_becomes_a_corpus(inputs: Path, tmp_path: Path) -> None:
    text = "This is one whole sentence."
    xml = f"<m xmlns='x'><page><ns>0</ns><revision><text>{text}</text></revision></page></m>"
    (inputs / "wiki.bz2").write_bytes(bz2.compress(xml.encode()))
    wikipedia_dump(inputs, tmp_path)
    assert read_corpus(tmp_path / "wiki.txt") == [Row(0, text)]


def test_both_sentences_of_every_pair_become_a_line_scored_or_not(inputs: Path, tmp_path: Path) -> None:
    """Three layouts: two pairs in the first, whose scores are not read, and one each in the others."""
    (inputs / "deep/STS.input.news.txt").write_text("A man runs .\tA  man walks .\nOne\tTwo\n")
    (inputs / "deep/sts-dev.csv").write_text("main\tf\t2012\t1\t3.0\tA dog\tA cat\n")
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    (inputs / "SICK_trial.txt").write_text(f"{head}\n1\tOne\tA house\t4.5\tNEUTRAL\n")
    pair_texts(inputs, tmp_path)
    actual = (tmp_path / "texts.txt").read_text().splitlines()
    assert actual == ["One", "A house", "A man runs .", "A man walks .", "One", "Two", "A dog", "A cat"]


def test_texts_of_pairs_are_in_the_order_of_their_files_paths(inputs: Path, tmp_path: Path) -> None:
    """The folder decides before the name of the file."""
    for name, line in (("2013/STS.input.a.txt", "c\td"), ("2012/STS.input.z.txt", "a\tb")):
        (inputs / name).parent.mkdir()
        (inputs / name).write_text(f"{line}\n")
    pair_texts(inputs, tmp_path)
    assert (tmp_path / TEXTS).read_text().split() == ["a", "b", "c", "d"]


def test_a_pair_with_an_empty_sentence_or_a_foreign_file_is_refused(inputs: Path, tmp_path: Path) -> None:
    (inputs / "STS.input.news.txt").write_text("One\t \n")
    with pytest.raises(InputError, match=r"STS\.input\.news\.txt: pair 1 has an empty sentence"):
        pair_texts(inputs, tmp_path)
    (inputs / "STS.input.news.txt").rename(inputs / "other.txt")
    with pytest.raises(InputError, match=r"other\.txt: not a file of STS, STS-B or SICK"):
        pair_texts(inputs, tmp_path)


def test_the_texts_of_test_sets_are_as_many_as_the_pairs_of_their_files_twice() -> None:
    """ConSERT: 6,216 + 3,000 + 7,500 + 17,000 + 18,366 + 17,256 + 19,854 texts; SG-OPT: 17,256."""
    texts = {
        "sts-texts": 6216 + 3000 + 7500 + 17000 + 18366 + 17256 + 19854,
        "stsb-texts": 2 * (5749 + 1500 + 1379),
        "stsb-train-texts": 2 * 5749,
    }
    assert {name: SOURCES[name].rows["texts.txt"] for name in texts} == texts
