"""The identity of code: what it says to the interpreter, not how it is written.

A comment, a docstring, a blank line or a README leaves a fingerprint as it is; any other edit changes it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Sequence
from pathlib import Path

from harness.errors import InputError


def fingerprint(folders: Sequence[Path]) -> str:
    """Returns one sha256 over the syntax of all Python files and the bytes of all declarations in `folders`.

    A file counts with its path relative to its folder, so that a renamed module changes the fingerprint.
    Errors: InputError if a folder is missing or a file does not parse.
    """
    digest = hashlib.sha256()
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                f"{folder}: no such folder, expected a package; run the command in the project root"
            )
        for path in sorted(folder.rglob("*")):
            if path.suffix == ".py":
                content = normal_form(path)
            elif path.suffix in (".yaml", ".yml"):
                content = path.read_text(encoding="utf-8")
            else:
                continue
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\0".encode())
    return digest.hexdigest()


def normal_form(path: Path) -> str:
    """Returns a module's code without comments, docstrings and spacing."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: {error.msg}; expected Python code; mend the file") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node: ast.stmt) -> bool:
    """Returns whether a statement is a bare string: a docstring, or the text under an attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
