"""Table specs: rows and columns of a table, the runs of its cells, and the reported values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.errors import InputError
from harness.evidence.published import Published, known_name
from harness.io.declarations import DeclaredModel, Name, TableKey, read_declaration
from harness.io.names import check_name
from harness.paths import TABLES, declarations_of, declared

Statistic = Literal["mean", "sd", "best-by-dev", "pairs"]
"""Statistic of a cell: mean or sd over seeds, the best seed on dev, or the size of the test set."""


@dataclass(frozen=True)
class RunChoice:
    """The runs of a system on a backbone, of the given seeds or all."""

    system: str
    backbone: str
    seeds: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.system}@{self.backbone}"


def system_label(method: str, variant: str, backbone: str) -> str:
    """Returns the display name of a system on a backbone."""
    return f"{method}/{variant}@{backbone}"


def split_run(text: str) -> tuple[str | None, str | None]:
    """Returns the system and the backbone of `system@backbone`; either may be missing.

    Errors: ValueError if the text has neither or is not a name.
    """
    system, _, backbone = text.partition("@")
    for name in (system, backbone):
        if name:
            check_name(name)
    if not system and not backbone:
        raise ValueError("expected SYSTEM@BACKBONE, SYSTEM or @BACKBONE")
    return system or None, backbone or None


def _check_run(text: str) -> str:
    split_run(text)
    return text


RunText = Annotated[str, AfterValidator(_check_run)]
"""`pcl@bert-base-uncased`, `pcl` or `@bert-base-uncased`."""


class ColumnSpec(DeclaredModel):
    """One column: a score of a task, the mean of other columns, a setting of the runs' recipe, or, without
    these, a value that is only published.

    metric, setting: the score of `task` by its name in result files; always of the best weights on dev and
    SentEval's text. recipe: the setting, `train.learning_rate` or `config.queue_size`, which is known without
    a run.
    published: the published table's column, if it has another name. run: the part that rows omit,
    `@backbone`; seeds: the seeds of the column, which override the row's. better: direction of ranks, `none`
    if the column has no winner. unit: `scaled` by the table's scale, or `plain` numbers with the column's
    `decimals`. no_verdict: as of a row.
    """

    key: str
    title: str = ""
    task: str | None = None
    metric: str = "spearman"
    setting: str = "all"
    mean_of: list[str] = Field(default_factory=list)
    recipe: str | None = None
    published: str | None = None
    run: RunText | None = None
    seeds: list[int] = Field(default_factory=list)
    statistic: Statistic | None = None
    better: Literal["higher", "lower", "none"] = "higher"
    unit: Literal["scaled", "plain"] = "scaled"
    mark: str = ""
    no_verdict: str = ""

    @model_validator(mode="after")
    def check(self) -> ColumnSpec:
        """Checks that a column is either of a task, a mean or a setting."""
        if sum(map(bool, (self.task, self.mean_of, self.recipe))) > 1:
            raise ValueError(f"column {self.key} has several of task, mean_of and recipe")
        return self


class CellSpec(DeclaredModel):
    """Exceptions of one cell from its row and column."""

    run: RunText | None = None
    published: str | None = None


class RowSpec(DeclaredModel):
    """One row; `cells` holds the exceptions by column key.

    run: the system and backbone that fill it, `pcl@bert-base-uncased`; a row without it is cited only.
    seeds: the seeds that its cells show, all if none are given.
    published: key of the published row, `system/variant@backbone`. deterministic: no seed changes the score.
    competes: takes part in the ranks of its group. x: position on a figure's axis.
    no_verdict: reason why our runs do not judge the reported numbers, if it is not the recipe's: they were
    measured differently. Independent evidence is shown.
    """

    title: str
    group: str = ""
    run: RunText | None = None
    seeds: list[int] = Field(default_factory=list)
    published: str | None = None
    cells: dict[str, CellSpec] = Field(default_factory=dict)
    statistic: Statistic = "mean"
    deterministic: bool = False
    competes: bool = True
    x: float | None = None
    note: str = ""
    no_verdict: str = ""


class TableSpec(DeclaredModel):
    """One table or figure. `rows_from: runs` makes one row of every system that was run, in the runs' order.

    recipe: only the systems of this recipe are rows; not_recipe: all other systems.
    key: `paper/table2`, or one name. published: key of the published table the row references are in.
    parts: columns of a mean that are not shown. order_by: the column that sorts rows of runs, best first.
    compete: rows are ranked within their group or over the whole table; systems in `unranked` are not ranked.
    logs: the quantities of the training logs that a figure draws over steps; its columns are then the curves'
    values at the selected checkpoint.
    """

    key: TableKey
    title: str
    kind: Literal["table", "figure"] = "table"
    published: str | None = None
    scale: float = Field(default=100.0, gt=0)
    decimals: int = Field(default=2, ge=0)
    compete: Literal["group", "table", "none"] = "group"
    columns: list[ColumnSpec]
    parts: list[ColumnSpec] = Field(default_factory=list)
    rows: list[RowSpec] = Field(default_factory=list)
    rows_from: Literal["spec", "runs"] = "spec"
    recipe: Name | None = None
    not_recipe: Name | None = None
    unranked: list[str] = Field(default_factory=list)
    order_by: str = ""
    x_title: str = ""
    logs: list[str] = Field(default_factory=list)
    protocol: str = ""
    notes: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def check(self) -> TableSpec:
        """Checks that a column gives only parts that its rows omit, and that `order_by` is a column."""
        if self.order_by and self.order_by not in [column.key for column in self.columns]:
            raise ValueError(f"order_by {self.order_by!r} is not a column")
        for row in self.rows:
            for column in self.columns:
                if row.run and column.run:
                    pairs = zip(split_run(row.run), split_run(column.run), strict=True)
                    if any(row_part and other for row_part, other in pairs):
                        raise ValueError(
                            f"row {row.title!r} has run {row.run} and column {column.key} {column.run}, "
                            f"which both give the same part"
                        )
        return self

    def lists(self, recipe: str | None) -> bool:
        """Returns whether a table of runs lists the systems of a recipe; None: no recipe declares them."""
        return self.recipe in (None, recipe) and (self.not_recipe is None or self.not_recipe != recipe)

    @property
    def by_key(self) -> dict[str, ColumnSpec]:
        """The columns, and the parts of means that are not shown, by key."""
        return {column.key: column for column in [*self.columns, *self.parts]}

    def column(self, key: str) -> ColumnSpec:
        """Returns one column; an unknown key is an error with near matches."""
        return self.by_key[known_name(key, self.by_key, f"column of table {self.key}")]

    def choice(self, row: RowSpec, column: ColumnSpec) -> RunChoice | None:
        """Returns the runs that fill a cell, None for a cell without runs; its choice overrides its row's.

        Errors: InputError if the system or the backbone is missing.
        """
        exception = row.cells.get(column.key, CellSpec()).run
        if not (column.task or column.mean_of or column.recipe) or (row.run is None and exception is None):
            return None
        given = [split_run(text) for text in (exception, row.run, column.run) if text]
        system = next((part for part, _ in given if part), None)
        backbone = next((part for _, part in given if part), None)
        if system is None or backbone is None:
            raise InputError(
                f"table {self.key}, row {row.title!r}, column {column.key}: run has no "
                f"{'backbone' if system else 'system'}; write `run: SYSTEM@BACKBONE`"
            )
        return RunChoice(system, backbone, tuple(column.seeds or row.seeds))

    def statistic(self, row: RowSpec, column: ColumnSpec) -> Statistic:
        """Returns the statistic of a cell: the column's choice, otherwise the row's."""
        return column.statistic or row.statistic

    def choices(self) -> Iterator[RunChoice]:
        """Yields the distinct run choices of the cells, for plans; columns of settings need no run."""
        columns = [column for column in self.columns if column.recipe is None]
        cells = (self.choice(row, column) for row in self.rows for column in columns)
        yield from dict.fromkeys(choice for choice in cells if choice is not None)

    def tasks(self) -> set[str]:
        """Returns the tasks of its columns and of the columns in their means."""
        return {column.task for column in (*self.columns, *self.parts) if column.task}


def load_specs(folder: Path = TABLES) -> dict[str, TableSpec]:
    """Returns the table specs of a folder by key; two specs with one key are an error."""
    specs: dict[str, TableSpec] = {}
    for path in declarations_of(declared(folder)):
        spec = read_declaration(path, TableSpec)
        if spec.key in specs:
            raise InputError(f"{path}: table {spec.key!r} is declared twice; rename one")
        specs[spec.key] = spec
    return specs


def load_spec(key: str, folder: Path = TABLES) -> TableSpec:
    """Returns one table spec, which is read alone if its file has the name of its key, with - for /. The key
    may be in another letter case.

    Errors: InputError for an unknown table, with near matches, or for a paper, with its tables.
    """
    for path in declarations_of(declared(folder)):
        if path.stem.lower() == key.replace("/", "-").lower():
            spec = read_declaration(path, TableSpec)
            if spec.key.lower() == key.lower():
                return spec
    specs = load_specs(folder)
    key = next((name for name in specs if name.lower() == key.lower()), key)
    if parts := sorted(name for name in specs if name.startswith(f"{key.lower()}/")):
        raise InputError(f"{key} is a paper; its tables and figures: {', '.join(parts)}")
    return specs[known_name(key, specs, "table")]


def check_spec(
    spec: TableSpec, published: Published, *, tasks: Collection[str], systems: Mapping[str, Collection[str]]
) -> None:
    """Raises InputError with near matches if a spec names something that does not exist.

    systems: the backbones of every declared system, by id.
    """
    columns = [*spec.columns, *spec.parts]
    keys = [column.key for column in columns]
    for column in columns:
        if keys.count(column.key) > 1:
            raise InputError(f"table {spec.key}: column {column.key!r} appears twice; rename one")
        if column.task is not None:
            known_name(column.task.partition(":")[0], tasks, f"task in table {spec.key}")
        for part in column.mean_of:
            spec.column(part)
    for row in spec.rows:
        for key in row.cells:
            spec.column(key)
        _check_published(spec, row, published)
    for choice in spec.choices():
        known_name(choice.system, systems, f"run in table {spec.key}")
        known_name(
            choice.backbone, systems[choice.system], f"backbone of {choice.system} in table {spec.key}"
        )


def _check_published(spec: TableSpec, row: RowSpec, published: Published) -> None:
    if row.published is None:
        return
    if spec.published is None:
        raise InputError(
            f"table {spec.key}: row {row.title!r} names a published row; add `published` to the table"
        )
    table = published.table(spec.published)
    published.row(spec.published, row.published)
    if table.scale != spec.scale:
        raise InputError(
            f"table {spec.key}: scale {spec.scale}, expected {table.scale} as in {spec.published}"
        )
    for column in spec.columns:
        cell = row.cells.get(column.key)
        if cell is not None and cell.published is not None:
            published.row(spec.published, cell.published)
        if column.published is not None:
            known_name(column.published, table.columns, f"column of {spec.published}")
