"""Training corpora: one sentence per line, or a sentence and its paraphrases separated by tabs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from harness.data.lines import decoded_lines
from harness.errors import InputError
from methods.core.rows import Row

One = TypeVar("One")


def corpus_file(corpus: Path) -> Path:
    """Returns the text file of a corpus: `corpus` itself if it is a file, otherwise the only one in it.

    Errors: InputError if there is not exactly one .txt or .tsv file.
    """
    if corpus.is_file():
        return corpus
    if not corpus.is_dir():
        raise InputError(f"{corpus}: no such corpus; fetch {corpus.name}")
    files = sorted(path for path in corpus.iterdir() if path.suffix in {".txt", ".tsv"})
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise InputError(f"{corpus}: text files {names}; name one of the files")
    return files[0]


def read_corpus(corpus: Path) -> list[Row]:
    """Returns a row for every line that is not blank, in the order of the file.

    corpus: as of `corpus_file`. A file name that ends in .tsv means sentence TAB paraphrase [TAB
    paraphrase...], the same number on every line; any other means one sentence a line and no paraphrases.
    Errors: as of `corpus_file`; InputError for an empty corpus, a line that is not UTF-8 or one with a
    missing or empty column.
    """
    path = corpus_file(corpus)
    with_paraphrases = path.suffix == ".tsv"
    rows: list[Row] = []
    for number, line in decoded_lines(path):
        if not line.strip():
            continue
        if with_paraphrases:
            sentence, *others = (field.strip() for field in line.split("\t"))
            expected = len(rows[0].augmentations) if rows else max(1, len(others))
            if len(others) != expected or not all((sentence, *others)):
                raise InputError(
                    f"{path}: line {number} has {sum(map(bool, others))} paraphrases, expected a sentence "
                    f"and {expected} after tabs; fix or remove the line"
                )
            rows.append(Row(len(rows), sentence, tuple(others)))
        else:
            rows.append(Row(len(rows), line.strip()))
    if not rows:
        raise InputError(f"{path}: empty corpus")
    return rows


def evenly_spaced(rows: Sequence[One], count: int | None) -> list[One]:
    """Returns `count` rows at even distances from the first; all rows if there are at most `count`."""
    if count is None or count >= len(rows):
        return list(rows)
    return [rows[index * len(rows) // count] for index in range(count)]
