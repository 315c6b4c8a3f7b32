"""The only training loop: row order, random streams, autocast, backward, clipping, selection, resume, log."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from methods.core import streams
from methods.core.errors import InputError
from methods.core.interface import Batch, Encoder, Loss, Method, Row
from methods.core.optimizer import build_optimizer, set_rate
from methods.core.schedule import StepPlan, plan_steps, rate_factor
from methods.core.train_config import TrainConfig

STATE, LOG, BEST, LAST = "state.pt", "train.jsonl", "best", "last"


@dataclass
class TrainRecord:
    """Where training stands and what it selected. `best_*` is over evaluations after at least one step."""

    step: int = 0
    initial: float = math.nan
    best_step: int = -1
    best: float = -math.inf
    last: float = math.nan
    epoch_best: float = -math.inf
    epochs_below: int = 0
    stopped: bool = False


@dataclass
class Trainer:
    """Trains one method on one device.

    evaluate: maps the exported encoder to numbers for the log; its entry `score` selects the best step.
    directory: holds the resume state, the log and the folders `best` and `last`.
    """

    method: Method
    config: TrainConfig
    seed: int
    evaluate: Callable[[Encoder], Mapping[str, float]]
    directory: Path
    device: str = "cpu"
    report: Callable[[int, int, Mapping[str, float]], None] = lambda step, total, entry: None
    record: TrainRecord = field(default_factory=TrainRecord, init=False)
    plan: StepPlan = field(init=False)
    optimizer: torch.optim.Optimizer | None = field(default=None, init=False)

    def fit(self, rows: Sequence[Row]) -> TrainRecord:
        """Runs all steps, or those that remain where the directory holds a resume point.

        Errors: InputError if the loss is not finite, naming the step and the parts; resume state of another
        method; too few rows.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        rows = self.method.prepare(rows)
        self.method.to(self.device).train()
        self.plan = plan_steps(
            rows=len(rows),
            batch_size=self.config.batch_size,
            drop_last=self.config.drop_last,
            steps=self.config.steps,
            epochs=self.config.epochs,
        )
        self.optimizer = build_optimizer(self.method, self.config) if self.plan.total else None
        self._restore()
        if math.isnan(self.record.initial):
            self._evaluate()
        for step, batch in self._batches(rows):
            self._train_step(step, batch)
            self.record.step = step + 1
            self._after_step(step + 1)
        self._keep(self.directory / LAST)
        return self.record

    def _batches(self, rows: Sequence[Row]) -> Iterator[tuple[int, Batch]]:
        """Yields the batches that remain; one thread collates one step ahead."""
        orders: dict[int, Any] = {}

        def collate(step: int) -> Batch:
            epoch, inside = self.plan.place(step)
            if epoch not in orders:
                orders.clear()
                orders[epoch] = streams.row_order(self.seed, epoch, len(rows))
            chosen = [rows[place] for place in orders[epoch][inside]]
            return self.method.collate(
                chosen, step=step, rng=streams.generator(self.seed, streams.COLLATE, step)
            )

        with ThreadPoolExecutor(1, thread_name_prefix="collate") as ahead:
            upcoming = None
            for step in range(self.record.step, self.plan.total):
                if self.record.stopped:
                    return
                batch = (upcoming or ahead.submit(collate, step)).result()
                upcoming = ahead.submit(collate, step + 1) if step + 1 < self.plan.total else None
                yield step, to_device(batch, self.device)

    def _train_step(self, step: int, batch: Batch) -> None:
        assert self.optimizer is not None
        torch.manual_seed(streams.torch_seed(self.seed, streams.STEP, step))
        rate = set_rate(self.optimizer, self.config, step=step, factor=self._factor(step))
        with torch.autocast(
            torch.device(self.device).type, torch.bfloat16, enabled=self.config.precision == "bf16"
        ):
            loss = self.method.loss(batch)
        entry = {"step": step, "learning_rate": rate, **self._finite(step, loss)}
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        if self.config.max_grad_norm is not None:
            norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.max_grad_norm)
            entry["grad_norm"] = float(norm)
        self.optimizer.step()
        self.method.after_step(step)
        self._log(entry)

    def _factor(self, step: int) -> float:
        warmup = math.ceil(self.config.warmup_share * self.plan.total)
        return rate_factor(self.config.schedule, step=step, warmup=warmup, total=self.plan.total)

    def _finite(self, step: int, loss: Loss) -> dict[str, float]:
        """Returns the loss and its parts as floats; InputError if the loss is not finite."""
        names = ["loss", *loss.parts]
        values = torch.stack([loss.total.detach().float(), *(part.float() for part in loss.parts.values())])
        parts = dict(zip(names, values.tolist(), strict=True))
        if not math.isfinite(parts["loss"]):
            told = ", ".join(f"{name} {value:.6g}" for name, value in parts.items())
            raise InputError(
                f"step {step}: the loss is not finite ({told}); expected finite numbers; "
                "lower the learning rate or mend the recipe"
            )
        return parts

    def _after_step(self, done: int) -> None:
        epoch_end = self.plan.ends_epoch(done)
        final = done == self.plan.total
        if done % self.config.eval_every == 0 or final or (epoch_end and self.config.eval_epoch_ends):
            self._evaluate()
            if epoch_end:
                self._count_epochs_below()
        elif done % self.config.save_every == 0:
            self._save()

    def _evaluate(self) -> None:
        entry = dict(self.evaluate(self.method.exported()))
        score, record = entry["score"], self.record
        record.last = score
        if record.step == 0:
            record.initial = score
        if score > record.best and (record.step > 0 or self.plan.total == 0):
            record.best, record.best_step = score, record.step
            self._keep(self.directory / f"{BEST}-{record.step}")
        self._log({"step": record.step, "evaluation": True, **entry})
        self.report(record.step, self.plan.total, entry)
        self._save()
        for stale in self.directory.glob(f"{BEST}-*"):
            if stale.name != f"{BEST}-{record.best_step}":
                shutil.rmtree(stale)

    def _count_epochs_below(self) -> None:
        """Stops training after `patience` epoch ends below the best one."""
        record = self.record
        record.epochs_below = 0 if record.last > record.epoch_best else record.epochs_below + 1
        record.epoch_best = max(record.epoch_best, record.last)
        record.stopped = self.config.patience is not None and record.epochs_below >= self.config.patience
        self._save()

    @property
    def best_folder(self) -> Path:
        """The folder of the encoder with the highest dev score."""
        return self.directory / f"{BEST}-{self.record.best_step}"

    @property
    def last_folder(self) -> Path:
        """The folder of the encoder after the last step."""
        return self.directory / LAST

    def _keep(self, folder: Path) -> None:
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        self.method.exported().save(part)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(part, folder)

    def _log(self, entry: Mapping[str, Any]) -> None:
        with (self.directory / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")

    def _save(self) -> None:
        """Writes the resume point: no random state, for every stream is keyed by the step."""
        state = {
            "record": asdict(self.record),
            "method": self.method.state_dict(),
            "optimizer": self.optimizer.state_dict() if self.optimizer else None,
            "log_bytes": (self.directory / LOG).stat().st_size if (self.directory / LOG).exists() else 0,
        }
        part = self.directory / (STATE + ".part")
        torch.save(state, part)
        os.replace(part, self.directory / STATE)

    def _restore(self) -> None:
        place, log = self.directory / STATE, self.directory / LOG
        if not place.exists():
            log.unlink(missing_ok=True)
            return
        state = torch.load(place, map_location=self.device, weights_only=True)
        try:
            self.method.load_state_dict(state["method"])
        except RuntimeError as error:
            line = str(error).splitlines()[0]
            raise InputError(f"{place}: state of another method ({line}); delete the folder") from None
        if self.optimizer and state["optimizer"]:
            self.optimizer.load_state_dict(state["optimizer"])
        self.record = TrainRecord(**state["record"])
        with log.open("ab") as file:
            file.truncate(state["log_bytes"])


def to_device(value: Any, device: str) -> Any:
    """Returns a batch with every tensor on `device`."""
    if isinstance(value, torch.Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, Mapping):
        return {name: to_device(entry, device) for name, entry in value.items()}
    return value
