"""Readers of sentence pairs with a gold similarity: SentEval's STS folders, STS-B, SICK and mteb's files."""

import json
import math
from pathlib import Path
from typing import NamedTuple

from harness.data.lines import decoded_lines, require_fields, tab_separated
from harness.errors import InputError

INPUT, GOLD = "STS.input.", "STS.gs."
SICK_COLUMNS = ("sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
PAIR_KEYS = ("sentence1", "sentence2", "score")
SICK_LABELS = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")


class ScoredPair(NamedTuple):
    """Two sentences and their gold similarity, 0 (unrelated, in SICK 1) to 5 (equal meaning)."""

    first: str
    second: str
    score: float


class StsbRow(NamedTuple):
    """A pair of the STS benchmark; year and file identify its SemEval set."""

    pair: ScoredPair
    year: str
    file: str


class SickRow(NamedTuple):
    """A pair of SICK and its entailment, one of SICK_LABELS."""

    pair: ScoredPair
    entailment: str


def read_senteval_sts(folder: Path) -> dict[str, list[ScoredPair]]:
    """Returns the scored pairs of each subset of a year: STS.input.X.txt with STS.gs.X.txt.

    A pair whose gold line is empty was not scored and is dropped.
    Errors: InputError for a folder without subsets, a missing file or column, a gold file of another length
    or a gold line that is not a number from 0 to 5.
    """
    inputs = sorted(folder.glob(f"{INPUT}*.txt"))
    if not inputs:
        raise InputError(f"{folder}: no {INPUT}NAME.txt of an STS year; fetch it again")
    return {path.name.removeprefix(INPUT).removesuffix(".txt"): _read_subset(path) for path in inputs}


def _read_subset(path: Path) -> list[ScoredPair]:
    gold_path = path.with_name(path.name.replace(INPUT, GOLD, 1))
    sentences, gold = list(tab_separated(path, 2)), list(decoded_lines(gold_path))
    if len(sentences) != len(gold):
        raise InputError(
            f"{gold_path}: {len(gold)} lines, expected {len(sentences)} as in {path.name}; fetch them again"
        )
    pairs = []
    for (_, fields), (number, value) in zip(sentences, gold, strict=True):
        if value.strip():
            score = _score(value, gold_path, number, 0.0)
            pairs.append(ScoredPair(fields[0], fields[1], score))
    return pairs


def read_stsb(path: Path) -> list[StsbRow]:
    """Returns the rows of one STS-B file: genre, file, year, number, score and two sentences, by tabs.

    Nothing is quoted; further columns (licences, in the published files) are ignored.
    """
    return [
        StsbRow(ScoredPair(first, second, _score(score, path, number, 0.0)), year, file)
        for number, (_, file, year, _, score, first, second, *_) in tab_separated(path, 7)
    ]


def read_sick(path: Path) -> list[SickRow]:
    """Returns the rows of a SICK file, whose first line names the columns."""
    lines = tab_separated(path, 1)
    _, names = next(lines, (0, []))
    missing = [name for name in SICK_COLUMNS if name not in names]
    if missing:
        raise InputError(f"{path}: line 1 has no column {missing[0]}; fetch the file again")
    positions = [names.index(name) for name in SICK_COLUMNS]
    rows = []
    for number, fields in lines:
        require_fields(path, number, fields, len(names))
        first, second, relatedness, entailment = (fields[position] for position in positions)
        if entailment not in SICK_LABELS:
            raise InputError(
                f"{path}: line {number} has label {entailment!r}, expected one of {', '.join(SICK_LABELS)}; "
                "fetch the file again"
            )
        score = _score(relatedness, path, number, 1.0)
        rows.append(SickRow(ScoredPair(first, second, score), entailment))
    return rows


def read_pairs_jsonl(path: Path) -> list[ScoredPair]:
    """Returns the pairs of a file in mteb's layout: sentence1, sentence2 and score, one object a line.

    Sentences keep their blanks, as mteb passes them on. Lines without text are skipped.
    """
    pairs = []
    for number, line in decoded_lines(path):
        if not line.strip():
            continue
        expected = f"expected an object with {', '.join(PAIR_KEYS)}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: line {number} is not JSON ({error}), {expected}") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}: line {number} holds a {type(row).__name__}, {expected}")
        missing = [key for key in PAIR_KEYS if key not in row]
        if missing:
            raise InputError(f"{path}: line {number} has no {missing[0]}, {expected}")
        first, second, score = (row[key] for key in PAIR_KEYS)
        if not isinstance(first, str) or not isinstance(second, str):
            raise InputError(f"{path}: line {number}: a sentence is not text; fetch the file again")
        pairs.append(ScoredPair(first, second, _score(str(score), path, number, 0.0)))
    return pairs


def _score(text: str, path: Path, number: int, lowest: float) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not lowest <= score <= 5.0:
        raise InputError(
            f"{path}: line {number} has score {text.strip()!r}, expected a number from {lowest:g} to 5; "
            "fetch the file again"
        )
    return score
