"""SimCSE's training step at batch 64 and length 32: ours, sentence-transformers' trainer, a padded loop.

All sides get equal batches in the same order. A figure is the time between the ends of two steps, which
includes collating, tokenising (if in the loop), clipping, optimiser and logging.
"""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from benchmarks.runner import Disagreement, TimedResult, backbone, profiled, run, sentences
from benchmarks.stand_ins import TRAIN
from benchmarks.steps import stepper
from harness.paths import RUN_LOG
from harness.report.measurements import BenchmarkResult
from methods.core import streams
from methods.core.encoder import SentenceEncoder
from methods.core.losses import info_nce
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.trainer import TrainConfig, Trainer
from methods.simcse.config import SimCSEConfig
from methods.simcse.method import SimCSE

BATCH, LENGTH, STEPS, SHORT_STEPS, SEED, TEMPERATURE = 64, 32, 6, 3, 0, 0.05
PEER = "sentence-transformers' trainer"
OURS, HALF, PADDED = "ours", "ours, bf16", "padded loop"
LOSSES_APART = 2e-5
"""Largest relative difference of losses and gradients."""


def measure(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns the step times in fp32 and bf16, each against the two other sides in fp32."""
    texts = sentences(BATCH * (SHORT_STEPS if short else STEPS), short)
    folder = backbone(short)
    sides = {
        OURS: partial(own_trainer, folder, texts, device, "fp32"),
        HALF: partial(own_trainer, folder, texts, device, "bf16"),
        PADDED: partial(padded_loop, folder, texts, device),
        PEER: partial(peer_trainer, folder, texts, device),
    }
    agreed, rows = agreement(folder, texts[:BATCH]), rows_of(texts[:BATCH])
    runs = run(sides, rounds=rounds, device=device, warm=not short)

    def result(name: str, side: str, precision: str, target: float, agreed: str) -> BenchmarkResult:
        step = stepper(simcse(folder, texts).to(device).train(), TRAIN, device=device, precision=precision)
        step(rows, 0)
        note, targets = profiled(partial(step, rows, 1)), {PADDED: None, PEER: target}
        return runs.result(f"SimCSE step, batch {BATCH}, {name}", side, targets, agreement=agreed, note=note)

    chosen = "other numerics by choice; the precision is part of a run's identity"
    return [
        result("fp32", OURS, "fp32", 1.6, agreed),
        result("bf16 against fp32", HALF, "bf16", 1.7, chosen),
    ]


def simcse(folder: Path, texts: list[str], dropout: float | None = None) -> SimCSE:
    """Returns the method with the first token pooled and a head, prepared on `texts`."""
    settings = SimCSEConfig(
        max_length=LENGTH,
        temperature=TEMPERATURE,
        objective="info-nce",
        positive="dropout",
        head="mlp",
        dropout=dropout,
    )
    torch.manual_seed(SEED)
    method = SimCSE(settings, Networks(folder, pooling="cls"))
    method.prepare(rows_of(texts))
    return method


def rows_of(texts: list[str]) -> list[Row]:
    return [Row(index, text) for index, text in enumerate(texts)]


def taken_by_a_step(marks: list[float], losses: Sequence[float] = ()) -> TimedResult:
    """Returns the median time between the ends of two steps."""
    return TimedResult(median(later - sooner for sooner, later in pairwise(marks)), losses)


def own_trainer(folder: Path, texts: list[str], device: str, precision: str) -> TimedResult:
    """Times and losses of our trainer on all texts, which are tokenised before the first step."""
    method, steps, marks = simcse(folder, texts), len(texts) // BATCH, list[float]()
    method.after_step = lambda step: marks.append(time.perf_counter())  # type: ignore[method-assign]
    changes = {"steps": steps, "batch_size": BATCH, "learning_rate": 3.0e-5, "precision": precision}
    config = TrainConfig.model_validate({**TRAIN, **changes, "eval_every": steps, "save_every": steps})
    with TemporaryDirectory() as scratch:
        trainer = Trainer(method, config, SEED, lambda _: {"score": 0.0}, Path(scratch), device=device)
        trainer.fit(rows_of(texts))
        log = (Path(scratch) / RUN_LOG).read_text(encoding="utf-8").splitlines()
    return taken_by_a_step(marks, [line["loss"] for line in map(json.loads, log) if "loss" in line])


def padded_loop(folder: Path, texts: list[str], device: str) -> TimedResult:
    """Times and losses of a loop as in the papers' scripts: copies padded to the longest text, plain
    AdamW."""
    method = simcse(folder, texts).to(device).train()
    optimizer = torch.optim.AdamW(method.parameters(), lr=3.0e-5, weight_decay=0.0)
    order, marks = streams.row_order(SEED, 0, len(texts)), []
    for start in range(0, len(texts), BATCH):
        chosen = [texts[index] for index in order[start : start + BATCH]]
        tokens = method.encoder.tokenize(chosen, max_length=LENGTH)
        on_device = {name: ids.to(device) for name, ids in tokens.items()}
        loss = padded_loss(method.encoder, method.head, on_device)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(method.parameters(), 1.0)
        optimizer.step()
        loss.item()
        marks.append(time.perf_counter())
    return taken_by_a_step(marks)


def padded_loss(encoder: SentenceEncoder, head: torch.nn.Module, tokens: Mapping[str, Tensor]) -> Tensor:
    """Returns the loss of a forward pass of the transformers model over 2B padded rows."""
    twice = {name: torch.cat([ids, ids]) for name, ids in tokens.items()}
    first, second = head(encoder.backbone(**twice).last_hidden_state[:, 0]).chunk(2)
    return info_nce(first, second, temperature=TEMPERATURE)


def peer_model(folder: Path, head: torch.nn.Module, device: str, **config: Any) -> Any:
    """Returns the same network in sentence-transformers: first token, dense layer with tanh."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    transformer = Transformer(str(folder), max_seq_length=LENGTH, config_kwargs=config)
    width = transformer.get_embedding_dimension()
    dense = Dense(width, width, activation_function=torch.nn.Tanh())
    dense.linear.load_state_dict(dict(zip(("weight", "bias"), head.parameters(), strict=True)))
    modules = [transformer, Pooling(width, pooling_mode="cls"), dense]
    return SentenceTransformer(modules=modules, device=device, trust_remote_code=False)


def peer_trainer(folder: Path, texts: list[str], device: str) -> TimedResult:
    """Times and losses of sentence-transformers' trainer: in-batch negatives, identical pairs."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.losses import MultipleNegativesRankingLoss
    from torch.utils.data import BatchSampler, SequentialSampler
    from transformers import TrainerCallback

    model, marks = peer_model(folder, simcse(folder, texts).head, device), list[float]()
    ordered = [texts[index] for index in streams.row_order(SEED, 0, len(texts))]

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            marks.append(time.perf_counter())

    def in_order(rows: Any, batch_size: int, drop_last: bool, **_: Any) -> BatchSampler:
        return BatchSampler(SequentialSampler(rows), batch_size, drop_last)

    with TemporaryDirectory() as index:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=index,
            max_steps=len(texts) // BATCH,
            per_device_train_batch_size=BATCH,
            learning_rate=3.0e-5,
            max_grad_norm=1.0,
            batch_sampler=in_order,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=device == "cpu",
        )
        trainer = SentenceTransformerTrainer(
            model,
            arguments,
            train_dataset=Dataset.from_dict({"anchor": ordered, "positive": ordered}),
            loss=MultipleNegativesRankingLoss(model, scale=1 / TEMPERATURE),
            callbacks=[Clock()],
        )
        trainer.train()
    return taken_by_a_step(marks)


def agreement(folder: Path, texts: list[str]) -> str:
    """Compares loss and gradients of one batch without dropout: ours, the padded loop, the peer's loss."""
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    method = simcse(folder, texts, dropout=0.0)
    tokens = method.encoder.tokenize(texts, max_length=LENGTH)
    anchor = method.encoder.pad(method.token_ids(rows_of(texts)))
    losses = method.loss({"anchor": anchor}).total, padded_loss(method.encoder, method.head, tokens)
    outcomes = []
    for loss in losses:
        method.zero_grad()
        loss.backward()
        gradients = [weights.grad.flatten() for weights in method.parameters() if weights.grad is not None]
        outcomes.append([loss.detach(), torch.cat(gradients)])
    words = agree(*outcomes, tolerance=LOSSES_APART, what="loss and gradients without dropout")
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    peer = peer_model(folder, method.head, "cpu", **off)
    features = [peer.preprocess(texts) for _ in range(2)]
    theirs = MultipleNegativesRankingLoss(peer, scale=1 / TEMPERATURE)(features, None)
    agree([losses[0].detach()], [theirs.detach()], tolerance=1e-5, what="our loss and the peer's")
    return words + "; sentence-transformers' loss is the same"


def agree(ours: Sequence[Tensor], theirs: Sequence[Tensor], *, tolerance: float, what: str) -> str:
    """Returns one sentence on the largest difference relative to the largest entry of its tensor.

    Errors: Disagreement above `tolerance`.
    """
    apart = max(
        ((ours_entry - other).abs().max() / other.abs().max().clamp_min(1e-30)).item()
        for ours_entry, other in zip(ours, theirs, strict=True)
    )
    if not apart <= tolerance:
        raise Disagreement(
            f"{what} differ by {apart:.2g} of the largest entry, expected at most {tolerance:g}"
        )
    return f"{what} agree within {apart:.1g} of the largest entry"
