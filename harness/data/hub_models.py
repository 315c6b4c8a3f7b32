"""A model of the Hugging Face hub by its name, as a folder: NAME/REPOSITORY, or with @REVISION behind it."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath

from harness.data.hub import WEIGHTS, commit_of, hub_file, repository_folder
from harness.data.hub_requests import Absent, Unreachable
from harness.data.sources import REVISION
from harness.disk.files import write_record
from harness.disk.records import read_object
from harness.errors import InputError
from harness.paths import ARTEFACTS, BACKBONES, DATA

NAME = re.compile(r"(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})(@(?P<revision>.*))?")
ROOMS = (DATA, BACKBONES, ARTEFACTS)
"""Folders of a plan, which need not exist yet."""
CONFIG, MODULES = "config.json", "modules.json"
TOKENIZER = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model"),
)
"""Files of a tokenizer, of which a model has some."""
SETTINGS = ("sentence_bert_config.json", "config_sentence_transformers.json")


def model_folder(named: str | Path) -> Path:
    """Returns a folder that exists, or one with the files of the hub's model of that name.

    The files come from the cache where it has them; a name of the hub has two parts, of which the first is no
    folder here. Errors: InputError if the hub does not give the model.
    """
    path = Path(named)
    found = NAME.fullmatch(str(named))
    if not found or path.exists() or path.parent.exists() or path.parent in ROOMS:
        return path
    repo, revision = found["repo"], "main" if found["revision"] is None else found["revision"]
    if not re.fullmatch(REVISION, revision):  # it becomes part of a path of the cache
        raise InputError(f"{named}: expected a commit, a branch or a tag of the hub behind @; correct it")
    try:
        return _fetched(repo, commit_of(repo, "model", revision, CONFIG))
    except Unreachable as error:
        raise InputError(
            f"{named}: no such folder, and the hub does not give such a model: {error}"
        ) from None


def _fetched(repo: str, commit: str) -> Path:
    """Returns a folder of links to the files of a model. Errors: Unreachable."""
    folder = repository_folder(repo, "model", commit).parent / "as-folder" / commit
    record = folder.with_name(f"{commit}.json")
    for name, file in _files(repo, commit, record).items():
        link = folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        part = link.with_name(f".{link.name}.{os.getpid()}")
        part.unlink(missing_ok=True)
        part.symlink_to(os.path.relpath(file.resolve(), link.parent.resolve()))
        part.replace(link)
    return folder


def _files(repo: str, commit: str, record: Path) -> dict[str, Path]:
    """Returns the files of a model in the cache by their names.

    record: keeps which files the model has, so that the hub is not asked for others again.
    """
    with suppress(InputError):
        names = read_object(record, "files", again="")["files"]
        return {str(name): hub_file(repo, "model", commit, str(name)) for name in names}
    needed, optional = [CONFIG, WEIGHTS], [MODULES, *SETTINGS, *TOKENIZER]
    with suppress(Absent):
        for module in _modules(hub_file(repo, "model", commit, MODULES)):
            needed.append(f"{module}/{CONFIG}")
            optional.append(f"{module}/{WEIGHTS}")
    found = {name: hub_file(repo, "model", commit, name) for name in needed}
    for name in optional:
        with suppress(Absent):
            found[name] = hub_file(repo, "model", commit, name)
    record.parent.mkdir(parents=True, exist_ok=True)
    write_record(record, {"files": sorted(found)})
    return found


def _modules(file: Path) -> list[str]:
    """Returns the folders of modules that have one. Errors: InputError for a file that is no list of them."""
    try:
        listed = [str(entry["path"]) for entry in json.loads(file.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{file}: expected the modules of a sentence-transformers model") from None
    if any(PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts for path in listed):
        raise InputError(f"{file}: a module lies outside the model's folder, expected folders inside it")
    return [path for path in listed if path and not path.endswith("_Normalize")]
