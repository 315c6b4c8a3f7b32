"""Training loop: row order, random streams, autocast, backward, clipping, selection, log."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from methods.core import streams
from methods.core.errors import NoScoreError, NotFiniteError
from methods.core.memory import out_of_memory
from methods.core.method import Method
from methods.core.optimizer import AdamW, build_optimizer, set_rate
from methods.core.resume import TrainingFolder
from methods.core.rows import Row
from methods.core.step_line import GRAD_NORM, StepLine
from methods.core.train_config import StepPlan, TrainConfig
from methods.core.types import Batch, Encoder, to_device

NO_SCORE = "no_score"
"""Log entry of a collapsed encoder: the reason for its missing dev score."""


@dataclass
class TrainRecord:
    """Progress of a training and its selection. `best_*` covers evaluations after at least one step.

    last: the last defined score. stopped: whether training stopped before its last step.
    candidate: index of the method's best candidate at the last evaluation.
    """

    step: int = 0
    initial: float = math.nan
    best_step: int = -1
    best: float = -math.inf
    last: float = math.nan
    epoch_best: float = -math.inf
    epochs_below: int = 0
    evaluations_below: int = 0
    stopped: bool = False
    candidate: int = 0


@dataclass
class Trainer:
    """Trains one method on one device.

    evaluate: maps a watched encoder to numbers for the log; `score` selects the best. It raises NoScoreError
    for a collapsed encoder: training ends there, with the best weights so far.
    directory: contains the resume state, the log and the folders `best` and `last`.
    seconds_between: least time between two resume points, except the one after the last step.
    """

    method: Method
    config: TrainConfig
    seed: int
    evaluate: Callable[[Encoder], Mapping[str, float]]
    directory: Path
    device: str = "cpu"
    report: Callable[[int, int, Mapping[str, float]], None] = lambda step, total, entry: None
    seconds_between: float = 300.0
    record: TrainRecord = field(default_factory=TrainRecord, init=False)
    plan: StepPlan = field(init=False)
    folder: TrainingFolder = field(init=False)
    optimizer: AdamW | None = field(default=None, init=False)
    _committed_at: float = field(default=0.0, init=False)
    _begun: list[StepLine] = field(default_factory=list, init=False)

    def fit(self, rows: Sequence[Row]) -> TrainRecord:
        """Runs all steps, or the remaining ones if the directory has a resume point.

        Errors: NotFiniteError if the loss is not finite, with the step and the parts; InputError for a resume
        point that is damaged or of another run, too few rows, no finite dev score, or too little GPU memory;
        NoScoreError if the encoder has no score before the first step.
        """
        self.folder = TrainingFolder(self.directory, self._settings())
        self._committed_at = time.monotonic()
        rows = self.method.prepare(rows)
        self.method.to(self.device).train()
        self.plan = StepPlan(
            rows=len(rows),
            batch_size=self.config.batch_size,
            drop_last=self.config.drop_last,
            steps=self.config.steps,
            epochs=self.config.epochs,
        )
        self.method.total_steps = self.plan.total
        self.optimizer = build_optimizer(self.method, self.config) if self.plan.total else None
        try:
            if not self._restored():
                self._finish_step()
            for step, batch in self._batches(rows):
                self._begun.append(self._train_step(step, batch))
                self.record.step = step + 1
                self._finish_step()
            if self.record.best_step < 0:
                raise NotFiniteError("all dev scores after the first step are nan; lower the learning rate")
            self.folder.keep_last(self._chosen)
        except torch.OutOfMemoryError:
            raise out_of_memory(self.record.step, self.config.batch_size, self.method.config) from None
        finally:
            self.folder.settle(wait=True)
        return self.record

    def _batches(self, rows: Sequence[Row]) -> Iterator[tuple[int, Batch]]:
        """Yields the remaining batches; a thread collates one step ahead."""
        order_of = lru_cache(1)(lambda epoch: streams.row_order(self.seed, epoch, len(rows)))

        def collate(step: int) -> Batch:
            epoch, inside = self.plan.position(step)
            chosen = [rows[index] for index in order_of(epoch)[inside]]
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

    def _train_step(self, step: int, batch: Batch) -> StepLine:
        """Runs the step, or queues it on a GPU, and returns its log line."""
        assert self.optimizer is not None
        torch.manual_seed(streams.torch_seed(self.seed, streams.STEP, step))
        factor = self.config.rate_factor(step, total=self.plan.total)
        rate = set_rate(self.optimizer, self.config, step=step, factor=factor)
        with torch.autocast(
            torch.device(self.device).type, torch.bfloat16, enabled=self.config.precision == "bf16"
        ):
            loss = self.method.loss(batch)
        numbers = {"loss": loss.total.detach(), **loss.parts}
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        if self.config.max_grad_norm is not None:
            numbers[GRAD_NORM] = torch.nn.utils.clip_grad_norm_(parameters, self.config.max_grad_norm)
        self.optimizer.step()
        self.method.after_step(step)
        return StepLine({"step": step, "learning_rate": rate}, numbers)

    def _finish_step(self) -> None:
        """Evaluates, logs and writes a resume point, if each is due.

        On a GPU the numbers of a step are read after the next step has begun, so the GPU does not wait, but
        before an evaluation or a resume point. Nothing is decided after the commit.
        """
        record, evaluation = self.record, None
        evaluates = self._evaluation_is_due(record.step)
        self._log_steps(but=0 if evaluates or self.device == "cpu" else 1)
        if evaluates:
            evaluation = self._scored()
        self.folder.settle()
        if self._resume_point_is_due(evaluated=evaluation is not None):
            self._log_steps(but=0)
            self._commit()
        if evaluation is not None:
            self.report(record.step, self.plan.total, evaluation)

    def _scored(self) -> dict[str, float]:
        """Evaluates, logs and selects; returns the measures, with `score` nan for a collapsed encoder."""
        record = self.record
        try:
            evaluation = self._evaluate()
        except NoScoreError as error:
            if record.step == 0:
                raise
            if record.best_step < 0:
                raise NotFiniteError(f"step {record.step}: {error}; no earlier weights are there") from None
            record.stopped = True
            self.folder.log([{"step": record.step, NO_SCORE: str(error)}])
            return {"score": math.nan}
        self.folder.log([{"step": record.step, "evaluation": True, **evaluation}])
        self._lose_patience(evaluation["score"])
        self._select(evaluation["score"])
        return evaluation

    def _log_steps(self, *, but: int) -> None:
        while len(self._begun) > but:
            self.folder.log([self._begun.pop(0).finished()])

    def _evaluate(self) -> dict[str, float]:
        """Returns the measures of the best candidate, and all scores if there are several candidates."""
        measured = [dict(self.evaluate(encoder)) for encoder in self.method.watched()]
        scores = [measures["score"] for measures in measured]
        self.record.candidate = scores.index(max(scores))
        each = {f"score_{number}": score for number, score in enumerate(scores, start=1)}
        return measured[self.record.candidate] | (each if len(scores) > 1 else {})

    @property
    def _chosen(self) -> Encoder:
        """The best candidate at the last evaluation."""
        return self.method.candidates()[self.record.candidate]

    def _resume_point_is_due(self, *, evaluated: bool) -> bool:
        """Returns True after the last step, or if enough time has passed and no state is being written."""
        if self.record.stopped or self.record.step == self.plan.total:
            return True
        if not evaluated and self.record.step % self.config.save_every:
            return False
        late = time.monotonic() - self._committed_at >= self.seconds_between
        return late and not self.folder.is_writing

    def _evaluation_is_due(self, done: int) -> bool:
        if done in (0, self.plan.total):
            return True
        counted = done if self.config.eval_within == "run" else self.plan.inside_epoch(done)
        at_epoch_end = self.config.eval_epoch_ends and self.plan.ends_epoch(done)
        return counted % self.config.eval_every == 0 or at_epoch_end

    def _select(self, score: float) -> None:
        """Records the score, and saves the encoder if it is the best after at least one step."""
        record = self.record
        record.last = score
        if record.step == 0:
            record.initial = score
        if score > record.best and (record.step > 0 or self.plan.total == 0):
            record.best, record.best_step = score, record.step
            self.folder.keep_best(self._chosen, record.step)

    def _lose_patience(self, score: float) -> None:
        """Stops training after `patience` evaluations or epoch ends; call it before `score` is recorded."""
        record, patience = self.record, self.config.patience
        ends_epoch = self.plan.ends_epoch(record.step)
        if ends_epoch:
            record.epochs_below = 0 if score > record.epoch_best else record.epochs_below + 1
            record.epoch_best = max(record.epoch_best, score)
        if isinstance(patience, int):
            record.stopped = ends_epoch and record.epochs_below >= patience
        elif patience is not None and record.step > 0:
            if patience.counts == "falls":
                record.evaluations_below += score < record.last
            else:
                record.evaluations_below = 0 if score > record.best else record.evaluations_below + 1
            record.stopped = record.evaluations_below >= patience.evaluations

    @property
    def best_folder(self) -> Path:
        """The folder of the encoder with the highest dev score."""
        return self.folder.best(self.record.best_step)

    def _settings(self) -> dict[str, Any]:
        """Returns the settings that identify a run, as JSON values."""
        config = self.method.config
        return {
            "method": f"{type(config).__module__}.{type(config).__qualname__}",
            "config": config.model_dump(mode="json"),
            "train": self.config.model_dump(mode="json", exclude={"save_every"}),
            "seed": self.seed,
            "device": torch.device(self.device).type,
        }

    def _commit(self) -> None:
        self._committed_at = time.monotonic()
        self.folder.commit(
            {
                "record": asdict(self.record),
                "method": self.method.state_dict(),
                "optimizer": self.optimizer.state_dict() if self.optimizer else None,
            }
        )

    def _restored(self) -> bool:
        """Restores the last resume point; returns False if there is none."""
        content = self.folder.restore()
        if content is None:
            return False
        try:
            self.method.load_state_dict(content["method"])
            if self.optimizer:
                self.optimizer.load_state_dict(content["optimizer"])
            self.record = TrainRecord(**content["record"])
        except (RuntimeError, ValueError, TypeError, LookupError) as error:
            line = " ".join(str(error).split())[:200]
            raise self.folder.refusal(f"the state in {self.directory} has other weights ({line})") from None
        return True
