"""`sentbench readmes`: write the table of sources, the methods' deviations and the table of speeds.

Example: `sentbench readmes --check`
"""

import argparse
from pathlib import Path

from harness.commands.list import listing
from harness.disk.files import write_text
from harness.errors import InputError
from harness.paths import AUDIT, MEASUREMENTS, SOURCE_PAGE, SPEED_PAGE, need_checkout
from harness.report.formats.readmes import to_deviations, to_source_table, with_section
from harness.report.measurements import load_measurements, to_speed_section
from harness.report.pages.audit import load_audits
from methods.registry import METHODS

README = "README.md"
ARGUMENTS = {"--check": {"action": "store_true", "help": "write nothing, fail if one is out of date"}}


def execute(arguments: argparse.Namespace) -> int:
    """Writes what is out of date, or names it."""
    need_checkout("writing the READMEs of methods")
    pages = {**written_readmes(), SOURCE_PAGE: to_source_table(listing("sources"))}
    measured = load_measurements(MEASUREMENTS)
    if measured is not None:
        section = to_speed_section(measured)
        pages[SPEED_PAGE] = with_section(read_page(SPEED_PAGE), section, where=str(SPEED_PAGE))
    changed = {path: text for path, text in pages.items() if not path.is_file() or read_page(path) != text}
    for path, text in changed.items():
        print(f"{path}: {'out of date; run `sentbench readmes`' if arguments.check else 'written'}")
        if not arguments.check:
            write_text(path, text)
    return 1 if arguments.check and changed else 0


def read_page(path: Path) -> str:
    """Returns the text of a README; InputError if there is none, or it is not UTF-8."""
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a README; write it")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8, expected it; save it as UTF-8") from None


def written_readmes() -> dict[Path, str]:
    """Returns the README of every method as it should be.

    Errors: InputError for a method without an audit, an audit without a method, or a README without the
    section.
    """
    audits = {audit.method: audit for audit in load_audits(AUDIT)}
    if set(audits) != set(METHODS):
        odd = ", ".join(sorted(set(audits) ^ set(METHODS)))
        raise InputError(f"{AUDIT}: {odd} differ from METHODS; give every method one file there")
    readmes = {}
    for name, target in METHODS.items():
        path = Path(*target.split(".")[:-1], README)
        where = f"the README of {audits[name].method}"
        readmes[path] = with_section(read_page(path), to_deviations(audits[name]), where=where)
    return readmes
