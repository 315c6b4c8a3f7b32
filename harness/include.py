"""Methods, tasks, sources and declarations from outside the repository: a folder, a file, or a package.

An included folder has any of methods/NAME.py or methods/NAME/method.py, tasks/NAME.py, pairs/NAME.tsv (or
.csv, .jsonl: scored pairs, which are the task NAME), sources.yaml, recipes/*.yaml, published/*.yaml and
tables/*.yaml. It can import modules next to these by name.
"""

import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import methods
from harness.errors import InputError, place_in
from harness.io.names import check_name
from harness.paths import FOLDERS, INCLUDE, MODULES, TASK_MODULES
from harness.plan.method_class import method_class
from harness.tasks import declared
from methods.registry import METHODS

INCLUDED_PARTS = ("methods", "tasks", "pairs", "recipes", "published", "tables", "models", "sources.yaml")
ENTRY_POINT_GROUPS = ("sentbench.methods", "sentbench.tasks", "sentbench.plans")
"""Entry points of installed packages: a module with a method, one with TASKS, a package that is a folder."""


def include_all(folders: Iterable[str]) -> None:
    """Includes packages with entry points, the folders of SENTBENCH_INCLUDE, and then these.

    Child processes include the same.
    Errors: InputError as of `include`.
    """
    named = [*filter(None, os.environ.get(INCLUDE, "").split(os.pathsep)), *folders]
    wanted = list(dict.fromkeys(Path(name).resolve() for name in named))
    for point in _entry_points(tuple(sys.path)):
        _include_entry(point)
    for folder in wanted:
        include(folder)
    if wanted:
        os.environ[INCLUDE] = os.pathsep.join(map(str, wanted))


def include(folder: Path) -> None:
    """Adds the parts of a folder; repeated calls have no effect.

    Errors: InputError for a folder without any of INCLUDED_PARTS, or a name that exists already.
    """
    if not folder.is_dir() or not any((folder / part).exists() for part in INCLUDED_PARTS):
        raise InputError(f"{folder}: no folder with any of {', '.join(INCLUDED_PARTS)}")
    if folder in FOLDERS:
        return
    FOLDERS.append(folder)
    _add_helpers(folder, omit=INCLUDED_PARTS)
    methods.__path__.append(str(folder / "methods"))
    for path in sorted((folder / "methods").glob("*")):
        MODULES[f"methods.{path.stem}"] = path.with_suffix("")
        if path.name[0] != "_" and (path.suffix == ".py" or (path / "method.py").is_file()):
            _add_method(path)
    for file in sorted((folder / "tasks").glob("[!_]*.py")):
        module = f"{declared.__name__}.{file.stem}"
        if PathFinder.find_spec(module, declared.__path__):
            raise InputError(f"{file}: tasks {file.stem!r} exist already; rename the file")
        MODULES[module] = file.with_suffix("")
    declared.__path__.append(str(folder / "tasks"))
    _add_pairs(folder)
    if (folder / "sources.yaml").is_file():
        from harness.data.sources import SOURCES, read_sources

        for name, source in read_sources(folder / "sources.yaml").items():
            SOURCES[checked_name(name, SOURCES, f"{folder / 'sources.yaml'}: source")] = source


def _add_pairs(folder: Path) -> None:
    """Makes a source of each file of pairs; `harness.tasks.declared.own` makes the tasks."""
    for file in sorted((folder / "pairs").glob("[!._]*")):
        from harness.data.sources import SOURCES, own_source, own_source_name

        name = checked_name(own_source_name(file.stem), SOURCES, f"{file}: source")
        SOURCES[name] = own_source(name, file)


def include_method(file: Path) -> str:
    """Includes the method of a file, imports it and returns its name: the file's name, with - for _.

    Modules in the same folder can be imported by it.
    Errors: InputError for a file without one method, for an import error, with file and line, and for the
    name of an existing method.
    """
    if not file.is_file() or file.suffix != ".py":
        raise InputError(f"{file}: expected a Python file with a method")
    file = file.resolve()
    if MODULES.get(f"methods.{file.stem}") == file.with_suffix(""):  # may have changed since
        METHODS.pop(file.stem.replace("_", "-"), None)
    _add_helpers(file.parent, omit=(file.stem,))
    name = _add_method(file)
    spec = spec_from_file_location(METHODS[name], file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[METHODS[name]] = module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules[METHODS[name]])
    except (Exception, SystemExit) as error:
        del sys.modules[METHODS[name]]
        raise InputError(place_in(file, error)) from error
    method_class(name)
    return name


def _add_method(path: Path) -> str:
    stem = path.stem
    name = checked_name(stem.replace("_", "-"), METHODS, f"{path}: method")
    METHODS[name] = f"methods.{stem}" if path.suffix == ".py" else f"methods.{stem}.method"
    MODULES[f"methods.{stem}"] = path.with_suffix("")
    return name


def checked_name(name: str, known: Iterable[str], where: str) -> str:
    """Returns a valid new name. Errors: InputError for an invalid name or a taken one."""
    try:
        check_name(name)
    except ValueError as error:
        raise InputError(f"{where} {name!r}: {error}; rename it") from None
    if name in known:
        raise InputError(f"{where} {name!r} exists already; rename it")
    return name


def _add_helpers(folder: Path, *, omit: Iterable[str]) -> None:
    names = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}
    for name in sorted(names - set(omit)):
        if name.isidentifier() and name not in sys.stdlib_module_names and find_spec(name) is None:
            MODULES[name] = folder / name
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@cache
def _entry_points(places: tuple[str, ...]) -> list[EntryPoint]:
    """Returns the entry points of the packages in these places, which is `sys.path`."""
    installed = entry_points()  # reads each package once
    return [point for group in ENTRY_POINT_GROUPS for point in installed.select(group=group)]


@cache
def _include_entry(point: EntryPoint) -> None:
    """Adds the module of an entry point, once: `NAME = package.module`."""
    top = point.module.split(".")[0]
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        raise InputError(f"entry point {point.group} {point.name}: no package {top}; install it again")
    origin = Path(spec.origin)
    MODULES[top] = origin.parent if origin.name == "__init__.py" else origin.with_suffix("")
    if point.group == "sentbench.methods":
        METHODS[checked_name(point.name, METHODS, f"entry point {point.group}")] = point.module
    elif point.group == "sentbench.tasks":
        TASK_MODULES.append(point.module)
    else:
        include(MODULES[top])
