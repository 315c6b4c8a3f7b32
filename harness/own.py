"""What of this process lies outside the repository: modules, and folders with declarations of their own."""

from __future__ import annotations

from pathlib import Path

VARIABLE = "SENTBENCH_INCLUDE"
"""Names folders as PATH does; a command hands them on to the processes that it starts."""
FOLDERS: list[Path] = []
"""Folders with the layout of this repository: recipes, published numbers and tables are read from them."""
MODULES: dict[str, Path] = {}
"""Module or package -> its path without the ending; the identity of a run covers what it imports of them."""
TASK_MODULES: list[str] = []
"""Modules of installed packages that declare TASKS."""
REASONS = (ImportError, NameError, AttributeError, TypeError, ValueError, SyntaxError)
"""What a module of one's own raises while it is imported, where one line is enough for its author."""


def declarations_of(folder: Path) -> list[Path]:
    """Returns the YAML files of a folder of declarations, then those of the folders of one's own.

    Errors: InputError if the first folder has none.
    """
    from harness.declarations import list_declarations  # the list of tasks is made without pydantic

    return [*list_declarations(folder), *own_files(folder.name, "*.yaml")]


def own_files(room: str, pattern: str) -> list[Path]:
    """Returns the files of a pattern in ROOM of each folder of one's own, by folder and name."""
    return [path for folder in FOLDERS for path in sorted((folder / room).glob(pattern))]


def place_in(file: Path, error: BaseException) -> str:
    """Returns `FILE:LINE: KIND: MESSAGE` of an error, with the deepest line of that file in its traceback."""
    line, step = getattr(error, "lineno", None), error.__traceback__
    while step is not None:
        if Path(step.tb_frame.f_code.co_filename) == file:
            line = step.tb_lineno
        step = step.tb_next
    place = f"{file}:{line}" if line else str(file)
    return f"{place}: {type(error).__name__}: {error}"
