"""The declared tables, filled with our and independent results, published numbers and costs of seeds."""

from collections.abc import Collection, Mapping

from harness.errors import InputError
from harness.evidence.further import read_recorded
from harness.evidence.judged import Judged
from harness.evidence.ledger import load_ledger
from harness.evidence.number_tests import LOOKS
from harness.evidence.published import Published, load_published
from harness.evidence.schema import ResultFile
from harness.evidence.spec import RunChoice, TableSpec, check_spec, load_spec, load_specs, system_label
from harness.paths import LEADERBOARDS, declared
from harness.plan.entries import Params
from harness.plan.names import recipes_of
from harness.plan.recipes import Recipe, declared_systems, load_recipes
from harness.report.hours import seed_prices
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.leaderboard import SMALL, has_values
from harness.report.tables.model import Table, find_cells, judged_numbers, matching, names_of
from harness.report.tables.rows import control, page_of

Recipes = Mapping[str, Recipe]


def evidence_of(
    results: list[ResultFile],
    params: Params | None = None,
    *,
    priced: Collection[str] | None = None,
    published: Published | None = None,
    recipes: Recipes | None = None,
) -> Evidence:
    """Returns the inputs of tables: scores, published numbers, independent results, the plan's systems in
    its order (without a plan the systems of the scores), and the cost of seeds. priced: the systems with
    costs of seeds; default: all. published, recipes: pass them if they are already read.
    """
    published, recipes = published or load_published(), recipes or load_recipes()
    systems = declared_systems(recipes)
    planned = params.runs.values() if params else ()
    return Evidence(
        results=results,
        published=published,
        ledger=load_ledger(declared(LEADERBOARDS / "evidence"), published),
        systems={
            RunChoice(run.id, run.backbone_name): system_label(run.method, run.variant, run.backbone_name)
            for run in planned
        },
        prices=seed_prices(recipes, priced),
        recipes=recipes_of((run.id for run in (*planned, *(result.run for result in results))), recipes),
        settings={
            key: system.model_dump(include={"config", "train", "no_verdict"})
            for key, system in systems.items()
        },
        seeds={key: system.seeds_wanted(LOOKS[-1]) for key, system in systems.items()},
    )


def checked_specs(
    published: Published, recipes: Recipes, specs: Mapping[str, TableSpec] | None = None
) -> dict[str, TableSpec]:
    """Returns table specs by key, by default every declared one. Errors: InputError if a table names an
    unknown system, row or column."""
    from harness.tasks.registry import TASKS

    specs_by_key = dict(load_specs() if specs is None else specs)
    backbones = {key: system.backbones for key, system in declared_systems(recipes).items()}
    for spec in specs_by_key.values():
        check_spec(spec, published, tasks=list(TASKS), systems=backbones)
    return specs_by_key


def build_tables(evidence: Evidence, recipes: Recipes) -> dict[str, Table]:
    """Returns every declared table by key, the small leaderboard first; tables of runs only if filled. The
    small leaderboard is also included if its planned runs have no score.
    """
    specs = checked_specs(evidence.published, recipes)
    ordered = sorted(specs.values(), key=lambda spec: (spec.key != SMALL, spec.key))
    tables = control({spec.key: build_table(spec, evidence) for spec in ordered})
    return {
        key: table
        for key, table in tables.items()
        if specs[key].rows_from != "runs" or has_values(table) or (key == SMALL and table.rows)
    }


def build_one_table(key: str, row: str = "", column: str = "") -> Table:
    """Returns one declared table with all scores on record and the verdicts of its page. row, column: only
    the rows and the column of this name, if their verdicts do not depend on others. Errors: InputError for an
    unknown table.
    """
    published, recipes, spec = load_published(), load_recipes(), load_spec(key)
    key = spec.key
    checked_specs(published, recipes, {key: spec})
    part = narrowed_to(spec, row, column)
    table = build_table(part, _evidence_for([part], published, recipes))
    if not any(judged.verdict.fails for _, _, judged in judged_numbers([table])):
        return table  # the page's false-discovery control cannot change a verdict
    page = {
        name: spec
        for name, spec in checked_specs(published, recipes).items()
        if page_of(name) == page_of(key)
    }
    evidence = _evidence_for(page.values(), published, recipes)
    return control({name: build_table(spec, evidence) for name, spec in page.items()})[key]


def _evidence_for(specs: Collection[TableSpec], published: Published, recipes: Recipes) -> Evidence:
    """Returns the evidence that tables show: only the scores of their tasks, of their systems unless a table
    lists all runs, and the prices of their systems."""
    systems = {choice.system for spec in specs for choice in spec.choices()}
    tasks = {task for spec in specs for task in spec.tasks()}
    if any(spec.rows_from == "runs" for spec in specs):
        results = read_recorded(kept=lambda run, score: score.task in tasks).results
        return evidence_of(results, published=published, recipes=recipes)
    results = read_recorded(systems=systems, kept=lambda run, score: score.task in tasks).results
    return evidence_of(results, priced=systems, published=published, recipes=recipes)


def narrowed_to(spec: TableSpec, row: str, column: str) -> TableSpec:
    """Returns a spec with only its rows and its column of these names, or with all if it has none.

    The other columns remain as parts, which feed the means.
    """
    rows = [names_of(row.published or row.title, row.title, row.group) for row in spec.rows]
    matches = matching(row, rows) or range(len(rows))
    wanted = column.lower()
    named = [each for each in spec.columns if wanted and wanted in (each.key.lower(), each.title.lower())]
    columns = named[:1] or spec.columns
    parts = [*spec.parts, *(each for each in spec.columns if each not in columns)]
    order = spec.order_by if spec.order_by in [each.key for each in columns] else ""
    chosen = [spec.rows[index] for index in matches]
    return spec.model_copy(update={"rows": chosen, "columns": columns, "parts": parts, "order_by": order})


def judged_in(table: str, row: str, column: str) -> list[Judged]:
    """Returns a published number with its verdict in every row of this name.

    Errors: InputError for an unknown table, row or column, or a cell without a reported score.
    """
    cells = find_cells(build_one_table(table, row, column), row, column)
    known = [cell.judged for _, cell in cells if cell.judged is not None]
    if not known:
        raise InputError(f"{table} has no reported score in column {column} of {row!r}")
    return known
