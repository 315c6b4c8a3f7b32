"""Coverage of a paper's table by our runs, and reasons for rows that are only cited."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import InputError
from harness.evidence.printed import PublishedRow
from harness.evidence.published import Published
from harness.evidence.spec import RowSpec, TableSpec
from harness.io.declarations import DeclaredModel, TableKey

NOT_RUN = "not-run.yaml"


class NotRun(DeclaredModel):
    """Reasons why rows have no run: of whole tables by key, otherwise by `system` or `system/variant`."""

    tables: dict[TableKey, str]
    systems: dict[str, str]

    def key_of(self, table: str, row: PublishedRow) -> tuple[str, str]:
        """Returns the key of a row's reason, and the reason.

        Errors: InputError if none is given.
        """
        if table in self.tables:
            return table, self.tables[table]
        for key in (f"{row.system}/{row.variant}", row.system):
            if key in self.systems:
                return key, self.systems[key]
        raise InputError(
            f"table {table}: row {row.key!r} has no run, and {NOT_RUN} no reason; add {row.system!r} to "
            f"its `systems`"
        )


@dataclass(frozen=True)
class Coverage:
    """One table. reported: rows of the paper; run: rows with planned runs.

    cited: rows without a run, by the key of their reason; reasons: the texts. more: our additional rows.
    """

    table: str
    reported: int
    run: int
    more: int
    cited: Mapping[str, int]
    reasons: Mapping[str, str]

    @property
    def words(self) -> str:
        """The counts in one line, with every reason."""
        because = "; ".join(f"{key} ({count}): {self.reasons[key]}" for key, count in self.cited.items())
        cited = f"{sum(self.cited.values())} cited" + (f": {because}" if because else "")
        more = f", {self.more} more of ours" if self.more else ""
        return f"{self.reported} rows in the paper, {self.run} with a recipe that runs them{more}, {cited}"


def coverage_of(spec: TableSpec, published: Published, not_run: NotRun) -> Coverage:
    """Returns the counts of a table whose rows appear in its spec. Errors: as of `NotRun.key_of`."""
    cited: dict[str, int] = {}
    reasons: dict[str, str] = {}
    run: set[str] = set()
    more = 0
    for row in spec.rows:
        if has_run(spec, row):
            named = {row.published, *(cell.published for cell in row.cells.values())} - {None}
            run |= {key for key in named if key}
            more += not named
        elif spec.published is not None and row.published is not None:
            key, reason = not_run.key_of(spec.key, published.row(spec.published, row.published))
            cited[key] = cited.get(key, 0) + 1
            reasons[key] = reason
    reported = len(published.table(spec.published).rows) if spec.published else 0
    return Coverage(spec.key, reported, len(run), more, cited, reasons)


def has_run(spec: TableSpec, row: RowSpec) -> bool:
    """Returns whether runs are meant to fill any cell of a row."""
    return any(spec.choice(row, column) is not None for column in spec.columns)
