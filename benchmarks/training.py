"""SimCSE's training step at batch 64 and length 32: ours, sentence-transformers' trainer, a padded loop.

The backbones are MiniLM-L6, and random weights of smaller sizes with its tokenizer.

All sides see equal batches in one order; a figure is the time between the ends of two steps, so collating,
tokenising (where a side does that in its loop), clipping, optimiser and logging are part of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from benchmarks.inputs import backbone, sentences
from benchmarks.runner import Runs, Side, Taken, agree, profiled, run
from benchmarks.steps import stepper
from harness.paths import RUN_LOG
from harness.report.measurements import BenchmarkResult
from methods.core import streams
from methods.core.encoder import SentenceEncoder
from methods.core.losses import info_nce
from methods.core.networks import Networks
from methods.core.trainer import TrainConfig, Trainer
from methods.core.types import Row
from methods.simcse.config import SimCSEConfig
from methods.simcse.method import SimCSE
from tests.support.tiny import TRAIN

BATCH, LENGTH, STEPS, SHORT_STEPS, SEED, TEMPERATURE = 64, 32, 6, 3, 0, 0.05
PEER = "sentence-transformers' trainer"
OURS, HALF, PADDED = "ours", "ours, bf16", "padded loop"
TARGETS, HALF_TARGETS, OPEN_TARGETS = (
    {PADDED: None, PEER: 1.6},
    {PADDED: None, PEER: 1.7},
    {PADDED: None, PEER: None},
)
TOLERANCE, UNTRAINED_TOLERANCE = 2e-5, 1e-3
"""Largest relative difference of losses and gradients. Vectors of random weights are nearly equal, so their
rounding is a larger share of the gradient."""
SMALLER = {"BERT-mini": (4, 256, 1024), "BERT-tiny": (2, 128, 512), "the small plan": (1, 50, 200)}
"""Layers, width and inner width; their words are those of MiniLM, 30,522 as BERT's."""


class Marked(SimCSE):
    """SimCSE that notes when its steps end."""

    def after_step(self, step: int) -> None:
        self.marks.append(time.perf_counter())


def measure(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns the step on each backbone in fp32, and on the largest in bf16, against the two other sides."""
    texts = sentences(BATCH * (SHORT_STEPS if short else STEPS), short)
    largest, name = backbone(short), f"SimCSE step, batch {BATCH}"
    halves = {HALF: trainer_side(largest, texts, device, "bf16")}
    runs, agreement = _measured(largest, texts, rounds, device, halves, TOLERANCE)
    notes = {
        precision: profile_of_a_step(largest, texts, device, precision) for precision in ("fp32", "bf16")
    }
    found = [
        runs.result(f"{name}, fp32", OURS, TARGETS, agreement=agreement, note=notes["fp32"]),
        runs.result(
            f"{name}, bf16 against fp32",
            HALF,
            HALF_TARGETS,
            agreement="other numerics by choice; the precision is part of a run's identity",
            note=notes["bf16"],
        ),
    ]
    with TemporaryDirectory() as place:
        for title, (layers, width, inner) in {} if short else SMALLER.items():
            folder = resized(largest, Path(place) / title, layers, width, inner)
            runs, agreement = _measured(folder, texts, rounds, device, {}, UNTRAINED_TOLERANCE)
            found.append(
                runs.result(f"{name}, size of {title}, fp32", OURS, OPEN_TARGETS, agreement=agreement)
            )
    return found


def _measured(
    folder: Path, texts: list[str], rounds: int, device: str, more: Mapping[str, Side], tolerance: float
) -> tuple[Runs, str]:
    """Returns the times of all sides on a backbone, and what their losses and gradients agree in."""
    sides = {
        OURS: trainer_side(folder, texts, device, "fp32"),
        **more,
        PADDED: padded_side(folder, texts, device),
        PEER: peer_side(folder, texts, device),
    }
    agreement = _agreement(folder, texts[:BATCH], tolerance)
    runs = run(sides, rounds=rounds, device=device, warm=len(texts) > SHORT_STEPS * BATCH)
    return runs, agreement


def resized(source: Path, folder: Path, layers: int, width: int, inner: int) -> Path:
    """Writes a BERT of other sizes with random weights and the tokenizer of a folder."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    config = AutoConfig.from_pretrained(
        source,
        num_hidden_layers=layers,
        hidden_size=width,
        intermediate_size=inner,
        num_attention_heads=max(1, width // 64),
        trust_remote_code=False,
    )
    torch.manual_seed(SEED)
    AutoModel.from_config(config, trust_remote_code=False).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, trust_remote_code=False).save_pretrained(folder)
    return folder


def taken_by_a_step(marks: list[float]) -> Taken:
    """Returns the median time between the ends of two steps."""
    return Taken(median(later - sooner for sooner, later in pairwise(marks)))


def simcse(folder: Path, texts: list[str], dropout: float | None = None) -> Marked:
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
    method = Marked(settings, Networks(folder, pooling="cls"))
    method.marks = []
    method.prepare(rows_of(texts))
    return method


def rows_of(texts: list[str]) -> list[Row]:
    return [Row(index, text) for index, text in enumerate(texts)]


def trainer_side(
    folder: Path, texts: list[str], device: str, precision: str, losses: list[float] | None = None
) -> Side:
    """Our trainer on all texts; tokenising is done once, before the first step. losses: takes those of it."""
    method, steps = simcse(folder, texts), len(texts) // BATCH
    changes = {"steps": steps, "batch_size": BATCH, "learning_rate": 3.0e-5, "precision": precision}
    config = TrainConfig.model_validate({**TRAIN, **changes, "eval_every": steps, "save_every": steps})

    def side() -> Taken:
        method.marks = []
        with TemporaryDirectory() as place:
            scores: Callable[[Any], dict[str, float]] = lambda encoder: {"score": 0.0}  # noqa: E731
            Trainer(method, config, SEED, scores, Path(place), device=device).fit(rows_of(texts))
            if losses is not None:
                log = (Path(place) / RUN_LOG).read_text(encoding="utf-8").splitlines()
                losses[:] = [line["loss"] for line in map(json.loads, log) if "loss" in line]
        return taken_by_a_step(method.marks)

    return side


def profile_of_a_step(folder: Path, texts: list[str], device: str, precision: str) -> str:
    """Returns the shares of a step's time in words; the step before it is not in them."""
    method = simcse(folder, texts).to(device).train()
    step = stepper(method, TRAIN, device=device, precision=precision)
    rows = rows_of(texts[:BATCH])
    step(rows, 0)
    return profiled(partial(step, rows, 1))


def padded_side(folder: Path, texts: list[str], device: str) -> Side:
    """A loop as in the papers' scripts: both copies padded to the longest text, plain AdamW."""
    method = simcse(folder, texts).to(device).train()
    optimizer = torch.optim.AdamW(method.parameters(), lr=3.0e-5, weight_decay=0.0)
    order = streams.row_order(SEED, 0, len(texts))

    def side() -> Taken:
        marks = []
        for start in range(0, len(texts), BATCH):
            chosen = [texts[place] for place in order[start : start + BATCH]]
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

    return side


def padded_loss(encoder: SentenceEncoder, head: torch.nn.Module, tokens: Mapping[str, Tensor]) -> Tensor:
    """Returns the loss of a forward pass of the transformers model over 2B padded rows."""
    twice = {name: torch.cat([ids, ids]) for name, ids in tokens.items()}
    first, second = head(encoder.backbone(**twice).last_hidden_state[:, 0]).chunk(2)
    return info_nce(first, second, temperature=TEMPERATURE)


def sentence_transformer(folder: Path, head: torch.nn.Module, device: str, **config: Any) -> Any:
    """Returns the same network as sentence-transformers has it: first token, dense layer with tanh."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    transformer = Transformer(str(folder), max_seq_length=LENGTH, config_kwargs=config)
    width = transformer.get_embedding_dimension()
    dense = Dense(width, width, activation_function=torch.nn.Tanh())
    dense.linear.load_state_dict(dict(zip(("weight", "bias"), head.parameters(), strict=True)))
    modules = [transformer, Pooling(width, pooling_mode="cls"), dense]
    return SentenceTransformer(modules=modules, device=device, trust_remote_code=False)


def peer_side(folder: Path, texts: list[str], device: str) -> Side:
    """sentence-transformers' trainer with in-batch negatives; every sentence is paired with itself."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.losses import MultipleNegativesRankingLoss
    from torch.utils.data import BatchSampler, SequentialSampler
    from transformers import TrainerCallback

    model = sentence_transformer(folder, simcse(folder, texts).head, device)
    ordered = [texts[place] for place in streams.row_order(SEED, 0, len(texts))]
    pairs = Dataset.from_dict({"anchor": ordered, "positive": ordered})
    marks: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            marks.append(time.perf_counter())

    def in_order(rows: Any, batch_size: int, drop_last: bool, **_: Any) -> BatchSampler:
        return BatchSampler(SequentialSampler(rows), batch_size, drop_last)

    def side() -> Taken:
        marks.clear()
        with TemporaryDirectory() as place:
            arguments = SentenceTransformerTrainingArguments(
                output_dir=place,
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
            loss = MultipleNegativesRankingLoss(model, scale=1 / TEMPERATURE)
            SentenceTransformerTrainer(
                model, arguments, train_dataset=pairs, loss=loss, callbacks=[Clock()]
            ).train()
        return taken_by_a_step(marks)

    return side


def _agreement(folder: Path, texts: list[str], tolerance: float) -> str:
    """Compares loss and gradients of one batch without dropout: ours, the padded loop, the peer's loss."""
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    method = simcse(folder, texts, dropout=0.0)
    tokens = method.encoder.tokenize(texts, max_length=LENGTH)
    anchor = method.encoder.pad(method.token_ids(rows_of(texts)))
    ours = _with_gradients(method, method.loss({"anchor": anchor}).total)
    plain = _with_gradients(method, padded_loss(method.encoder, method.head, tokens))
    words = agree(ours, plain, tolerance=tolerance, what="loss and gradients without dropout")
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    peer = sentence_transformer(folder, method.head, "cpu", **off)
    features = [peer.preprocess(texts) for _ in range(2)]
    theirs = MultipleNegativesRankingLoss(peer, scale=1 / TEMPERATURE)(features, None)
    agree(ours[:1], [theirs.detach()], tolerance=1e-5, what="our loss and sentence-transformers'")
    return words + "; sentence-transformers' loss is the same"


def _with_gradients(method: SimCSE, loss: Tensor) -> list[Tensor]:
    method.zero_grad()
    loss.backward()
    gradients = [parameter.grad.flatten() for parameter in method.parameters() if parameter.grad is not None]
    return [loss.detach(), torch.cat(gradients)]
