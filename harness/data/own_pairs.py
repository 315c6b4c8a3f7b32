"""Scored sentence pairs of a user: TSV, CSV, JSON lines or a JSON list, on any scale."""

import csv
import io
import json
import math
import re
import reprlib
import sys
import threading
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.data.sts import ScoredPair
from harness.errors import InputError

ENDINGS = (".tsv", ".csv", ".jsonl", ".json")
ROLES = {
    "the first sentence": ("sentence1", "sentencea", "text1", "texta", "sent1", "senta", "s1", "first"),
    "the second sentence": ("sentence2", "sentenceb", "text2", "textb", "sent2", "sentb", "s2", "second"),
    "the score": (
        *("score", "label", "similarity", "gold", "goldscore", "relatednessscore", "similarityscore"),
        "rating",
    ),
}
"""The three columns and their names, without signs and in lower case."""
SPLITS = ("split", "fold", "partition", "subset")
"""Names of columns that divide pairs into sets that are not scored together."""
EXPECTED = "expected columns sentence1, sentence2 and score"
BOMS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
LONGEST_FIELD = 2**31 - 1
_LIMIT = threading.Lock()


class Entry(NamedTuple):
    """One row: its place for messages, the names of its columns, and their values. names: None for two
    sentences and a score in this order.
    """

    where: str
    names: tuple[str, ...] | None
    values: Sequence[Any]


def read_own_pairs(path: Path) -> list[ScoredPair]:
    """Returns the scored pairs of a file; the extension determines the format.

    The first line names the columns, as in ROLES; TSV and CSV files without such a line have the two
    sentences and the score. Empty lines and pairs without a score are skipped. Sentences stay unchanged.
    Columns that are not read are named on standard error. Text is UTF-8, or UTF-16 with a byte order mark. A
    CSV file with semicolons may have decimal commas. A TSV field is unquoted if a program has quoted the
    whole field.
    Errors: InputError, with the line, for another format, a missing column, two columns for one role, several
    values of a column of SPLITS, a sentence that is not text, a score that is not a number, fewer than two
    scored pairs, or scores that are all equal.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: the name of a file of pairs must end in {', '.join(ENDINGS)}")
    text = _text_of(path)
    return scored_pairs_of(
        {".tsv": _tsv, ".csv": _csv}.get(path.suffix.lower(), _json)(text, path), str(path)
    )


def scored_pairs_of(entries: Iterable[Entry], where: str) -> list[ScoredPair]:
    """Returns the pairs of rows. Errors: as of `read_own_pairs`."""
    pairs: list[ScoredPair] = []
    unread: dict[str, None] = {}
    splits: dict[str, dict[str, None]] = {}
    for row, names, values in entries:
        positions = (0, 1, 2) if names is None else _positions(names, f"{where}: {row}")
        for position, name in enumerate(names or ()):
            if position not in positions:
                unread[name.strip()] = None
                if _plain(name) in SPLITS:
                    splits.setdefault(name.strip(), {})[str(values[position]).strip()] = None
        first, second, score = (values[position] for position in positions)
        pair = _pair(first, second, score, f"{where}: {row}")
        pairs += [] if pair is None else [pair]
    for name, found in splits.items():
        if len(found) > 1:
            raise InputError(
                f"{where}: column {name} has {shortened(found)}; keep the rows of one, or remove the column"
            )
    if len({pair.score for pair in pairs}) < 2:
        problem = f"{len(pairs)} scored pairs" + (", all of one score" if len(pairs) > 1 else "")
        raise InputError(f"{where}: {problem}, expected at least two different scores")
    if unread:
        print(f"sentbench: {where}: not read: column {shortened(unread)}", file=sys.stderr)
    return pairs


def shortened(names: Iterable[str]) -> str:
    """Returns up to eight names, comma-separated, each with up to 30 characters."""
    listed = [*names]
    return ", ".join(name[:30] for name in listed[:8]) + (", ..." if len(listed) > 8 else "")


def _pair(first: Any, second: Any, score: Any, where: str) -> ScoredPair | None:
    """Returns the pair of a row, None without a score."""
    for sentence in (first, second):
        if not isinstance(sentence, str):
            raise InputError(f"{where}: a sentence is not text")
        try:
            sentence.encode()
        except UnicodeEncodeError:
            raise InputError(f"{where}: a sentence has half of a surrogate pair; correct its text") from None
    if score is None or (isinstance(score, str) and not score.strip()):
        return None
    return ScoredPair(str(first), str(second), _number(score, where))


def _number(score: Any, where: str) -> float:
    try:
        value = float(score)
    except (TypeError, ValueError):
        value = math.nan
    except OverflowError:
        raise InputError(f"{where}: the score has over 300 digits, expected a finite number") from None
    if not math.isfinite(value):
        raise InputError(f"{where}: the score is {reprlib.repr(score)}, expected a finite number")
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


def _tsv(text: str, path: Path) -> Iterator[Entry]:
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


def _csv(text: str, path: Path) -> Iterator[Entry]:
    head = text.lstrip("\r\n").partition("\n")[0]
    semicolons = ";" in head and "," not in re.sub(r"\d,\d", "", re.sub(r'"[^"]*"', "", head))
    sign = ";" if semicolons else ","
    rows = _csv_rows(text, path, sign, blanks=False)
    if any(re.match(r'[ \t]+"', field) for _, row in rows for field in row):  # a blank before a quoted field
        rows = _csv_rows(text, path, sign, blanks=True)
    for row, names, values in _table(iter(rows), path, "separated by commas"):
        position = 2 if names is None else _positions(names, f"{path}: {row}")[2]
        score = values[position].replace(",", ".") if semicolons else values[position]
        yield Entry(row, names, [*values[:position], score, *values[position + 1 :]])


def _csv_rows(text: str, path: Path, sign: str, *, blanks: bool) -> list[tuple[int, list[str]]]:
    """Returns the fields of each row with the number of its last line; blanks: whether those at the begin of
    a field are dropped, as before a quote."""
    with _LIMIT:  # the limit is global to the process, so it is restored
        limit = csv.field_size_limit(LONGEST_FIELD)
        file = io.StringIO(text, newline="")
        try:
            reader = csv.reader(file, delimiter=sign, strict=True, skipinitialspace=blanks)
            return [(reader.line_num, row) for row in reader if any(field.strip() for field in row)]
        except csv.Error as error:
            raise InputError(
                f"{path}: line {reader.line_num} is not CSV ({error}); correct its quotes"
            ) from None
        finally:
            csv.field_size_limit(limit)


def _table(rows: Iterator[tuple[int, list[str]]], path: Path, how: str) -> Iterator[Entry]:
    number, first = next(rows, (0, []))
    names: tuple[str, ...] | None = tuple(first)
    if roles_of(tuple(first)) is None and len(first) == 3 and _is_number(first[2]):
        names = None
        yield Entry(f"line {number}", None, first)
    elif roles_of(tuple(first)) is None:
        raise InputError(f"{path}: line 1 has {shortened(first) or 'nothing'}; {EXPECTED}, {how}")
    else:
        _positions(tuple(first), f"{path}: line 1")
    for number, fields in rows:
        if len(fields) != len(first):
            raise InputError(
                f"{path}: line {number} has {len(fields)} columns, expected {len(first)} as line 1, {how}"
            )
        yield Entry(f"line {number}", names, fields)


def _json(text: str, path: Path) -> Iterator[Entry]:
    stripped = text.strip()
    if stripped.startswith("["):
        listed = _loaded(stripped, f"{path}")
        entries = [(f"entry {number}", entry) for number, entry in enumerate(listed, 1)]
    else:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        entries = [(f"line {number}", _loaded(line, f"{path}: line {number}")) for number, line in lines]
    for row, entry in entries:
        values = entry if isinstance(entry, Mapping) else {}
        yield Entry(row, tuple(values), [*values.values()])


def _loaded(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: is not JSON ({error}); {EXPECTED}") from None


def _positions(names: tuple[str, ...], where: str) -> tuple[int, int, int]:
    """Returns the columns of the two sentences and the score. Errors: InputError unless each exists once."""
    found = roles_of(names)
    if found is None:
        raise InputError(f"{where} has {shortened(names) or 'no names'}; {EXPECTED}")
    for role, columns in zip(ROLES, found, strict=True):
        if len(columns) > 1:
            choice = " or ".join(names[column].strip()[:30] for column in columns)
            raise InputError(f"{where}: {role} may be {choice}; remove or rename all but one")
    return found[0][0], found[1][0], found[2][0]


@cache
def roles_of(names: tuple[str, ...]) -> tuple[list[int], ...] | None:
    """Returns the columns that may have each role; None unless each role has one."""
    columns = tuple(
        [position for position, name in enumerate(names) if _plain(name) in known] for known in ROLES.values()
    )
    return columns if all(columns) else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False
