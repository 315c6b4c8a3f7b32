"""Snapshots of a folder's content for comparison."""

import os
from pathlib import Path


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """Returns path -> bytes of a file, target of a link, None for a folder; hidden ones too."""
    result: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            result[name] = os.readlink(path)
        else:
            result[name] = path.read_bytes() if path.is_file() else None
    return result


def tree_but(folder: Path, *hidden: str) -> dict[str, bytes | str | None]:
    """Returns the tree without paths that begin with one of the given paths."""
    return {name: value for name, value in tree(folder).items() if not name.startswith(hidden)}
