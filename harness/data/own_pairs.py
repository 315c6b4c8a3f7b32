"""Scored sentence pairs of a user: TSV, CSV, JSON lines or a JSON list, on any scale."""

import csv
import io
import json
import math
import re
import threading
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data.sts import ScoredPair
from harness.errors import InputError

ENDINGS = (".tsv", ".csv", ".jsonl", ".json")
FIRST = ("sentence1", "sentencea", "text1", "texta", "sent1", "senta", "s1", "first")
SECOND = ("sentence2", "sentenceb", "text2", "textb", "sent2", "sentb", "s2", "second")
SCORE = ("score", "label", "similarity", "gold", "goldscore", "relatednessscore", "similarityscore", "rating")
"""Names of the three columns, without signs and in lower case; other columns are not read."""
EXPECTED = "expected columns sentence1, sentence2 and score"
BOMS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
LONGEST_FIELD = 2**31 - 1
_LIMIT = threading.Lock()
Row = tuple[Any, Any, Any]


def read_own_pairs(path: Path) -> list[ScoredPair]:
    """Returns the scored pairs of a file; the extension determines the format.

    The first line names the columns, as FIRST, SECOND and SCORE list them; TSV and CSV files without such a
    line have the two sentences and the score. Empty lines and pairs without a score are skipped. Sentences
    stay unchanged. Text is UTF-8, or UTF-16 with a byte order mark. A CSV file with semicolons may have
    decimal commas. A TSV field is unquoted if a program has quoted the whole field.
    Errors: InputError, with the line, for another format, a missing column, a sentence that is not text, a
    score that is not a number, fewer than two scored pairs, or scores that are all equal.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: the name of a file of pairs must end in {', '.join(ENDINGS)}")
    text = _text_of(path)
    rows = {".tsv": _tsv, ".csv": _csv}.get(path.suffix.lower(), _json)(text, path)
    return scored_pairs_of(rows, str(path))


def scored_pairs_of(rows: Iterable[tuple[str, Row]], where: str) -> list[ScoredPair]:
    """Returns the pairs of rows, each given with file and line. Errors: as of `read_own_pairs`."""
    pairs = []
    for row, (first, second, score) in rows:
        if not isinstance(first, str) or not isinstance(second, str):
            raise InputError(f"{where}: {row}: a sentence is not text")
        if score is None or (isinstance(score, str) and not score.strip()):
            continue
        pairs.append(ScoredPair(first, second, _number(score, f"{where}: {row}")))
    if len({pair.score for pair in pairs}) < 2:
        problem = f"{len(pairs)} scored pairs" + (", all of one score" if len(pairs) > 1 else "")
        raise InputError(f"{where}: {problem}, expected at least two different scores")
    return pairs


def _number(score: Any, where: str) -> float:
    try:
        value = float(score)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: the score is {str(score)[:40]!r}, expected a number")
    return value


def _text_of(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    content = path.read_bytes()
    encoding = next((name for mark, name in BOMS.items() if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path}: line {line} is not {encoding}; convert it to UTF-8") from None


def _tsv(text: str, path: Path) -> Iterator[tuple[str, Row]]:
    lines = ((number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1))
    rows = (
        (number, [_unquoted(field) for field in line.split("\t")]) for number, line in lines if line.strip()
    )
    return _table(rows, path, "separated by tabs")


def _unquoted(field: str) -> str:
    """Returns a field without the quotes that pandas and spreadsheets add around a field with quotes."""
    inner = field[1:-1]
    is_quoted = len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if is_quoted else field


def _csv(text: str, path: Path) -> Iterator[tuple[str, Row]]:
    head = text.lstrip("\r\n").partition("\n")[0]
    semicolons = ";" in head and "," not in re.sub(r"\d,\d", "", re.sub(r'"[^"]*"', "", head))
    with _LIMIT:  # the limit is global to the process, so it is restored
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            reader = csv.reader(
                io.StringIO(text, newline=""), delimiter=";" if semicolons else ",", strict=True
            )
            rows = [(reader.line_num, row) for row in reader if any(field.strip() for field in row)]
        except csv.Error as error:
            raise InputError(
                f"{path}: line {reader.line_num} is not CSV ({error}); correct its quotes"
            ) from None
        finally:
            csv.field_size_limit(limit)
    for where, (first, second, score) in _table(iter(rows), path, "separated by commas"):
        yield where, (first, second, score.replace(",", ".") if semicolons else score)


def _table(rows: Iterator[tuple[int, list[str]]], path: Path, how: str) -> Iterator[tuple[str, Row]]:
    number, names = next(rows, (0, []))
    positions = _positions(names)
    if positions is None and len(names) == 3 and _is_number(names[2]):
        positions = (0, 1, 2)
        yield f"line {number}", (names[0], names[1], names[2])
    if positions is None:
        shown = ", ".join(name[:30] for name in names[:8])
        raise InputError(f"{path}: line 1 has {shown or 'nothing'}; {EXPECTED}, {how}")
    for number, fields in rows:
        if len(fields) != len(names):
            raise InputError(
                f"{path}: line {number} has {len(fields)} columns, expected {len(names)} as line 1, {how}"
            )
        first, second, score = (fields[position] for position in positions)
        yield f"line {number}", (first, second, score)


def _json(text: str, path: Path) -> Iterator[tuple[str, Row]]:
    stripped = text.strip()
    if stripped.startswith("["):
        listed = _loaded(stripped, f"{path}")
        entries = [(f"entry {number}", entry) for number, entry in enumerate(listed, 1)]
    else:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        entries = [(f"line {number}", _loaded(line, f"{path}: line {number}")) for number, line in lines]
    for row, entry in entries:
        names = list(entry) if isinstance(entry, Mapping) else []
        positions = _positions(names)
        if positions is None:
            raise InputError(f"{path}: {row} has {', '.join(names[:8]) or 'no names'}; {EXPECTED}")
        first, second, score = (entry[names[position]] for position in positions)
        yield row, (first, second, score)


def _loaded(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: is not JSON ({error}); {EXPECTED}") from None


def _positions(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Returns the columns of the two sentences and the score; None unless all three exist."""
    plain = [re.sub(r"[^a-z0-9]", "", str(name).lower()) for name in names]
    columns = [[plain.index(name) for name in known if name in plain] for known in (FIRST, SECOND, SCORE)]
    return (columns[0][0], columns[1][0], columns[2][0]) if all(columns) else None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False
