"""Resume state of a training: a run killed at any instant continues to the same bytes.

The record `state.json` is replaced by one rename and has the checksums of the tensors, the log so far and the
best encoder. These files are written before the rename; the files they replace are removed after it. Anything
that a killed training wrote after its last record is truncated or rewritten. A state is copied at once and
written in a thread, so training does not wait for the disk.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from methods.core.errors import InputError
from methods.core.files import (
    FILES,
    PART,
    changed_file,
    discard,
    file_hashes,
    read_whole,
    sha256_of,
    write_record,
)
from methods.core.types import Encoder

STATE, LOG, BEST, LAST = "state.json", "train.jsonl", "best", "last"
TENSORS = ("state-0.pt", "state-1.pt")
"""Alternating files of a state's tensors: the file on record stays while the next one is written."""


@dataclass
class TrainingFolder:
    """The files of one training: `state.json`, `state-0.pt`, `train.jsonl`, `best-STEP/` and `last/`.

    settings: identity of the training as JSON values; a state with other settings is refused.
    writer: writes states, one after the other.
    """

    directory: Path
    settings: Mapping[str, Any]
    writer: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="resume"))
    _log_bytes: int = field(default=0, init=False)
    _log_digest: Any = field(default_factory=hashlib.sha256, init=False)
    _best: dict[str, str] = field(default_factory=dict, init=False)  # file of the best encoder -> sha256
    _committed: set[str] = field(default_factory=set, init=False)  # files of the state on disk
    _pending: tuple[Future[None], set[str]] | None = field(default=None, init=False)  # files being written

    def restore(self) -> dict[str, Any] | None:
        """Returns the content of the last `commit`, None without one; removes everything written after it.

        Errors: InputError if the state cannot be read or has other settings, or a file changed since that
        commit. Then all files are kept.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        record = self._read() if os.path.lexists(self.directory / STATE) else None
        if record is None:
            (self.directory / LOG).unlink(missing_ok=True)
        else:
            self._best = {name: sha for name, sha in record[FILES].items() if name != record["tensors"]}
            self._committed = {record["tensors"], *_top(self._best)}
            self._cut_log(record["log_bytes"], record["log_sha256"])
        self._discard_replaced()
        for part in self.directory.glob(f"*{PART}"):
            discard(part)
        if record is None:
            return None
        content: dict[str, Any] = torch.load(
            self.directory / record["tensors"], map_location="cpu", weights_only=True
        )
        return content

    def log(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Appends one line of JSON for each entry; the next `commit` includes them."""
        lines = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
        with (self.directory / LOG).open("ab") as log:
            log.write(lines)
        self._log_bytes += len(lines)
        self._log_digest.update(lines)

    def keep_best(self, encoder: Encoder, step: int) -> None:
        """Saves the best encoder so far; the previous best stays while a state names it."""
        folder = self.best(step)
        _save_whole(encoder, folder)
        self._best = {f"{folder.name}/{name}": sha256 for name, sha256 in file_hashes(folder).items()}
        self._discard_replaced()

    def keep_last(self, encoder: Encoder) -> None:
        """Saves the encoder after the last step."""
        _save_whole(encoder, self.last)

    def commit(self, content: Mapping[str, Any]) -> None:
        """Makes `content`, the log so far and the best encoder the next resume point.

        Waits for the previous commit, copies `content` and returns; its tensors may then change. `settle`
        reports errors of writing.
        """
        self.settle(wait=True)
        tensors = next(name for name in TENSORS if name not in self._committed)
        record = {
            "settings": self.settings,
            "log_bytes": self._log_bytes,
            "log_sha256": self._log_digest.hexdigest(),
            "tensors": tensors,
        }
        written = self.writer.submit(self._write, record, _copied(content), self._best)
        self._pending = written, {tensors, *_top(self._best)}

    @property
    def is_writing(self) -> bool:
        """Whether a state is on its way to the disk."""
        return self._pending is not None and not self._pending[0].done()

    def settle(self, *, wait: bool = False) -> None:
        """Removes files that the last written state replaced; `wait` waits for a state being written.

        Errors: as of writing it.
        """
        if self._pending is None or (self.is_writing and not wait):
            return
        (written, names), self._pending = self._pending, None
        written.result()
        self._committed = names
        self._discard_replaced()

    def _write(self, record: Mapping[str, Any], content: Mapping[str, Any], best: Mapping[str, str]) -> None:
        tensors = self.directory / record["tensors"]
        torch.save(content, tensors)
        write_record(self.directory / STATE, {**record, FILES: {**best, tensors.name: sha256_of(tensors)}})

    def best(self, step: int) -> Path:
        """Returns the folder of the best encoder, selected after `step` steps."""
        return self.directory / f"{BEST}-{step}"

    @property
    def last(self) -> Path:
        """The folder of the encoder after the last step."""
        return self.directory / LAST

    def _read(self) -> dict[str, Any]:
        """Returns the record after verifying its files: torch loads damaged tensors silently."""
        path = self.directory / STATE
        record = read_whole(path)
        if record is None:
            raise self.refusal(f"{path} is not as the training wrote it")
        changed = changed_file(self.directory, record[FILES])
        if changed is not None:
            fault = "is not as the training wrote it" if changed.is_file() else "is missing"
            raise self.refusal(f"{changed} {fault}")
        recorded, current = record["settings"], json.loads(json.dumps(self.settings))
        other = sorted(key for key in {*recorded, *current} if recorded.get(key) != current.get(key))
        if other:
            raise self.refusal(f"{path} is of a run with another {' and another '.join(other)}")
        return record

    def _cut_log(self, size: int, digest: str) -> None:
        path = self.directory / LOG
        kept = path.read_bytes()[:size] if path.is_file() else b""
        self._log_bytes, self._log_digest = size, hashlib.sha256(kept)
        if not path.is_file() or len(kept) < size or self._log_digest.hexdigest() != digest:
            raise self.refusal(f"{path} is not as the training wrote it")
        os.truncate(path, size)

    def _discard_replaced(self) -> None:
        """Removes tensors and best encoders that neither the state on disk nor the next one names."""
        kept = _top(self._best) | self._committed | (self._pending[1] if self._pending else set())
        for path in [*self.directory.glob("state*.pt"), *self.directory.glob(f"{BEST}-[0-9]*")]:
            if path.name not in kept:
                discard(path)

    def refusal(self, problem: str) -> InputError:
        """Returns the error for a folder that this run cannot resume from."""
        return InputError(f"{problem}; delete {self.directory} to train from the start")


def _top(files: Iterable[str]) -> set[str]:
    """Returns the top-level names of these files."""
    return {name.partition("/")[0] for name in files}


def _copied(value: Any) -> Any:
    """Returns a value with copies of its tensors in main memory."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, Mapping):
        return {name: _copied(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copied(entry) for entry in value)
    return value


def _save_whole(encoder: Encoder, folder: Path) -> None:
    part = folder.with_name(folder.name + PART)
    for old in (part, folder):
        if old.exists():
            shutil.rmtree(old)
    encoder.save(part)
    os.replace(part, folder)
