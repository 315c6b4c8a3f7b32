"""The pipeline's stages through DVC: changed stages, the run cache and dvc.lock.

All use of DVC's internals is in this file. It follows DVC's `Stage.reproduce` and `Stage.run`, split at the
command, which an executor runs, so that a launched stage is recorded as by `dvc repro`.
"""

import hashlib
import json
import logging
import os
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from harness.errors import InputError, near_matches
from harness.io.files import atomic_path, discard_parts
from harness.launch.worker import Job
from harness.paths import cache

CHANGED = "changed"
"""State of a stage that has to run, as `begin` returns it."""
TESTED = "3.67"
"""The release of DVC whose internals this file uses; other releases may differ."""
PERIOD = 30.0
"""Seconds between two writes of dvc.lock while stages run."""


class _FastDumper(yaml.CSafeDumper):
    """PyYAML's fast writer, for DVC's entries too."""


_FastDumper.add_representer(OrderedDict, lambda dumper, entries: dumper.represent_dict(entries))


class StageError(Exception):
    """Raised for a stage that cannot be begun or recorded, with one line."""


class Pipeline:
    """The stages that targets need; holds DVC's lock while it is open."""

    def __init__(self, repo: Any, graph: Any, names: Sequence[str] | None) -> None:
        from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro

        self._repo = repo
        active = get_active_graph(graph)
        wanted = None if names is None else collect_stages(repo, names)
        planned = plan_repro(active, wanted) if wanted is None or wanted else []
        self._stages: dict[str, Any] = {stage.addressing: stage for stage in planned}
        self._upstream = {name: list(active.successors(stage)) for name, stage in self._stages.items()}
        self.commands = {
            name: tuple(stage.cmd if isinstance(stage.cmd, list) else (stage.cmd or "").splitlines())
            for name, stage in self._stages.items()
        }
        self._before: dict[str, list[Any]] = {}
        self._pending: list[Any] = []
        self._locks: dict[Path, dict[str, Any]] = {}
        self._known: dict[Path, frozenset[str]] = {}
        for path in {stage.path for stage in self._stages.values()}:
            discard_parts(Path(path).with_suffix(".lock"))  # left by a launch that was killed during a write
        self._dumped = time.monotonic()

    @property
    def order(self) -> dict[str, set[str]]:
        """Each stage, in the order of `dvc repro`, with the stages that it needs."""
        return {name: {stage.addressing for stage in needs} for name, needs in self._upstream.items()}

    def begin(self, name: str) -> str:
        """Returns `changed` for a stage whose commands have to run, after removing its old outputs; otherwise
        `unchanged`, `restored` from DVC's run cache, or `done` without a command, such as a file under `dvc
        add`. Errors: StageError if a dependency is missing.
        """
        from dvc.stage.cache import RunCacheNotFoundError

        stage = self._stages[name]
        with _stage_errors():
            if stage.frozen or not stage.cmd:
                if stage.reproduce(upstream=self._upstream[name]) is None:
                    return "unchanged"
                self._pending.append(stage)
                return "done"
            if not stage.changed(upstream=self._upstream[name]):
                return "unchanged"
            stage.remove_outs(ignore_remove=False, force=False)
            try:
                self._repo.stage_cache.restore(stage)
            except RunCacheNotFoundError:
                self.adopt(name)
                return CHANGED
            self._record(stage)
            return "restored"

    def to_run(self, known: Mapping[str, Mapping[Path, str]] | None = None) -> list[str]:
        """Returns the stages that have changed, and those that need one of them; without changes.

        known: the known outputs of stages, by stage: a stage runs again if one of these files differs from
        the file on disk. The list may be too long: a dependency may turn out unchanged, and the run cache may
        have a stage.
        Errors: InputError if a stage's state cannot be read.
        """
        known, changed = known or {}, dict[str, None]()
        news = {name: differing(files) for name, files in known.items()}
        for name, needs in self.order.items():
            stage = self._stages[name]
            reads = {Path(os.path.relpath(dep.fs_path)) for dep in stage.deps}
            written = {path for need in changed.keys() & needs & news.keys() for path in news[need]}
            try:
                with _stage_errors():
                    if (
                        changed.keys() & (needs - news.keys())
                        or any(reads & {path, *path.parents} for path in written)
                        or stage.changed(upstream=self._upstream[name])
                    ):
                        changed[name] = None
            except StageError as error:
                raise InputError(f"{name}: {error}; see `dvc status`") from error
        return list(changed)

    def job(self, name: str, *, with_inputs: bool) -> Job:
        """Returns the commands of a stage with the variables that DVC sets for them.

        with_inputs: whether to hash all dependencies of the stage; the hash is empty if one is missing.
        """
        from dvc.env import DVC_ROOT, DVC_STAGE
        from dvc.exceptions import DvcException

        stage, inputs = self._stages[name], ""
        if with_inputs:
            with suppress(DvcException, OSError):
                parts = [stage.cmd, *(f"{dep.def_path} {dep.get_hash()}" for dep in stage.deps)]
                inputs = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return Job(
            name,
            self.commands[name],
            folder=Path(stage.wdir),
            log=log_of(name).absolute(),
            environment={DVC_ROOT: self._repo.root_dir, DVC_STAGE: name},
            inputs=inputs,
        )

    def adopt(self, name: str) -> None:
        """Marks a stage as begun that an earlier launch began with the same inputs."""
        stage = self._stages[name]
        with _stage_errors():
            stage.save_deps()
            self._before[name] = [dep.hash_info for dep in stage.deps]

    def finish(self, name: str) -> None:
        """Records a stage whose commands have succeeded.

        Errors: StageError if an output is missing, or a dependency changed while the stage ran, in which case
        it is not recorded.
        """
        stage = self._stages[name]
        with _stage_errors():
            stage.save_deps()
            before = self._before.pop(name)
            changed = [str(dep) for dep, was in zip(stage.deps, before, strict=True) if dep.hash_info != was]
            if changed:
                raise StageError(f"{', '.join(changed)}: changed while the stage ran, so it is not recorded")
            self._record(stage)

    def dump(self, *, at_once: bool = True) -> None:
        """Writes recorded stages into dvc.lock: now, byte for byte as DVC does, or, if the last write is long
        enough ago, with a writer that is ten times as fast and breaks long lines elsewhere.
        """
        from dvc.stage import PipelineStage
        from dvc.stage.serialize import to_lockfile

        if not at_once and (not self._pending or time.monotonic() - self._dumped < PERIOD):
            return
        for stage in self._pending:
            if isinstance(stage, PipelineStage):
                self._lock_of(stage)["stages"].update(to_lockfile(stage))
            else:
                stage.dump(update_pipeline=False)
        self._pending.clear()
        for path in self._locks:
            self._write(path, fast=not at_once)
        self._dumped = time.monotonic()

    def _record(self, stage: Any) -> None:
        uncached = any(not out.use_cache for out in stage.outs if not (out.is_metric or out.is_plot))
        stage.save(run_cache=not uncached)
        stage.commit()
        self._pending.append(stage)

    def _lock_of(self, stage: Any) -> dict[str, Any]:
        """Returns the content of the lock file of a stage, which is read once."""
        from dvc.utils.serialize import parse_yaml

        path = Path(stage.dvcfile.path).with_suffix(".lock")
        if path not in self._locks:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            content: dict[str, Any] = parse_yaml(text, path) or {"schema": "2.0"}
            content["stages"] = OrderedDict(content.get("stages", {}))
            self._locks[path], self._known[path] = content, frozenset(content["stages"])
        return self._locks[path]

    def _write(self, path: Path, *, fast: bool) -> None:
        """Writes a lock file; new entries are placed as by a serial `dvc repro`."""
        from dvc.utils.serialize import dump_yaml

        content = self._locks[path]
        for stage in self._stages.values():
            lock = Path(stage.path).with_suffix(".lock")
            if lock == path and stage.name in content["stages"] and stage.name not in self._known[path]:
                content["stages"].move_to_end(stage.name)
        with atomic_path(path) as part:
            if fast:
                part.write_text(yaml.dump(content, Dumper=_FastDumper, sort_keys=False), encoding="utf-8")
            else:
                dump_yaml(part, content)
        self._repo.scm_context.track_file(os.path.relpath(path))


@contextmanager
def open_pipeline(names: Sequence[str] | None = None) -> Iterator[Pipeline]:
    """Yields the stages that the targets need, or all; dvc.lock is always written at the end.

    Errors: InputError if this is not a DVC project, its files are invalid, a target is unknown, DVC is of
    another release, or another DVC process is running in the project.
    """
    check_release()
    from dvc.exceptions import DvcException, NoOutputOrStageError, NotDvcRepoError
    from dvc.lock import LockError
    from dvc.logger import set_loggers_level
    from dvc.repo import lock_repo
    from dvc.stage.exceptions import StageNotFound

    with ExitStack() as stack:
        stack.enter_context(set_loggers_level(logging.WARNING))
        try:
            repo = stack.enter_context(open_repo())
            stack.enter_context(lock_repo(repo))
            discard_damaged_locks(Path(repo.tmp_dir))
            pipeline = Pipeline(repo, repo.index.graph, names)
            if not pipeline.order:
                raise InputError("dvc.yaml: no stages")
        except LockError:
            raise InputError(
                "another `dvc` or `sentbench launch` is running in this project; wait for it (if it has "
                f"crashed, delete {os.path.relpath(repo.lock.lockfile)})"
            ) from None
        except NotDvcRepoError as error:
            raise InputError("running stages: run this in a checkout of the project") from error
        except (StageNotFound, NoOutputOrStageError) as error:
            known = [stage.addressing for stage in repo.index.stages]
            near = "".join(near_matches(name, known) for name in names or () if name not in known)
            raise InputError(f"{_one_line(error)}{near}; see `dvc stage list`") from error
        except (DvcException, UnicodeDecodeError) as error:
            line = _one_line(error)
            remedy = "`git checkout dvc.lock` restores it" if "dvc.lock" in line else "see `dvc status`"
            raise InputError(f"{line}; {remedy}") from error
        except (
            AssertionError,
            AttributeError,
            TypeError,
        ) as error:  # DVC expects texts where params.yaml has other values
            raise InputError(
                f"params.yaml: a path that dvc.yaml reads is no text ({error or None})"
            ) from error
        stack.enter_context(repo.scm_context(quiet=True))
        try:
            yield pipeline
        finally:
            pipeline.dump()


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


def open_repo() -> Any:
    """Opens DVC's project of the current folder, with or without a git repository.

    Errors: DvcException if this is no DVC project.
    """
    from dvc.repo import Repo
    from dvc.scm import SCM, SCMError

    try:
        SCM(Repo.find_root())
    except SCMError:
        return Repo(config={"core": {"no_scm": True}})
    return Repo()


def differing(files: Mapping[Path, str]) -> list[Path]:
    """Returns the files whose content differs from these texts."""
    return [
        path
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text
    ]


def check_release() -> None:
    """Raises InputError unless DVC is of the release whose internals are used here."""
    from dvc import __version__

    if not __version__.startswith(f"{TESTED}."):
        raise InputError(
            f"DVC is {__version__}, launch uses internals of DVC {TESTED}; install `dvc=={TESTED}.*`, or run "
            "the pipeline with `dvc repro`"
        )


def log_of(stage: str) -> Path:
    """Returns the log file of all attempts of a stage."""
    return cache() / "launch" / f"{re.sub(r'[^A-Za-z0-9@._-]', '-', stage)}.log"


@contextmanager
def _stage_errors() -> Iterator[None]:
    from dvc.exceptions import DvcException

    try:
        yield
    except (DvcException, OSError, UnicodeDecodeError) as error:
        raise StageError(_one_line(error)) from error
    except (LookupError, TypeError) as error:
        raise StageError("an entry of DVC's run cache is damaged; delete .dvc/cache/runs") from error


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{os.path.relpath(error.filename)}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
