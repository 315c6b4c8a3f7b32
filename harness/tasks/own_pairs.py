"""A task of custom pairs: the correlation of cosines with their scores, as in the STS sets."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.data.own_pairs import Entry, read_own_pairs, roles_of, scored_pairs_of
from harness.data.sources import own_source_name
from harness.errors import InputError
from harness.tasks.interface import Task
from harness.tasks.sts import StsTask


def own_pairs_task(pairs: str | Path | Iterable[Any], name: str | None = None) -> StsTask:
    """Returns the task of a file of pairs, or of the rows that `entries_of` reads; texts stay unchanged.

    name: default the file's name without its ending, or `pairs`.
    Errors: InputError as of `harness.data.own_pairs.read_own_pairs` and of `entries_of`.
    """
    if isinstance(pairs, str | Path):
        path = Path(pairs)
        scored, name = read_own_pairs(path), name or path.stem
    else:
        scored, name = scored_pairs_of(entries_of(pairs), name or "pairs"), name or "pairs"
    return StsTask(name, "", lambda folder: {"all": scored}, folder=Path())


def is_own_pairs(task: Task) -> bool:
    """Returns whether a task has custom pairs, whose texts stay unchanged."""
    return task.source in ("", own_source_name(task.name))


def entries_of(rows: Iterable[Any]) -> Iterator[Entry]:
    """Yields the rows of a table in memory with their numbers and, if they have some, the names of columns.

    rows: of two sentences and a score; of dictionaries or named tuples; of objects with two `texts` and a
    `label`; a dictionary of columns; or a table of pandas, polars, pyarrow or datasets.
    Errors: InputError unless each row is one of these.
    """
    wrong = InputError("pairs: expected a file or rows of two sentences and a score")
    try:
        listed = iter(_rows_of(rows))
    except TypeError:
        raise wrong from None
    for number, row in enumerate(listed, 1):
        names, values = _columns_of(row)
        if values is None:
            raise wrong
        if names is None and len(values) != 3:
            raise InputError(
                f"pairs: row {number} has {len(values)} values, expected two sentences and a score"
            )
        yield Entry(f"row {number}", names, values)


def _rows_of(table: Any) -> Iterable[Any]:
    """Returns the rows of a table of some library, or the rows themselves."""
    if isinstance(table, str | bytes):
        raise TypeError
    if isinstance(table, Mapping):
        return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)] or [table]
    if hasattr(table, "to_pylist"):  # pyarrow
        return table.to_pylist()
    if hasattr(table, "iter_rows"):  # polars
        return table.iter_rows(named=True)
    if hasattr(table, "itertuples"):  # pandas
        rows = table.itertuples(index=False, name=None)
        names = [*table.columns]
        return rows if names == [0, 1, 2] else [dict(zip(map(str, names), row, strict=True)) for row in rows]
    return table


def _columns_of(row: Any) -> tuple[tuple[str, ...] | None, list[Any] | None]:
    """Returns the names and values of a row; no names for a plain row, no values for anything else."""
    if isinstance(row, Mapping):
        return tuple(map(str, row)), [*row.values()]
    if hasattr(row, "texts") and hasattr(row, "label"):
        return None, [*row.texts, row.label]
    if isinstance(row, str | bytes):
        return None, None
    try:
        values = list(row)
    except TypeError:
        return None, None
    names = tuple(map(str, getattr(row, "_fields", ())))
    return (names if len(names) > 3 or roles_of(names) else None), values
