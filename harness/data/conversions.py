"""Conversions of the files that some providers ship into the neutral files that the readers expect.

A conversion takes the folder with its input files and the folder it writes to. Equal inputs give equal bytes.
"""

import csv
import gzip
import json
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.data.lines import tab_separated
from harness.data.sources import Conversion
from harness.data.sts import INPUT, read_sick, read_stsb
from harness.errors import InputError
from harness.io.files import disk_errors

VECTORS, VOCABULARY, TEXTS = "vectors.safetensors", "vocab.txt", "texts.txt"
PADDING = "PADDING_TOKEN"


def gunzip(inputs: Path, target: Path) -> None:
    """Writes every X.gz of the inputs as X."""
    for path in sorted(inputs.rglob("*.gz")):
        try:
            with gzip.open(path) as packed, (target / path.stem).open("wb") as file:
                shutil.copyfileobj(packed, file)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{path.name}: not a complete gzip file ({error}); download it again") from None


def glove_arrays(inputs: Path, target: Path) -> None:
    """Writes vectors and vocabulary from a .npy array and a parquet file with the words in the same order."""
    import pyarrow.parquet as parquet

    vectors = np.load(next(inputs.rglob("*.npy")), allow_pickle=False)
    words = parquet.read_table(next(inputs.rglob("*.parquet"))).column("index").to_pylist()
    write_vectors(target, words, vectors)


def glove_module(inputs: Path, target: Path) -> None:
    """Writes vectors and vocabulary from a WordEmbeddings module of sentence-transformers.

    Its first row, the padding vector, is skipped.
    """
    from safetensors.numpy import load_file

    weights = load_file(next(inputs.rglob("model.safetensors")))
    words = json.loads(next(inputs.rglob("whitespacetokenizer_config.json")).read_text("utf-8"))["vocab"]
    first = 1 if words[0] == PADDING else 0
    write_vectors(target, words[first:], weights["emb_layer.weight"][first:])


def write_vectors(target: Path, words: Sequence[str], vectors: np.ndarray) -> None:
    """Writes `vectors.safetensors` (tensor `vectors` [V, width], fp32) and `vocab.txt`, one word per line.

    Errors: InputError if the counts differ, a word holds a line break or two words are equal.
    """
    from safetensors.numpy import save_file

    if vectors.ndim != 2 or len(words) != len(vectors):
        raise InputError(
            f"word vectors: {len(words)} words but an array of shape {vectors.shape}; download the files "
            f"again"
        )
    if len(set(words)) != len(words) or any(len(word.splitlines()) != 1 for word in words):
        raise InputError(
            "word vectors: a word is empty, repeated or contains a line break; download the files again"
        )
    (target / VOCABULARY).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    with disk_errors(target):
        save_file({"vectors": np.ascontiguousarray(vectors, dtype=np.float32)}, target / VECTORS)


def wikipedia_dump(inputs: Path, target: Path) -> None:
    """Writes wiki.txt, one sentence a line, from an XML dump of Wikipedia compressed by bzip2."""
    from harness.data.wikipedia import sentences_of_dump

    with (target / "wiki.txt").open("w", encoding="utf-8", newline="\n") as file:
        for sentence in sentences_of_dump(next(inputs.rglob("*.bz2"))):
            file.write(f"{sentence}\n")


def entailed_pairs(inputs: Path, target: Path) -> None:
    """Writes nli.tsv, premise TAB entailed hypothesis, from a CSV file with the columns sent0 and sent1."""
    path = next(inputs.rglob("*.csv"))
    with (
        path.open(encoding="utf-8", newline="") as rows,
        (target / "nli.tsv").open("w", encoding="utf-8", newline="\n") as file,
    ):
        for row in csv.DictReader(rows):
            premise, hypothesis = (" ".join((row.get(name) or "").split()) for name in ("sent0", "sent1"))
            if premise and hypothesis:
                file.write(f"{premise}\t{hypothesis}\n")


def pair_texts(inputs: Path, target: Path) -> None:
    """Writes texts.txt, one sentence a line: both of every pair of STS, STS-B and SICK files, scored or not.

    Files are sorted by path; the first sentence of a pair comes first; duplicates are kept.
    Errors: InputError for a file of another kind, or a pair with an empty sentence.
    """
    with (target / TEXTS).open("w", encoding="utf-8", newline="\n") as file:
        for path in sorted(path for path in inputs.rglob("*") if path.is_file()):
            for number, pair in enumerate(_pairs(path), 1):
                for sentence in (" ".join(side.split()) for side in pair):
                    if not sentence:
                        raise InputError(
                            f"{path.name}: pair {number} has an empty sentence; download it again"
                        )
                    file.write(f"{sentence}\n")


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the two sentences of every pair of one file, whose name determines its layout."""
    if path.name.startswith(INPUT):
        yield from ((fields[0], fields[1]) for _, fields in tab_separated(path, 2))
    elif path.name.startswith("sts-"):
        yield from ((row.pair.first, row.pair.second) for row in read_stsb(path))
    elif path.name.startswith("SICK_"):
        yield from ((row.pair.first, row.pair.second) for row in read_sick(path))
    else:
        raise InputError(f"{path.name}: not a file of STS, STS-B or SICK; correct the sources table")


CONVERSIONS: Mapping[Conversion, Callable[[Path, Path], None]] = {
    "gunzip": gunzip,
    "glove-arrays": glove_arrays,
    "glove-module": glove_module,
    "wikipedia-dump": wikipedia_dump,
    "entailed-pairs": entailed_pairs,
    "pair-texts": pair_texts,
}
