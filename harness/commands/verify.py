"""`sentbench verify`: check whether a number replicates, and which number to cite."""

import argparse
import json
from collections.abc import Sequence

from harness.errors import InputError
from harness.evidence.judged import Judged
from harness.evidence.published import Published, load_published
from harness.evidence.settling import counted
from harness.paths import PUBLISHED, TABLES, declared
from harness.report.assembly.tables import judged_in
from harness.report.formats.judged import in_one_line, judged_json, judged_text
from harness.report.formats.text import align

MOST_IN_FULL = 3
"""More rows than this get one line each, which begins with the name that chooses the row."""
ARGUMENTS = {
    "table": {
        "metavar": "PAPER/TABLE",
        "help": "as `sentbench list tables` names it; or what to search for: 78.42, DiffCSE, PCL 78.42",
    },
    "row": {
        "metavar": "ROW",
        "nargs": "?",
        "help": "title of a row or how it begins, GROUP TITLE, or its published key",
    },
    "column": {"metavar": "COLUMN", "nargs": "?"},
    "--backbone": {"metavar": "NAME", "help": "only rows of this encoder, or of those that begin so"},
    "--json": {"action": "store_true", "help": "one JSON list, an object for each row found"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the verification of the number in every row of this name, or the numbers that were searched."""
    published = load_published(declared(PUBLISHED))
    words = [text.strip() for text in (arguments.table, arguments.row, arguments.column) if text is not None]
    if words[0] in published.tables and len(words) == 1:
        print_rows(published, words[0], arguments)
        return
    if len(words) == 1 or (len(words) == 2 and "/" not in words[0]):
        search(published, " ".join(words), arguments)
        return
    if len(words) == 2:
        raise InputError(f"verify {words[0]} {words[1]!r}: expected a COLUMN, for example Avg")
    known = judged_in(*words)
    if arguments.backbone:
        known = on_backbone(known, arguments.backbone)
    if not arguments.json and len(known) > MOST_IN_FULL:
        print("\n".join(in_one_line(known)))
        print(f"\n{len(known)} rows begin with {words[1]!r}; name one, or an encoder by --backbone")
        return
    print_judged(known, arguments)


def print_judged(known: Sequence[Judged], arguments: argparse.Namespace) -> None:
    """Prints numbers with all their answers."""
    if arguments.json:
        print(json.dumps([judged_json(judged) for judged in known]))
    else:
        print("\n\n".join(f"{sentence_of(judged)}\n{judged_text(judged)}" for judged in known))


def search(published: Published, text: str, arguments: argparse.Namespace) -> None:
    """Prints the verdict on the value of a name, such as `PCL 78.42`; for a value or a name alone, and for
    many values, where all tables have them, with the words that verify one."""
    from harness.evidence.search import numbers_like, one_of_each, split_search
    from harness.evidence.spec import load_specs

    tables = load_specs(declared(TABLES))  # others are sources of the ledger, without a verdict
    found = [
        number
        for number in numbers_like(published, text, tables)
        if number.backbone.startswith(arguments.backbone or "")
    ]
    if not found:
        raise InputError(f"{text}: no table has it on --backbone {arguments.backbone}")
    chosen = [group[0] for group in one_of_each(found) if group[0].column == found[0].column]
    if all(split_search(text)) and (len(chosen) <= MOST_IN_FULL or arguments.json):
        print_judged(
            [judged for at in chosen for judged in judged_in(at.table, at.row, at.column)], arguments
        )
        rest = [f"{at.table} {at.row} {at.column}" for at in found if at not in chosen]
        if rest and not arguments.json:
            print(f"\nthe same value: {', '.join(rest)}")
        return
    if arguments.json:
        named = ("table", "row", "column", "printed", "source")
        print(json.dumps([{name: getattr(number, name) for name in named} for number in found]))
        return
    rows = [["table", "row", "column", "printed", "by"]]
    for number in found:
        by = number.origin if number.work is None else f"{number.origin} from {number.work}"
        rows.append([number.table, number.row, number.column, f"{number.printed:.15g}", by])
    print("\n".join(align(rows, 3)))
    first = found[0]
    print(f"\n`sentbench verify {first.table} {first.row} {first.column}` prints the verdict on the first")


def print_rows(published: Published, table: str, arguments: argparse.Namespace) -> None:
    """Prints the rows and columns of a table, as `verify` takes them."""
    declared_table = published.tables[table]
    rows = [row for row in declared_table.rows if (row.backbone or "").startswith(arguments.backbone or "")]
    if not rows:
        available = ", ".join(dict.fromkeys(row.backbone for row in declared_table.rows if row.backbone))
        raise InputError(f"--backbone {arguments.backbone}: no such row; use one of {available}")
    if arguments.json:
        columns = [*declared_table.columns]
        print(json.dumps([{"table": table, "row": row.key, "columns": columns} for row in rows]))
        return
    print("\n".join(row.key for row in rows))
    print(f"\n`sentbench verify {table} ROW COLUMN`, with COLUMN one of {', '.join(declared_table.columns)}")


def on_backbone(known: list[Judged], name: str) -> list[Judged]:
    """Returns the numbers of one backbone, or of all with this prefix. Errors: InputError if none matches."""
    backbones = [judged.number.backbone for judged in known]
    wanted = [judged for judged in known if judged.number.backbone == name] or [
        judged for judged in known if judged.number.backbone.startswith(name) and name.strip()
    ]
    if not wanted:
        available = ", ".join(dict.fromkeys(backbones))
        raise InputError(f"--backbone {name}: no such row; use one of {available}")
    return wanted


def sentence_of(judged: Judged) -> str:
    """Returns the independent measurements of the number, in one sentence."""
    independent, pools = judged.others.independent, judged.others.pools
    if judged.ours is not None:
        return f"Our {counted(len(judged.values), 'seed')}: {judged.text}."
    if independent.values:
        runs, sources = (
            counted(len(independent.values), "run"),
            counted(len(independent.sources), "independent source"),
        )
        return f"{runs} of {sources}: {judged.text}."
    if not judged.others.searched:
        return "No search for runs by others is on record."
    others = [kind for kind, pool in pools.items() if pool.studies]
    if set(others) <= {"same authors", "checkpoint"}:
        return "Only its authors have measured it."
    return f"No independent run of its recipe is on record; what is: {', '.join(others)}."
