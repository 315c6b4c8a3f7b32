"""Models of the Hugging Face hub as folders, by NAME/REPOSITORY[@REVISION]."""

import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from harness.data.hub import COMMIT, hub_file, keep_commit, known_commit, repository_folder
from harness.data.hub_requests import PIN, HubFile, Unreachable
from harness.data.sources import REVISION
from harness.errors import InputError
from harness.io.files import write_record
from harness.io.records import read_object
from harness.paths import ARTEFACTS, BACKBONES, DATA

NAME = re.compile(r"(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})(@(?P<revision>.*))?")
ROOMS = (DATA, BACKBONES, ARTEFACTS)
"""Folders of a plan, which may not exist yet."""
MARKS = ("config.json", "modules.json")
"""Files that identify a model; one of them is in its top folder."""
SAFE, PICKLES = ("*.safetensors",), ("pytorch_model*.bin", "*/pytorch_model*.bin")
READ = ("*.json", "*.txt", "*.model", "*.jinja", *SAFE, *PICKLES)
"""Patterns of the files that the libraries read: settings, tokenizers and weights."""
NOT_READ = (
    "onnx/*",
    "openvino/*",
    "coreml/*",
    "*/onnx/*",
    "*/openvino/*",
    "runs/*",
    "eval/*",
    "checkpoint-*/*",
)
"""Patterns of skipped files: other formats, and remains of the training."""


def model_folder(named: str | Path) -> Path:
    """Returns an existing folder, or a folder with the files of the hub model of that name. The files come
    from the cache if possible; a hub name has two parts, and the first is not an existing folder. Errors:
    InputError if the hub does not deliver the model.
    """
    path = Path(named)
    match = NAME.fullmatch(str(named))
    if not match or path.exists() or path.parent.exists() or path.parent in ROOMS:
        return path
    repo, revision = match["repo"], "main" if match["revision"] is None else match["revision"]
    if not re.fullmatch(REVISION, revision):  # it becomes part of a path of the cache
        raise InputError(f"{named}: expected a commit, a branch or a tag of the hub after @")
    try:
        return _fetched(repo, *_listed(repo, revision))
    except Unreachable as error:
        raise InputError(f"{named}: no such folder, and not on the hub: {error}") from None


def _fetched(repo: str, commit: str, names: list[str]) -> Path:
    """Returns a folder of links to the files of a model. Errors: Unreachable."""
    folder = _record(repo, commit).with_suffix("")
    for name in names:
        file, link = hub_file(repo, "model", commit, name), folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        part = link.with_name(f".{link.name}.{os.getpid()}")
        part.unlink(missing_ok=True)
        part.symlink_to(os.path.relpath(file.resolve(), link.parent.resolve()))
        part.replace(link)
    return folder


def _listed(repo: str, revision: str) -> tuple[str, list[str]]:
    """Returns the commit of a model's revision and the files to read; asks the hub once.

    Errors: Unreachable without an answer, or for a repository without a model.
    """
    commit = known_commit(repo, "model", revision)
    if commit is not None:
        with suppress(InputError):
            return commit, read_object(_record(repo, commit), "files", again="")["files"]
    from huggingface_hub import HfApi

    what = HubFile(repo, "model", commit or revision, "the list of files")
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
    info: Any = what.asked(lambda: api.model_info(repo, revision=what.revision))
    commit, names = str(info.sha), wanted_files([file.rfilename for file in info.siblings or ()])
    if not COMMIT.fullmatch(commit):
        raise Unreachable(f"{what}: the answer names no commit; {PIN}")
    if not set(names) & set(MARKS):
        raise Unreachable(f"{what}: it has no {' or '.join(MARKS)}, so it is not a model")
    if commit != revision:
        keep_commit(repo, "model", revision, commit)
    _record(repo, commit).parent.mkdir(parents=True, exist_ok=True)
    write_record(_record(repo, commit), {"files": names})
    return commit, names


def wanted_files(names: list[str]) -> list[str]:
    """Returns the files of a repository that a library reads, sorted; pickles only without safetensors."""
    from huggingface_hub.utils import filter_repo_objects

    inside = [name for name in names if ".." not in PurePosixPath(name).parts and not name.startswith("/")]
    wanted = set(filter_repo_objects(inside, allow_patterns=list(READ), ignore_patterns=list(NOT_READ)))
    safe = {PurePosixPath(name).parent for name in filter_repo_objects(wanted, allow_patterns=list(SAFE))}
    pickled = set(filter_repo_objects(wanted, allow_patterns=list(PICKLES)))
    return sorted(name for name in wanted if name not in pickled or PurePosixPath(name).parent not in safe)


def _record(repo: str, commit: str) -> Path:
    """Returns the file with the list of files of a model; their folder is next to it."""
    return repository_folder(repo, "model", commit).parent / "as-folder" / f"{commit}.json"
