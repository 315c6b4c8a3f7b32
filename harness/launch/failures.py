"""Failures of DVC in one line: of a project that cannot be opened, and of one stage."""

import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import InputError, near_matches


class StageError(Exception):
    """Raised for a stage that cannot be begun or recorded, with one line."""


@contextmanager
def project_errors(repo: Any = None, names: Sequence[str] = ()) -> Iterator[None]:
    """Raises DVC's errors while a project is opened as InputError, with what to do. repo: the project, once
    DVC has read its settings; names: the targets.
    """
    from dvc.exceptions import DvcException, NoOutputOrStageError, NotDvcRepoError
    from dvc.lock import LockError
    from dvc.stage.exceptions import StageNotFound

    try:
        yield
    except LockError:
        raise InputError(
            "another `dvc` or `sentbench launch` is running in this project; wait for it (if it has "
            f"crashed, delete {os.path.relpath(repo.lock.lockfile)})"
        ) from None
    except NotDvcRepoError as error:
        raise InputError("running stages: run this in a checkout of the project") from error
    except (StageNotFound, NoOutputOrStageError) as error:
        known = [stage.addressing for stage in repo.index.stages]
        near = "".join(near_matches(name, known) for name in names if name not in known)
        raise InputError(f"{in_words(error)}{near}; see `dvc stage list`") from error
    except (DvcException, UnicodeDecodeError) as error:
        line = in_words(error)
        remedy = "`git checkout dvc.lock` restores it" if "dvc.lock" in line else "see `dvc status`"
        raise InputError(f"{line}; {remedy}") from error
    except (AssertionError, AttributeError, TypeError, ValueError) as error:
        if not _is_of_a_stage(error):
            raise
        raise InputError(
            "params.yaml: a value that dvc.yaml reads is no text; `sentbench list runs` names the first one"
        ) from error


@contextmanager
def stage_errors() -> Iterator[None]:
    """Raises DVC's errors while it reads or records a stage as StageError."""
    from dvc.exceptions import DvcException

    try:
        yield
    except (DvcException, OSError, UnicodeDecodeError) as error:
        raise StageError(in_words(error)) from error
    except (LookupError, TypeError) as error:
        raise StageError("an entry of DVC's run cache is damaged; delete .dvc/cache/runs") from error


def in_words(error: Exception) -> str:
    """Returns an error of DVC or of the system in one line, which names the file."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{os.path.relpath(error.filename)}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def discard_damaged_locks(folder: Path) -> None:
    """Removes DVC's list of used paths if a killed process left it unreadable; under DVC's lock."""
    from dvc.rwlock import RWLOCK_FILE, SCHEMA
    from voluptuous import Invalid

    path = folder / RWLOCK_FILE
    try:
        SCHEMA(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return
    except (ValueError, Invalid):
        path.unlink()
        print(
            f"sentbench: removed {os.path.relpath(path)}, which a killed process left damaged",
            file=sys.stderr,
        )


def _is_of_a_stage(error: Exception) -> bool:
    """Returns whether DVC failed while it loaded a stage, whose values it takes for texts without a check."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__") == "dvc.stage.loader" for frame, _ in frames)
