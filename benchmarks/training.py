"""SimCSE's training step at batch 64 and length 32: ours, sentence-transformers' trainer, a padded loop.

All sides see equal batches in one order; a figure is the time between the ends of two steps, so collating,
tokenising (where a side does that in its loop), clipping, optimiser and logging are part of it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from benchmarks.material import backbone, sentences
from benchmarks.measurement import Result, agree, gemm_rate, share_of_rates, summarised
from methods.core import streams
from methods.core.encoder import SentenceEncoder
from methods.core.losses import info_nce
from methods.core.networks import Networks
from methods.core.trainer import TrainConfig, Trainer
from methods.core.types import Row
from methods.simcse.config import SimCSEConfig
from methods.simcse.method import SimCSE
from tests.support.tiny import TRAIN

BATCH, LENGTH, STEPS, SEED, TEMPERATURE = 64, 32, 6, 0, 0.05
TARGETS = {"sentence-transformers' trainer": 1.6}
BF16_TARGETS = {"sentence-transformers' trainer": 1.7}
PROFILE = (
    "in a profile of torch's operators, one thread of an Intel processor: products of linear layers 67 %, "
    "copies 5 %, attention 4 %, GELU 4 %, masks of dropout 3 %, selecting rows 2 %, optimiser 2 %"
)
Side = Callable[[], list[float]]
"""Trains some steps; returns when each of them ended."""


class TimedSimCSE(SimCSE):
    """SimCSE that notes when its steps end."""

    ended: list[float]

    def after_step(self, step: int) -> None:
        self.ended.append(time.perf_counter())


def measure(rounds: int, short: bool, device: str = "cpu") -> list[Result]:
    """Returns the step in fp32 and in bf16, each against the trainer and a padded loop in fp32."""
    texts = sentences(BATCH * STEPS, short)
    agreement = _agreement(short, texts[:BATCH])
    sides: dict[str, Side] = {
        "ours": trainer_side(short, texts, device, "fp32"),
        "ours, bf16": trainer_side(short, texts, device, "bf16"),
        "padded loop": padded_side(short, texts, device),
    }
    missing = ""
    try:
        sides["sentence-transformers' trainer"] = peer_side(short, texts, device)
    except ImportError as error:
        missing = f"sentence-transformers' trainer was not measured: {str(error).splitlines()[0]}"
    times: dict[str, list[float]] = {name: [] for name in sides}
    rates = [gemm_rate(device)]
    for turn in range(rounds):
        ordered = list(sides.items())
        for name, side in ordered if turn % 2 == 0 else reversed(ordered):
            times[name].append(statistics.median(later - sooner for sooner, later in pairwise(side())))
        rates.append(gemm_rate(device))
    note = missing or f"{_share(short, texts, times['ours'], rates, device)}; {PROFILE}"
    peers = {name: taken for name, taken in times.items() if not name.startswith("ours")}
    single, half = ({"ours": times[name], **peers} for name in ("ours", "ours, bf16"))
    return [
        summarised(
            f"SimCSE step, batch {BATCH}, fp32",
            single,
            rates,
            targets=TARGETS,
            agreement=agreement,
            note=note,
        ),
        summarised(
            f"SimCSE step, batch {BATCH}, bf16 against fp32",
            half,
            rates,
            targets=BF16_TARGETS,
            agreement="other numerics by choice; the precision is part of a run's identity",
        ),
    ]


def simcse(short: bool, texts: list[str], **config: Any) -> TimedSimCSE:
    """Returns the method with the first token pooled and a head, prepared on `texts`."""
    settings = SimCSEConfig(
        max_length=LENGTH,
        temperature=TEMPERATURE,
        objective="info-nce",
        positive="dropout",
        head="mlp",
        dropout=config.get("dropout"),
    )
    torch.manual_seed(SEED)
    method = TimedSimCSE(settings, Networks(backbone(short), pooling="cls"))
    method.ended = []
    method.prepare([Row(index, text) for index, text in enumerate(texts)])
    return method


def trainer_side(
    short: bool, texts: list[str], device: str, precision: str, method: TimedSimCSE | None = None
) -> Side:
    """Our trainer on all texts, `STEPS` steps; tokenising is done once, before the first."""
    method = method or simcse(short, texts)
    rows = [Row(index, text) for index, text in enumerate(texts)]
    changes = {
        "steps": STEPS,
        "batch_size": BATCH,
        "learning_rate": 3.0e-5,
        "eval_every": STEPS,
        "save_every": STEPS,
    }
    config = TrainConfig.model_validate({**TRAIN, **changes, "precision": precision})

    def run() -> list[float]:
        method.ended = []
        with TemporaryDirectory() as folder:
            Trainer(method, config, SEED, lambda encoder: {"score": 0.0}, Path(folder), device=device).fit(
                rows
            )
        return method.ended

    return run


def padded_side(short: bool, texts: list[str], device: str) -> Side:
    """A loop as in the papers' scripts: both copies padded to the longest text, plain AdamW."""
    method = simcse(short, texts).to(device).train()
    optimizer = torch.optim.AdamW(method.parameters(), lr=3.0e-5, weight_decay=0.0)
    order = streams.row_order(SEED, 0, len(texts))

    def run() -> list[float]:
        ended = []
        for start in range(0, len(texts), BATCH):
            chosen = [texts[place] for place in order[start : start + BATCH]]
            tokens = method.encoder.tokenize(chosen, max_length=LENGTH)
            loss = padded_loss(
                method.encoder, method.head, {name: ids.to(device) for name, ids in tokens.items()}
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(method.parameters(), 1.0)
            optimizer.step()
            loss.item()
            ended.append(time.perf_counter())
        return ended

    return run


def padded_loss(encoder: SentenceEncoder, head: torch.nn.Module, tokens: Mapping[str, Tensor]) -> Tensor:
    """Returns the loss of a forward pass of the transformers model over 2B padded rows."""
    twice = {name: torch.cat([ids, ids]) for name, ids in tokens.items()}
    hidden = encoder.backbone(**twice).last_hidden_state
    first, second = head(hidden[:, 0]).chunk(2)
    return info_nce(first, second, temperature=TEMPERATURE)


def sentence_transformer(short: bool, head: torch.nn.Module, device: str, **config: Any) -> Any:
    """Returns the same network as sentence-transformers has it: first token, dense layer with tanh."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    source = str(backbone(short))
    transformer = Transformer(source, max_seq_length=LENGTH, config_kwargs=config)
    width = transformer.get_embedding_dimension()
    dense = Dense(width, width, activation_function=torch.nn.Tanh())
    dense.linear.load_state_dict(dict(zip(("weight", "bias"), head.parameters(), strict=True)))
    return SentenceTransformer(
        modules=[transformer, Pooling(width, pooling_mode="cls"), dense],
        device=device,
        trust_remote_code=False,
    )


def peer_side(short: bool, texts: list[str], device: str) -> Side:
    """sentence-transformers' trainer with in-batch negatives; every sentence is paired with itself."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.losses import MultipleNegativesRankingLoss
    from torch.utils.data import BatchSampler, SequentialSampler
    from transformers import TrainerCallback

    model = sentence_transformer(short, simcse(short, texts).head, device)
    ordered = [texts[place] for place in streams.row_order(SEED, 0, len(texts))]
    pairs = Dataset.from_dict({"anchor": ordered, "positive": ordered})
    ended: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            ended.append(time.perf_counter())

    def run() -> list[float]:
        ended.clear()
        with TemporaryDirectory() as folder:
            arguments = SentenceTransformerTrainingArguments(
                output_dir=folder,
                max_steps=STEPS,
                per_device_train_batch_size=BATCH,
                learning_rate=3.0e-5,
                max_grad_norm=1.0,
                batch_sampler=lambda rows, batch_size, drop_last, **_: BatchSampler(
                    SequentialSampler(rows), batch_size, drop_last
                ),
                report_to="none",
                save_strategy="no",
                disable_tqdm=True,
                use_cpu=device == "cpu",
            )
            SentenceTransformerTrainer(
                model,
                arguments,
                train_dataset=pairs,
                loss=MultipleNegativesRankingLoss(model, scale=1 / TEMPERATURE),
                callbacks=[Clock()],
            ).train()
        return list(ended)

    run()  # checks that the trainer can run here, before anything is measured
    return run


def _agreement(short: bool, texts: list[str]) -> str:
    """Compares loss and gradients of one batch without dropout: ours, the padded loop, the peer's loss."""
    method = simcse(short, texts, dropout=0.0)
    rows = [Row(index, text) for index, text in enumerate(texts)]
    tokens = method.encoder.tokenize(texts, max_length=LENGTH)
    ours = _with_gradients(method, method.loss({"anchor": method.encoder.pad(method.token_ids(rows))}).total)
    plain = _with_gradients(method, padded_loss(method.encoder, method.head, tokens))
    words = agree(ours, plain, tolerance=2e-5, what="loss and gradients without dropout")
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    peer = sentence_transformer(short, method.head, "cpu", **off)
    features = [peer.preprocess(texts) for _ in range(2)]
    theirs = MultipleNegativesRankingLoss(peer, scale=1 / TEMPERATURE)(features, None)
    agree(ours[:1], [theirs.detach()], tolerance=1e-5, what="our loss and sentence-transformers'")
    return words + "; sentence-transformers' loss is the same"


def _with_gradients(method: SimCSE, loss: Tensor) -> list[Tensor]:
    method.zero_grad()
    loss.backward()
    gradients = [parameter.grad.flatten() for parameter in method.parameters() if parameter.grad is not None]
    return [loss.detach(), torch.cat(gradients)]


def _share(short: bool, texts: list[str], taken: Sequence[float], rates: Sequence[float], device: str) -> str:
    """Says what share of the machine's rate a step reaches on the linear layers of its real tokens."""
    method = simcse(short, texts)
    lengths = [len(ids) for ids in method.encoder.token_ids(texts, max_length=LENGTH)]
    tokens, rows = 2 * sum(lengths) / STEPS, 2 * BATCH
    config: Any = method.encoder.backbone.config
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    dense = 2 * width * (2 * width + 2 * inner)  # query, output, feed-forward
    forward = layers * 4 * width**2 * tokens + dense * ((layers - 1) * tokens + rows)
    padding = 1 - sum(lengths) / sum(
        BATCH * max(lengths[start : start + BATCH]) for start in range(0, len(lengths), BATCH)
    )
    reached = share_of_rates(3 * forward, taken, rates, device)
    return (
        f"{3 * forward / 1e9:.0f} GFLOP in linear layers, {reached}; a padded batch has {padding:.1%} padding"
    )
