"""`sentbench new`: write the skeleton of a method that is to become part of the project.

Example: `sentbench new method my-method`

Every file has its place, every heading its line; the tests fail until they are written.
"""

import argparse
from pathlib import Path

from harness.disk.files import write_text
from harness.errors import InputError
from harness.include import checked_name
from harness.paths import need_checkout
from harness.report.formats.templates import TEMPLATES, fill
from methods.registry import METHODS

SKELETON = TEMPLATES / "method"
ARGUMENTS = {
    "what": {"choices": ["method"]},
    "name": {"metavar": "NAME", "help": "lower-case letters, digits and -"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Writes the files and prints their paths; InputError if the method or a file exists."""
    need_checkout("a new method")
    name, package = arguments.name, arguments.name.replace("-", "_")
    checked_name(name, METHODS, "method")
    if not package.isidentifier():
        raise InputError(f"method {name!r}: expected a name that begins with a letter")
    files = skeleton(name, package)
    taken = [path for path in files if path.exists()]
    if taken:
        raise InputError(f"{taken[0]} exists already; name another method")
    for path, text in files.items():
        write_text(path, text)
        print(path)
    print(f"next: fill them in; `pytest tests/conformance -k {name}` and `pytest tests/methods/{package}`")


def skeleton(name: str, package: str) -> dict[Path, str]:
    """Returns the text of every file of a method by its path."""
    facts = {
        f"test_the_loss_of_{package}_equals_a_calculation_by_hand": "write a calculation by hand",
        f"test_the_loss_of_{package}_equals_a_slow_reference": "write a slow reference",
        f"test_a_special_case_of_{package}_is_known": "write a special case of the paper",
    }
    title = "".join(part.capitalize() for part in package.split("_"))
    values = {"name": name, "package": package, "title": title, "facts": facts}
    code, tests = Path("methods", package), Path("tests/methods", package)
    files = {
        code / "config.py": "config.py.j2",
        code / "method.py": "method.py.j2",
        code / "README.md": "README.md.j2",
        tests / "sample.py": "sample.py.j2",
        tests / f"test_{package}.py": "test.py.j2",
    }
    texts = {path: fill(template, values, folder=SKELETON) for path, template in files.items()}
    return {code / "__init__.py": "", tests / "__init__.py": "", **texts}
