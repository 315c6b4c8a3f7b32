"""Queries of git: scores of a revision, changes since, and the commit of the code."""

import io
import subprocess
import tempfile
import zipfile
from functools import partial
from pathlib import Path

from harness.errors import InputError
from harness.evidence.further import read_recorded
from harness.evidence.schema import ResultFile
from harness.io.records import check_plain
from harness.paths import COMMITTED, EMBEDDINGS, FURTHER, PARAMS, RECIPES, SCORES

LOCK_FILES = ("requirements.lock", "requirements-torch.lock")
DETERMINES = ("methods", "harness", RECIPES.as_posix(), PARAMS.as_posix(), *LOCK_FILES)
"""Paths that determine numbers: code, recipes, the plan and the pinned libraries."""


def results_of(name: str) -> list[ResultFile]:
    """Returns the result files of a folder or, if there is no such folder, of a git revision.

    Errors: InputError if `name` is neither, or has no scores.
    """
    scores = Path(name)
    check_plain(scores, again="delete it and evaluate the run again", pattern="*.json")
    results = _of_folder(scores) if scores.is_dir() else _of_revision(name)
    if not results:
        raise InputError(f"{name}: no result files (*.json)")
    return results


def committed_results() -> tuple[list[ResultFile], str]:
    """Returns the committed results and "", or an empty list and the reason. Without git: the copy that
    `make reproduce` keeps or, before a first run, the files of reports/.
    """
    if is_revision("HEAD"):
        try:
            return _of_revision("HEAD"), ""
        except InputError:
            return [], "this folder has no git commit with results"
    if COMMITTED.is_dir():
        return _of_folder(COMMITTED / SCORES.name), ""
    if EMBEDDINGS.is_dir():  # a run has replaced results
        refusal = git_refusal() or "this folder has no commit"
        return [], f"{refusal}, and there is no copy of the committed results from `make reproduce`"
    return _of_folder(SCORES), ""


def changed_files(*names: str) -> list[str]:
    """Returns the files of the current folder below these names that `git restore` would restore, sorted."""
    listed = _git("diff", "--name-only", "--relative", "-z", "--", *names)
    return sorted(filter(None, (listed or b"").decode("utf-8", "surrogateescape").split("\0")))


def git_state() -> tuple[str, bool]:
    """Returns the commit and whether files of DETERMINES differ from it; ("unknown", True) without git."""
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return "unknown", True
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *DETERMINES)
    return commit.decode().strip(), bool(changed)


def is_revision(name: str) -> bool:
    """Returns whether the repository has a revision of this name."""
    return bool(name) and not name.startswith("-") and _git("rev-parse", f"{name}^{{tree}}") is not None


def _of_revision(revision: str) -> list[ResultFile]:
    if not is_revision(revision):
        if refusal := git_refusal():
            raise InputError(f"{revision!r} is not a folder; git: {refusal}")
        raise InputError(
            f"{revision!r} is neither a folder of scores nor a git revision, for example HEAD~1 or {SCORES}"
        )
    archive = partial(_git, "archive", "--format=zip", revision, SCORES.as_posix())
    packed = archive(FURTHER.as_posix()) or archive()
    if packed is None:
        raise InputError(f"revision {revision!r} has no {SCORES}")
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(io.BytesIO(packed)) as files:
        files.extractall(scratch)
        return _of_folder(Path(scratch) / SCORES)


def _of_folder(scores: Path) -> list[ResultFile]:
    """Returns the results of a folder, with those of the further seeds in the folder next to it."""
    return read_recorded(scores, scores.with_name(FURTHER.name)).results


def git_refusal() -> str:
    """Returns the reason if git is missing or refuses the current folder, otherwise an empty text."""
    try:
        done = subprocess.run(["git", "rev-parse", "--git-dir"], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"git cannot be started ({error.strerror}); install it, or put it on the PATH"
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return "; ".join(lines) if done.returncode else ""


def _git(*arguments: str) -> bytes | None:
    try:
        return subprocess.run(["git", *arguments], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
