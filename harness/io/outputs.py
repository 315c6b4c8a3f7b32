"""Outputs: checks before existing ones are replaced, and joint exchange of old and new ones.

A folder is replaced only if it is empty or its record lists every file in it, whoever brought it: a command,
a clone or DVC.

New versions are made next to their outputs, in hidden folders that the writing process locks, and exchanged
together: the move of the first one decides whether a killed or interrupted exchange is completed or undone.
Locks end with the process, so an unlocked folder was left by a killed one; the next command for its output
settles it.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from harness.errors import InputError
from harness.io.files import UMASK, discard, make_readable, write_json, write_manifest
from harness.io.records import FILES, read_object
from harness.paths import INSTALLED

SUFFIX = ".part"
NEW, OLD, TOGETHER = "new", "old", "outputs.json"
"""Of a hidden folder: the new and the old version, and all outputs of the exchange, each with its record."""
LEAST_ROOM = 1 << 20
"""Free bytes required for any output."""
Outputs = Mapping[Path, str | None]
"""Each output with the name of its record; None for a file."""


def check_folder(path: Path, record: str, *, room: int = LEAST_ROOM) -> None:
    """Raises InputError unless an output folder with this record can be made or replaced.

    Only leftovers of a killed process are changed. room: bytes that the output may take.
    """
    _check_creatable(path, _replaceable(path, record), room)


def check_file(path: Path, *, keys: Sequence[str] = (), room: int = LEAST_ROOM) -> Path:
    """Returns the resolved path of an output file; an existing file must be empty or have `keys` as JSON.

    Errors: InputError unless it can be written.
    """
    output = _replaceable(path, None)
    if output.is_file():
        try:
            if keys and output.stat().st_size:
                read_object(output, *keys, again="")
        except InputError:
            raise InputError(
                f"{path}: exists and is not an output of this command; name another file"
            ) from None
        if not os.access(output, os.W_OK):
            raise InputError(f"{path}: write-protected")
    _check_creatable(path, output, room)
    return output


def check_addition(folder: Path, *, room: int = LEAST_ROOM) -> None:
    """Raises InputError unless files can be added to a folder, which need not exist yet."""
    _check_creatable(folder, _real(folder) / "addition", room)


@contextmanager
def new_folder(path: Path, record: str) -> Iterator[Path]:
    """Yields an empty folder next to `path` that is moved there when the block ends without an error."""
    with new_outputs({path: record}) as parts:
        yield parts[path]


@contextmanager
def new_outputs(outputs: Outputs) -> Iterator[dict[Path, Path]]:
    """Yields for each output an empty folder, or a file if it has no record, on the same disk.

    When the block ends without an error all of them are moved there; after an error all outputs are
    unchanged. A folder's record is written if the block has not. Replaced outputs are removed last.
    Errors: InputError if an output has files that may not be replaced, or another process writes it.
    """
    real: dict[Path, str | None] = {}
    with ExitStack() as held:
        try:
            for path, record in outputs.items():
                output = _replaceable(path, record)
                held.enter_context(_held(output))
                real[output] = record
                _new(output).touch() if record is None else _new(output).mkdir()
            yield {path: _new(_real(path)) for path in outputs}
            for output, record in real.items():
                _complete(_new(output), record)
                _check_replaceable(output, output, record)
            for output in real:
                write_json(_work(output) / TOGETHER, [[str(path), record] for path, record in real.items()])
            exchange(list(real))
        finally:
            if real:
                _settle(real)


def room_of(*paths: Path) -> int:
    """Returns the bytes of files and folders, as an estimate for a copy."""
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return LEAST_ROOM + sum(file.stat().st_size for file in files if file.is_file())


def exchange(outputs: Sequence[Path]) -> None:
    """Moves every new version to its output; after an error they are moved back, the first one last."""
    try:
        for output in outputs:
            _put(output)
    except BaseException:
        for output in reversed(outputs):
            if os.path.lexists(output) and not os.path.lexists(_new(output)):
                os.rename(output, _new(output))
        raise


def _complete(new: Path, record: str | None) -> None:
    """Completes a new version: its record, which must list all of its files, and their permissions."""
    if record is not None:
        if not (new / record).is_file():
            write_manifest(new / record, {})
        unlisted = _unlisted(new, record)
        if unlisted is not None:
            raise InputError(f"{unlisted}: not listed in {record} of the copied folder; remove it there")
        make_readable(new)
    new.chmod((0o666 if record is None else 0o777) & ~UMASK)


def _put(output: Path) -> None:
    """Moves the old version aside, unless that was done before, and the new one to its place."""
    if os.path.lexists(output) and not os.path.lexists(_old(output)):
        os.rename(output, _old(output))
    if not os.path.lexists(output):
        os.rename(_new(output), output)


def _settle(outputs: Outputs) -> None:
    """Completes an exchange if its first output was moved, otherwise undoes it; removes hidden folders.

    outputs: resolved paths. Errors: InputError for an old version that cannot be restored, and if an output
    that waits for its new version contains other files now.
    """
    first = _work(next(iter(outputs)))
    decided = first.is_dir() and not os.path.lexists(first / NEW)
    for output, record in outputs.items():
        old = _old(output)
        if decided and os.path.lexists(_new(output)):
            _check_replaceable(output, output, record)
            _put(output)
        elif os.path.lexists(old) and not os.path.lexists(output):
            try:
                os.rename(old, output)
            except OSError as error:
                raise InputError(
                    f"{output}: could not be restored ({error.strerror}); its old version is in {old}: move "
                    f"it back by hand"
                ) from None
    for output in reversed([*outputs]):
        discard(_work(output))


def _settle_killed(output: Path) -> None:
    """Settles the exchange that a killed process left for an output, with all outputs of that exchange."""
    if not _work(output).is_dir():
        return
    together: Outputs = {output: None}
    with suppress(OSError, ValueError):  # missing: killed before the exchange
        listed = json.loads((_work(output) / TOGETHER).read_text(encoding="utf-8"))
        if str(output) in dict(listed):  # otherwise the project was moved
            together = {Path(path): record for path, record in listed}
    with ExitStack() as locks:
        works = [_work(path) for path in together if _work(path).is_dir()]
        if all(locks.enter_context(_locked(work)) for work in works):
            _settle(together)


@contextmanager
def _held(output: Path) -> Iterator[None]:
    """Makes and locks the hidden folder of an output. Errors: InputError if another process has it."""
    output.parent.mkdir(parents=True, exist_ok=True)
    work = _work(output)
    with suppress(FileExistsError):
        work.mkdir(mode=0o700)
    with _locked(work) as free:
        if not free:
            raise InputError(f"{output}: another process is writing it; wait until it ends")
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Holds the lock of a folder in the block; yields False if another process holds it or has removed it."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = os.path.samestat(os.fstat(handle), folder.stat())
        except OSError:
            free = False
        yield free
    finally:
        os.close(handle)


def _work(output: Path) -> Path:
    return output.parent / f".{output.name}{SUFFIX}"


def _new(output: Path) -> Path:
    return _work(output) / NEW


def _old(output: Path) -> Path:
    return _work(output) / OLD


def _unlisted(folder: Path, record: str) -> str | None:
    """Returns the first file of a folder that its record does not list, None if it lists all of them."""
    try:
        listed = {record, *read_object(folder / record, FILES, again="")[FILES]}
    except (InputError, TypeError):
        listed = set()
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    names = sorted(path.relative_to(folder).as_posix() for path in files)
    empty = None if listed else next((path.name for path in folder.iterdir()), None)
    return next((name for name in names if name not in listed), empty)


def _real(path: Path) -> Path:
    output = Path(os.path.realpath(path))
    try:
        output.lstat()
    except OSError as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise InputError(f"{path}: invalid path ({error.strerror})") from None
    return output


def _replaceable(path: Path, record: str | None) -> Path:
    """Returns the resolved path of an output that may be replaced; settles what a killed process left."""
    output = _real(path)
    _settle_killed(output)
    _check_replaceable(path, output, record)
    return output


def _check_replaceable(path: Path, output: Path, record: str | None) -> None:
    """Raises InputError if what is at the resolved path of an output may not be replaced."""
    if record is None:
        if output.is_dir():
            raise InputError(f"{path}: is a folder; name a file in it")
        if os.path.lexists(output) and not output.is_file():
            raise InputError(f"{path}: not a regular file")
        return
    kept = {"the current folder": Path.cwd(), "the project's folder": INSTALLED, "your home": Path.home()}
    for name, folder in kept.items():
        if output == folder or output in folder.parents:
            what = name if output == folder else f"a folder that {name} is in"
            raise InputError(f"{path}: is {what}; name a new folder")
    if output.is_dir():
        unlisted = _unlisted(output, record)
        if unlisted is not None:
            raise InputError(
                f"{path}: contains other files ({unlisted}) than {record} lists; remove it or name another"
            )
    elif os.path.lexists(output):
        raise InputError(f"{path}: is a file; name a new folder")


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
