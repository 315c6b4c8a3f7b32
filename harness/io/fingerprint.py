"""Fingerprints of code: a hash of its executable statements and of all modules that it imports.

Comments, docstrings, spacing and code under `if TYPE_CHECKING` do not change a fingerprint; any other edit
changes the fingerprint of everything that imports the module.
"""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError

FOR_TYPES = re.compile(r"(\w+\.)?TYPE_CHECKING")
"""A condition that is never true at run time."""


class Import(NamedTuple):
    """One import: the module it names and, for `from module import ...`, the imported names."""

    module: str
    names: tuple[str, ...] = ()


class Code(NamedTuple):
    """Import statements of a module, and the sha256 of its normal form."""

    imports: tuple[Import, ...]
    sha256: str


class CodeBase:
    """The Python modules below a folder, each parsed once, when it is first imported.

    packages: its top-level packages; all other imports are libraries and not followed. borders: its modules
    that are not followed either. own: modules and packages in other folders, with their paths without the
    ending.
    """

    def __init__(
        self,
        root: Path,
        packages: Collection[str],
        *,
        borders: Collection[str] = (),
        own: Mapping[str, Path] | None = None,
    ) -> None:
        self.root, self.borders = root, borders
        self._tops = {package: root / package for package in packages} | dict(own or {})
        self._labels: dict[Path, Path] = {}
        self._modules: dict[str, Path] = {}
        for top, base in self._tops.items():
            label = Path(*top.split("."))
            files = {base.with_name(f"{base.name}.py"): label.with_name(f"{label.name}.py")}
            files |= {path: label / path.relative_to(base) for path in base.rglob("*.py")}
            self._labels |= {path: name for path, name in files.items() if path.is_file()}
        for path, label in self._labels.items():
            module = label.parent if label.name == "__init__.py" else label.with_suffix("")
            self._modules[".".join(module.parts)] = path
        self._codes: dict[Path, Code] = {}
        self._imported: dict[Path, set[Path]] = {}

    def fingerprint(self, roots: Iterable[str]) -> str:
        """Returns one sha256 over the modules `roots` and all modules that they import, directly or not.

        Paths are included, so renaming a module changes the fingerprint.
        Errors: InputError if a module is missing or does not parse.
        """
        digest = hashlib.sha256()
        for path in self.closure(roots):
            digest.update(f"{self._labels[path].as_posix()}\0{self._code(path).sha256}\n".encode())
        return digest.hexdigest()

    def closure(self, roots: Iterable[str]) -> list[Path]:
        """Returns the files of the modules `roots` and of all that they import, directly or not, sorted.

        Imports inside functions are included, and so is the `__init__` of every parent package, which Python
        runs first.
        """
        files: set[Path] = set()
        waiting = [path for name in roots for path in self._files(name, needed_by="the list of roots")]
        while waiting:
            path = waiting.pop()
            if path not in files:
                files.add(path)
                waiting += self._imports_of(path)
        return sorted(files, key=self._labels.__getitem__)

    def _imports_of(self, path: Path) -> set[Path]:
        if path not in self._imported:
            self._imported[path] = {
                file
                for statement in self._code(path).imports
                for name in self._modules_of(statement)
                for file in self._files(name, needed_by=str(path))
            }
        return self._imported[path]

    def _modules_of(self, statement: Import) -> list[str]:
        """Returns the modules of this code that a statement imports, also by `from package`."""
        if self._tops.keys().isdisjoint(_prefixes(statement.module)):
            return []
        parts = [f"{statement.module}.{name}" for name in statement.names]
        return [statement.module, *(name for name in parts if name in self._modules)]

    def _files(self, name: str, *, needed_by: str) -> list[Path]:
        """Returns the files that run when module `name` is imported: the packages above it, and its own."""
        if name in self.borders:
            name = name.rpartition(".")[0]
        if name not in self._modules and not any(module.startswith(f"{name}.") for module in self._modules):
            raise InputError(f"{needed_by} names module {name}, which is not below {self.root}")
        return [self._modules[prefix] for prefix in _prefixes(name) if prefix in self._modules]

    def _code(self, path: Path) -> Code:
        if path not in self._codes:
            package = ".".join(self._labels[path].parts[:-1])
            self._codes[path] = _parse(path.read_bytes(), str(path), package)
        return self._codes[path]


def _prefixes(name: str) -> list[str]:
    """Returns the packages above a module, and the module: `a`, `a.b`, `a.b.c`."""
    return list(accumulate(name.split("."), "{}.{}".format))


@cache
def _parse(content: bytes, path: str, package: str) -> Code:
    """Returns the code of a module of `package`, in the encoding that it states. Errors: InputError with the
    line of a syntax error."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(f"{path}{line}: {getattr(error, 'msg', error)}") from None
    imports: list[Import] = []
    tree.body = list(_executed(tree.body, package, imports))
    return Code(tuple(imports), hashlib.sha256(ast.unparse(tree).encode()).hexdigest())


def _executed(statements: list[ast.stmt], package: str, imports: list[Import]) -> Iterator[ast.stmt]:
    """Yields the executable statements at every depth, and collects their imports. Bare strings are
    docstrings of modules, objects or attributes. Code under TYPE_CHECKING never runs.
    """
    for node in statements:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.If) and FOR_TYPES.fullmatch(ast.unparse(node.test)):
            yield from _executed(node.orelse, package, imports)
            continue
        if isinstance(node, ast.Import):
            imports += [Import(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports.append(Import(_absolute(node, package), tuple(alias.name for alias in node.names)))
        inner = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        for part, field in ((part, field) for part in inner for field in ("body", "orelse", "finalbody")):
            if block := getattr(part, field, None):
                setattr(part, field, list(_executed(block, package, imports)) or [ast.Pass()])
        yield node


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Returns the full name of the module that `from ... import` names inside a package."""
    above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])
