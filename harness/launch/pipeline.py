"""The pipeline's stages through DVC: changed stages, the run cache and dvc.lock.

Nothing else uses DVC's internals; `failures` names its exceptions. It follows DVC's `Stage.reproduce` and
`Stage.run`, split at the command, which an executor runs, so that a launched stage is recorded as by `dvc
repro`.
"""

import hashlib
import json
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.io.files import atomic_path, discard_parts
from harness.launch.failures import StageError, discard_damaged_locks, project_errors, stage_errors
from harness.launch.worker import Job, log_of

CHANGED = "changed"
"""State of a stage that has to run, as `begin` returns it."""
TESTED = "3.67"
"""The release of DVC whose internals this file uses; with another one `dvc repro` runs the stages."""
LOCK_PERIOD = 30.0
"""Seconds between two writes of dvc.lock while stages run."""


class Pipeline:
    """The stages that targets need, but `without`; holds DVC's lock while it is open."""

    def __init__(self, repo: Any, names: Sequence[str] | None, without: Collection[str] = ()) -> None:
        from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro

        self._repo = repo
        active = get_active_graph(repo.index.graph)
        wanted = None if names is None else collect_stages(repo, names)
        planned = plan_repro(active, wanted) if wanted is None or wanted else []
        self._stages: dict[str, Any] = {
            stage.addressing: stage for stage in planned if stage.addressing not in without
        }
        self._upstream = {
            name: [need for need in active.successors(stage) if need.addressing not in without]
            for name, stage in self._stages.items()
        }
        self.order = {name: {stage.addressing for stage in needs} for name, needs in self._upstream.items()}
        """Each stage, in the order of `dvc repro`, with the stages that it needs."""
        self.commands = {
            name: tuple(stage.cmd if isinstance(stage.cmd, list) else (stage.cmd or "").splitlines())
            for name, stage in self._stages.items()
        }
        self.reads = {
            name: {Path(os.path.relpath(dep.fs_path)) for dep in stage.deps}
            for name, stage in self._stages.items()
        }
        """The dependencies of each stage, relative to the current folder."""
        self._before: dict[str, list[Any]] = {}
        self._pending: list[Any] = []
        self._new: set[str] = set()
        self._dumped = time.monotonic()
        for path in {_lock_of(stage) for stage in planned}:
            discard_parts(path)  # left by a launch that was killed during a write

    def is_changed(self, name: str) -> bool:
        """Returns whether a stage has to run. Errors: StageError if its state cannot be read.

        This is DVC's `Stage.changed` without its locks of each path, whose file it would rewrite six times.
        """
        stage = self._stages[name]
        with stage_errors():
            always = not stage.frozen and (stage.is_callback or stage.always_changed)
            read = [] if stage.frozen else stage.deps
            return always or stage.changed_stage() or any(item.status() for item in [*read, *stage.outs])

    def is_recorded(self, name: str, known: Mapping[Path, str]) -> bool:
        """Returns whether dvc.lock has the outputs of a stage for these texts of files that it reads."""
        stage = self._stages[name]
        news = {path: hashlib.md5(text.encode()).hexdigest() for path, text in known.items()}
        read = {Path(os.path.relpath(dep.fs_path)): dep.hash_info.value for dep in stage.deps}
        is_same = not any(news.get(path, md5) != md5 for path, md5 in read.items())
        return is_same and all(out.hash_info for out in stage.outs)

    def is_cached(self, name: str) -> bool:
        """Returns whether DVC's cache has the outputs that dvc.lock has of a stage."""
        return bool(self._stages[name].outs_cached())

    @property
    def remotes(self) -> list[str]:
        """The names of the declared remotes."""
        return sorted(self._repo.config["remote"])

    def begin(self, name: str) -> str:
        """Returns `changed` for a stage whose commands have to run, after removing its old outputs; otherwise
        `unchanged`, `restored` from DVC's run cache, or `done` without a command, such as a file under `dvc
        add`. Errors: StageError if a dependency is missing.
        """
        from dvc.stage.cache import RunCacheNotFoundError

        stage = self._stages[name]
        with stage_errors():
            if stage.frozen or not stage.cmd:
                if stage.reproduce(upstream=self._upstream[name]) is None:
                    return "unchanged"
                self._pending.append(stage)
                return "done"
            if not self.is_changed(name):
                return "unchanged"
            stage.remove_outs(ignore_remove=False, force=False)
            try:
                self._repo.stage_cache.restore(stage)
            except RunCacheNotFoundError:
                self.adopt(name)
                return CHANGED
            self._record(stage)
            return "restored"

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
        environment = {DVC_ROOT: self._repo.root_dir, DVC_STAGE: name}
        return Job(
            name, self.commands[name], Path(stage.wdir), log_of(name).absolute(), environment, inputs=inputs
        )

    def adopt(self, name: str) -> None:
        """Marks a stage as begun that an earlier launch began with the same inputs."""
        stage = self._stages[name]
        with stage_errors():
            stage.save_deps()
            self._before[name] = [dep.hash_info for dep in stage.deps]

    def finish(self, name: str) -> None:
        """Records a stage whose commands have succeeded.

        Errors: StageError if an output is missing, or a dependency changed while the stage ran, in which case
        it is not recorded.
        """
        stage = self._stages[name]
        with stage_errors():
            stage.save_deps()
            before = self._before.pop(name)
            changed = [str(dep) for dep, was in zip(stage.deps, before, strict=True) if dep.hash_info != was]
            if changed:
                raise StageError(f"{', '.join(changed)}: changed while the stage ran, so it is not recorded")
            self._record(stage)

    def _record(self, stage: Any) -> None:
        uncached = any(not out.use_cache for out in stage.outs if not (out.is_metric or out.is_plot))
        stage.save(run_cache=not uncached)
        stage.commit()
        self._pending.append(stage)

    def dump(self, *, at_once: bool = True) -> None:
        """Writes recorded stages into dvc.lock, all at once, with the bytes of a serial `dvc repro`: now, or
        only if the last write is long enough ago."""
        from dvc.stage import PipelineStage
        from dvc.stage.serialize import to_lockfile
        from dvc.utils.serialize import dump_yaml, parse_yaml

        if not self._pending or not (at_once or time.monotonic() - self._dumped >= LOCK_PERIOD):
            return
        by_lock: dict[Path, list[Any]] = {}
        for stage in self._pending:
            if isinstance(stage, PipelineStage):
                by_lock.setdefault(_lock_of(stage), []).append(stage)
            else:
                stage.dump(update_pipeline=False)
        for path, stages in by_lock.items():
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            content: dict[str, Any] = parse_yaml(text, path) or {"schema": "2.0"}
            entries = content["stages"] = OrderedDict(content.get("stages", {}))
            self._new |= {stage.addressing for stage in stages if stage.name not in entries}
            for stage in stages:
                entries.update(to_lockfile(stage))
            for name, stage in self._stages.items():
                if name in self._new and _lock_of(stage) == path and stage.name in entries:
                    entries.move_to_end(stage.name)
            with atomic_path(path) as part:
                dump_yaml(part, content)
            self._repo.scm_context.track_file(os.path.relpath(path))
        self._pending.clear()
        self._dumped = time.monotonic()


@contextmanager
def open_pipeline(names: Sequence[str] | None = None, without: Collection[str] = ()) -> Iterator[Pipeline]:
    """Yields the stages that the targets need, or all; dvc.lock is always written at the end. without: stages
    that are left out, with outputs that others read as they are.

    Errors: InputError if this is not a DVC project, its files are invalid, a target is unknown, or another
    DVC process is running in the project.
    """
    from dvc.logger import set_loggers_level
    from dvc.repo import Repo, lock_repo
    from dvc.scm import SCM, SCMError

    with ExitStack() as stack:
        stack.enter_context(set_loggers_level(logging.WARNING))
        with project_errors():
            try:
                SCM(Repo.find_root())
                repo = stack.enter_context(Repo())
            except SCMError:
                repo = stack.enter_context(Repo(config={"core": {"no_scm": True}}))
        with project_errors(repo, names or ()):
            stack.enter_context(lock_repo(repo))
            discard_damaged_locks(Path(repo.tmp_dir))
            pipeline = Pipeline(repo, names, without)
        if not pipeline.order:
            raise InputError("dvc.yaml: no stages")
        stack.enter_context(repo.scm_context(quiet=True))
        try:
            yield pipeline
        finally:
            pipeline.dump()


def is_tested() -> bool:
    """Returns whether DVC is of the release whose internals are used here."""
    from dvc import __version__

    return __version__.startswith(f"{TESTED}.")


def _lock_of(stage: Any) -> Path:
    return Path(stage.path).with_suffix(".lock")
