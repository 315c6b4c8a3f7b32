"""Outputs: checks before existing ones are replaced, and joint exchange of old and new ones.

A folder is replaced only if it is empty or has only files of its layout. The check reads the folder itself,
so it works for folders made here, cloned or checked out by DVC.

New outputs are written next to their paths, in a hidden folder, as NEW and OLD. The writing process holds a
lock on that folder, which the system drops when the process ends. So a folder without a lock was left by a
killed process; the next command for that output restores or removes it.
"""

import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from harness.errors import InputError
from harness.io.files import UMASK, discard, make_readable
from harness.io.layouts import Layout
from harness.paths import INSTALLED

SUFFIX = ".part"
NEW, OLD = "new", "old"
LEAST_ROOM = 1 << 20
"""Free bytes required for any output."""


def check_folder(path: Path, layout: Layout, *, room: int = LEAST_ROOM) -> None:
    """Raises InputError unless an output folder can be made or replaced.

    Only leftovers of a killed process are changed. room: bytes that the output may take.
    """
    _check_creatable(path, _checked(path, layout), room)


def check_file(path: Path, *, keys: Iterable[str] = (), room: int = LEAST_ROOM) -> Path:
    """Returns the resolved path of an output file; an existing file must be empty or have `keys` as JSON.

    Errors: InputError unless it can be written.
    """
    output = _checked(path, None)
    if output.is_file():
        if output.stat().st_size and not _has_keys(output, tuple(keys)):
            raise InputError(f"{path}: exists and is not an output of this command; name another file")
        if not os.access(output, os.W_OK):
            raise InputError(f"{path}: write-protected")
    _check_creatable(path, output, room)
    return output


def check_addition(folder: Path, *, room: int = LEAST_ROOM) -> None:
    """Raises InputError unless files can be added to a folder, which need not exist yet."""
    _check_creatable(folder, _really(folder) / "addition", room)


@contextmanager
def new_folder(path: Path, layout: Layout) -> Iterator[Path]:
    """Yields an empty folder next to `path` that is moved there when the block ends without an error."""
    with new_outputs({path: layout}) as parts:
        yield parts[path]


@contextmanager
def new_outputs(outputs: Mapping[Path, Layout | None]) -> Iterator[dict[Path, Path]]:
    """Yields for each output an empty folder, or a file if its layout is None, on the same disk.

    When the block ends without an error all of them are moved there; after an error all outputs are
    unchanged. Replaced outputs are removed last.
    Errors: InputError if a path contains files that may not be replaced.
    """
    real = {path: _checked(path, layout) for path, layout in outputs.items()}
    with ExitStack() as work:
        new = {
            path: work.enter_context(_work_place(output, is_folder=outputs[path] is not None))
            for path, output in real.items()
        }
        yield new
        for path, layout in outputs.items():
            make_readable(new[path])
            new[path].chmod((0o666 if layout is None else 0o777) & ~UMASK)
            _checked(path, layout)
        exchange({output: new[path] for path, output in real.items()})


def room_of(*paths: Path) -> int:
    """Returns the bytes of files and folders, as an estimate for a copy."""
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return LEAST_ROOM + sum(file.stat().st_size for file in files if file.is_file())


def _foreign_file(folder: Path, layout: Layout) -> str | None:
    """Returns the first file that does not belong to the layout; None if all do."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_dir() and not path.is_symlink():
            continue
        if not any(_fits(name, pattern) for pattern in (*layout.marker_files, *layout.names)):
            return name.as_posix()
    for mark, keys in layout.marker_files.items():
        if not (folder / mark).is_file():
            return f"no {mark}"
        if not _has_keys(folder / mark, keys):
            return f"{mark} of something else"
    return None if layout.marker_files else "no file identifies its writer"


def _fits(name: Path, pattern: str) -> bool:
    wanted = PurePosixPath(pattern).parts
    return len(wanted) == len(name.parts) and all(map(fnmatchcase, name.parts, wanted))


def _has_keys(path: Path, keys: tuple[str, ...]) -> bool:
    """Returns whether a file is a JSON object with these keys; without keys any file will do."""
    if not keys:
        return True
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and set(keys) <= set(content)


def _checked(path: Path, layout: Layout | None) -> Path:
    """Returns the resolved path of an output; InputError if it may not be replaced. layout: None for a
    file."""
    output = _really(path)
    clear_leftovers(output)
    if layout is not None:
        _check_replaceable(path, output, layout)
    elif output.is_dir():
        raise InputError(f"{path}: is a folder; name a file in it")
    elif os.path.lexists(output) and not output.is_file():
        raise InputError(f"{path}: not a regular file")
    return output


def _really(path: Path) -> Path:
    output = Path(os.path.realpath(path))
    try:
        output.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return output
    except OSError as error:
        raise InputError(f"{path}: invalid path ({error.strerror})") from None
    return output


def _check_replaceable(path: Path, output: Path, layout: Layout) -> None:
    for name, kept in {
        "the current folder": Path.cwd(),
        "the project's folder": INSTALLED,
        "your home": Path.home(),
    }.items():
        if output == kept or output in kept.parents:
            what = name if output == kept else f"a folder that {name} is in"
            raise InputError(f"{path}: is {what}; name a new folder for {layout.label}")
    if not output.is_dir():
        if os.path.lexists(output):
            raise InputError(f"{path}: is a file; name a new folder for {layout.label}")
        return
    foreign = _foreign_file(output, layout)
    if foreign is not None and any(output.iterdir()):
        raise InputError(f"{path}: contains other files ({foreign}); name a new folder for {layout.label}")


def _check_creatable(path: Path, output: Path, room: int) -> None:
    """Creates and removes a folder next to the output, with missing parent folders."""
    missing: list[Path] = []
    try:
        missing += (parent for parent in output.parents if not parent.exists())
        output.parent.mkdir(parents=True, exist_ok=True)
        trial = tempfile.TemporaryDirectory(dir=output.parent, ignore_cleanup_errors=True)
        trial.cleanup()
        free = shutil.disk_usage(output.parent).free
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); name another path"
        ) from None
    finally:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
    if free < room:
        raise InputError(
            f"{path}: {free / 1e6:,.0f} MB are free there, expected {room / 1e6:,.0f} MB; free some or name "
            "another disk"
        )


@contextmanager
def _work_place(output: Path, *, is_folder: bool) -> Iterator[Path]:
    """Yields the path for the new version of an output, an empty folder or file in a locked hidden folder.

    When the block ends the hidden folder is removed, except an old version that could not be restored.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}.", suffix=SUFFIX))
    with _locked(folder):
        try:
            if is_folder:
                (folder / NEW).mkdir()
            else:
                (folder / NEW).touch()
            yield folder / NEW
        finally:
            waits = os.path.lexists(folder / OLD) and not os.path.lexists(output)
            discard(folder / NEW if waits else folder)


def exchange(new: Mapping[Path, Path]) -> None:
    """Moves every new version to its output; if one move fails, all outputs are restored."""
    try:
        for output, path in new.items():
            if os.path.lexists(output):
                os.rename(output, path.with_name(OLD))
            os.rename(path, output)
    except BaseException:
        for output, path in new.items():
            _put_back(output, path)
        raise


def clear_leftovers(output: Path) -> None:
    """Restores the old version that a killed process left if the output is missing; removes other
    leftovers."""
    pattern = re.compile(re.escape(f".{output.name}.") + r"[a-z0-9_]+" + re.escape(SUFFIX))
    try:
        leftovers = [name for name in os.listdir(output.parent) if pattern.fullmatch(name)]
    except OSError:  # missing or unreadable folder
        return
    for folder in map(output.with_name, sorted(leftovers)):
        if not folder.is_dir() or folder.is_symlink():
            continue
        with _locked(folder) as free:
            if free and os.path.lexists(folder / OLD) and not os.path.lexists(output):
                os.rename(folder / OLD, output)
            if free:
                discard(folder)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Holds the lock of a folder in the block; yields False if another process holds it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except OSError:
        free = False
    try:
        yield free
    finally:
        os.close(handle)


def _put_back(output: Path, new: Path) -> None:
    old = new.with_name(OLD)
    if os.path.lexists(output) and not os.path.lexists(new):
        os.rename(output, new)
    if os.path.lexists(old):
        try:
            os.rename(old, output)
        except OSError as error:
            raise InputError(
                f"{output}: could not be restored ({error.strerror}); its old version is in {old}: move "
                f"it back by hand"
            ) from None
