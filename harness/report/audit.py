"""The audit as declared: where a paper and its released code differ, and which of the two is run here."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from harness.declarations import Declaration, list_declarations, read_declaration
from harness.errors import InputError

SILENT = "not stated"


class Difference(Declaration):
    """One point on which paper, code and this project differ; texts may hold code between backticks.

    switch: names of the settings that turn it, joined by commas; choices: their values. variants: runs that
    differ in this point alone from the preset `against`, by default `MethodAudit.preset`. effect: what is
    known without a run; tests: the tests that prove it.
    """

    about: str
    paper: str = SILENT
    code: str = SILENT
    ours: str
    switch: str = ""
    choices: str = ""
    variants: list[str] = Field(default_factory=list)
    against: str = ""
    effect: str = ""
    tests: list[str] = Field(default_factory=list)

    @property
    def switches(self) -> list[str]:
        """The settings that turn the difference, each with its values where they are listed."""
        names = [name.strip() for name in self.switch.split(",") if name.strip()]
        return [f"{name}: {self.choices}" if self.choices else name for name in names[:1]] + names[1:]


class MethodAudit(Declaration):
    """The differences of one method, numbered from 1 in the order of the file.

    Recipes and code name a difference by its number, so a new one goes to the end. preset: the variant that
    others are measured against; opposite: the variant that takes the other preset of every difference at
    once, if the method has one.
    """

    method: str
    title: str
    preset: str
    opposite: str = ""
    differences: list[Difference] = Field(min_length=1)


def load_audits(folder: Path) -> list[MethodAudit]:
    """Returns the audits by file name. Errors: InputError if a file is wrong or a method comes twice."""
    audits: list[MethodAudit] = []
    for path in list_declarations(folder):
        audit = read_declaration(path, MethodAudit)
        if audit.method in {other.method for other in audits}:
            raise InputError(
                f"{path}: method {audit.method!r} has a file already, expected one; join the two"
            )
        audits.append(audit)
    return audits
