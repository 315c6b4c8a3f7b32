"""`sentbench readmes`: writes the sections of the methods' READMEs that are declared elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.commands import add_command
from harness.errors import InputError


def add_to(commands: Any) -> None:
    """Declares the command."""
    readmes = add_command(
        commands, "readmes", readmes_command, "write the deviations of every method's README from the audit"
    )
    readmes.add_argument("--check", action="store_true", help="write nothing, fail if one is out of date")


def readmes_command(arguments: argparse.Namespace) -> int:
    changed = {path: text for path, text in written_readmes(Path()).items() if path.read_text() != text}
    for path, text in changed.items():
        print(f"{path}: {'out of date; run `sentbench readmes`' if arguments.check else 'written'}")
        if not arguments.check:
            from harness.files import write_text

            write_text(path, text)
    return 1 if arguments.check and changed else 0


def written_readmes(root: Path) -> dict[Path, str]:
    """Returns the README of every method below `root` as it should be.

    Errors: InputError for a method without an audit, an audit without a method, or a README without the
    section.
    """
    from harness.report.audit import load_audits
    from harness.report.formats.deviations import with_deviations
    from methods import METHODS

    audits = {audit.method: audit for audit in load_audits(root / "leaderboards/audit")}
    if set(audits) != set(METHODS):
        odd = ", ".join(sorted(set(audits) ^ set(METHODS)))
        raise InputError(f"leaderboards/audit: {odd} differ from METHODS; give every method one file there")
    readmes = {}
    for name, target in METHODS.items():
        package = target.partition(":")[0].split(".")[:-1]
        path = root.joinpath(*package, "README.md")
        readmes[path] = with_deviations(path.read_text(encoding="utf-8"), audits[name])
    return readmes
