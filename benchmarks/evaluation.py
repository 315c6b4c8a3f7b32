"""STS evaluation: ours, sentence-transformers by each backend, mteb, and a loop of pairs as in SentEval.

A round is an evaluation of the whole collection, with the same texts for all sides: with a mirror the papers'
seven sets, otherwise STS-B and its parts of the other sets. ONNX Runtime and OpenVINO run in separate
processes, with the same number of threads and the packages of SENTBENCH_PEER_PYTHON; the time to start them
and to send texts and cosines does not count.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from benchmarks import foreign_backends
from benchmarks.runner import Disagreement, TimedResult, backbone, encoder, made_up, profiled, run
from harness.data.providers import mirror_folder
from harness.errors import InputError
from harness.report.measurements import BenchmarkResult
from harness.tasks.evaluation import evaluate_tasks
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask, spearman, unit_rows
from methods.core.batching import unique
from methods.core.encoder import SentenceEncoder
from methods.core.pooling import masked_mean

VARIABLE = "SENTBENCH_PEER_PYTHON"
SETS = ("STSB", "STS16", "STS13", "STS12", "STS15", "SICKR", "STS14")
EMBEDDED = ("STSB", "STS12-part", "STS14-part", "STS13-part", "STS15-part", "STS16-part")
MADE_UP = made_up(96)
SENTEVAL_BATCH, PEER_BATCH = 128, 64
CORRELATIONS_APART = 1e-4
"""Largest difference allowed between the correlations of two sides in fp32: 0.01 points."""
TARGETS = {"SentEval's loop": 2.6, "sentence-transformers": 2.3, "mteb": 2.3}
BACKEND_TARGETS = {"ONNX Runtime": 1.0, "OpenVINO": 1.0}
HALF_TARGETS = {"SentEval's loop": 4.2, "sentence-transformers": 3.7, "mteb": 3.7}
"""Limit for processors where oneDNN's fp32 product is not faster than MKL's, which the peers use."""
OURS, HALF, HALF_BACKEND = "ours", "ours, bf16", "OpenVINO, its default precision"
Scorer = Callable[[Sequence[StsTask]], Any]
"""Encodes and scores the pairs of some sets; returns Spearman's correlation of each set, in [-1, 1]."""


def measure(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns our times in fp32 and bf16, each against the peers in fp32."""
    from mteb.models import SentenceTransformerEncoderWrapper
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    tasks = [MADE_UP] if short else test_sets()
    software: dict[str, str] = {}
    ours = encoder(short, "mean").to(device)
    transformer: Any = Transformer(str(backbone(short)))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    peer = SentenceTransformer(modules=[transformer, pooling], device=device, trust_remote_code=False)
    sides: dict[str, Scorer] = {
        OURS: partial(our_scores, ours),
        HALF: partial(our_scores, ours, half=True),
        "SentEval's loop": partial(pair_loop, ours),
        "sentence-transformers": partial(peer_scores, peer),
        "mteb": partial(mteb_scores, SentenceTransformerEncoderWrapper(peer)),
    }
    with foreign_sides(backbone(short), software) as foreign:
        for score in sides.values():
            score([MADE_UP])
        texts = [text for task in tasks for text in task.texts()]  # reads the sets before the first timing
        forms = {name: partial(score, tasks) for name, score in {**sides, **foreign}.items()}
        runs = run(forms, rounds=rounds, device=device, warm=False)
    extra = BACKEND_TARGETS if foreign else {}
    default = {HALF_BACKEND: None} if foreign else {}
    once, _ = unique(texts)
    tokens, fewer = (sum(map(len, ours.token_ids(group))) for group in (texts, once))
    names = ", ".join(task.name for task in tasks)
    counts = f"{len(texts)} sentences, {len(once)} unique; {tokens} tokens, {fewer} computed"
    apart = max(abs(full - half) for full, half in zip(runs.values[OURS], runs.values[HALF], strict=True))
    return [
        runs.result(
            "STS evaluation, fp32",
            OURS,
            {**TARGETS, **extra},
            unit="s",
            software=software,
            agreement=agreement(runs.values),
            note=f"{names}: {counts}; {profiled(forms[OURS])}",
        ),
        runs.result(
            "STS evaluation, bf16 against fp32",
            HALF,
            {**HALF_TARGETS, **extra, **default},
            unit="s",
            software=software,
            agreement=f"Spearman is up to {100 * apart:.3f} points from fp32's",
            note=f"no result is recorded in bf16; {profiled(forms[HALF])}",
        ),
    ]


@contextmanager
def foreign_sides(folder: Path, software: dict[str, str]) -> Iterator[dict[str, Scorer]]:
    """Yields the sides of other backends for an encoder's folder; prints a line if they are not available.
    software: collects the packages of each. Errors: InputError for a variable that does not name a
    program.
    """
    python = os.environ.get(VARIABLE)
    if not python:
        said = f"not measured, {VARIABLE} names no Python that has them (docs/speed.md)"
        print(f"ONNX Runtime and OpenVINO: {said}")
        yield {}
        return
    if shutil.which(python) is None:
        raise InputError(f"{VARIABLE}={python}: no such program; correct or unset it")
    with TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / "encoder")  # backends write their exports there
        settings = copy / "tokenizer_config.json"
        text = settings.read_text(encoding="utf-8")  # the class had another name before transformers 5
        settings.write_text(text.replace("TokenizersBackend", "PreTrainedTokenizerFast"), encoding="utf-8")
        yield {
            name: partial(backend_scores, [python, foreign_backends.__file__, str(copy), name], software)
            for name in foreign_backends.BACKENDS
        }


def backend_scores(command: list[str], software: dict[str, str], tasks: Sequence[StsTask]) -> TimedResult:
    """Scores of `SentenceTransformer.encode` with another backend; the correlation is not timed.

    Errors: Disagreement if its process fails.
    """
    done = subprocess.run(
        [*command, str(torch.get_num_threads()), str(PEER_BATCH)],
        input=json.dumps([columns_of(task)[:2] for task in tasks]),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    if done.returncode:
        raise Disagreement(f"{command[1]} failed for {command[-1]}; its error output says why")
    seconds, cosines, software[command[-1]] = json.loads(done.stdout.splitlines()[-1])
    pairs = zip(tasks, cosines, strict=True)
    return TimedResult(seconds, [spearman(columns_of(task)[2], np.array(values)) for task, values in pairs])


def columns_of(task: StsTask) -> tuple[list[str], list[str], np.ndarray]:
    """Returns first texts, second texts and gold scores."""
    first, second = ([pair[side] for pair in task.pairs] for side in (0, 1))
    return first, second, np.array([pair.score for pair in task.pairs])


def our_scores(model: SentenceEncoder, tasks: Sequence[StsTask], *, half: bool = False) -> list[float]:
    """Scores as in selection: unique texts once, batches of equal length, cosines in float64."""
    with torch.autocast(model.device.type, torch.bfloat16, enabled=half):
        results = evaluate_tasks(list(tasks), model.encode)
    pooled = {
        score.task: score.value for score in results if (score.metric, score.setting) == ("spearman", "all")
    }
    return [pooled[task.name] for task in tasks]


@torch.no_grad()
def pair_loop(model: SentenceEncoder, tasks: Sequence[StsTask]) -> list[float]:
    """Scores in batches of pairs as in SentEval: padded sides, all layers, a cosine per pair."""

    def embed(texts: list[str]) -> np.ndarray:
        tokens = {name: ids.to(model.device) for name, ids in model.tokenize(texts).items()}
        states = model.backbone(**tokens, output_hidden_states=True).hidden_states
        return masked_mean(states[-1], tokens["attention_mask"]).cpu().numpy()

    model.eval()
    correlations = []
    for task in tasks:
        pairs = sorted(task.pairs, key=lambda pair: (len(pair.first.split()), len(pair.second.split())))
        similarities = []
        for start in range(0, len(pairs), SENTEVAL_BATCH):
            batch = pairs[start : start + SENTEVAL_BATCH]
            sides = embed([pair.first for pair in batch]), embed([pair.second for pair in batch])
            for first, second in zip(*sides, strict=True):
                similarities.append(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))
        correlations.append(spearman(np.array([pair.score for pair in pairs]), np.array(similarities)))
    return correlations


def peer_scores(model: Any, tasks: Sequence[StsTask]) -> list[float]:
    """Scores of `SentenceTransformer.encode` on both sides; cosines in float64."""
    encode = partial(model.encode, batch_size=PEER_BATCH, show_progress_bar=False)
    correlations = []
    for *sides, gold in map(columns_of, tasks):
        cosines = np.einsum("nd,nd->n", *(unit_rows(encode(texts)) for texts in sides))
        correlations.append(spearman(gold, cosines))
    return correlations


def mteb_scores(model: Any, tasks: Sequence[StsTask]) -> list[float]:
    """Scores of `mteb.evaluate` for an STS task of mteb with our pairs and mteb's batch size."""
    import mteb
    from datasets import Dataset, DatasetDict

    correlations = []
    for task in tasks:
        given = mteb.get_task("STSBenchmark")
        rows = dict(zip(("sentence1", "sentence2", "score"), columns_of(task), strict=True))
        given.dataset, given.data_loaded = DatasetDict({"test": Dataset.from_dict(rows)}), True
        with TemporaryDirectory() as folder:
            cache = mteb.ResultCache(Path(folder))
            results = mteb.evaluate(
                model, [given], cache=cache, overwrite_strategy="always", show_progress_bar=False
            )
        correlations.append(float(results[0].get_score()))
    return correlations


def test_sets() -> list[StsTask]:
    """Returns the papers' seven sets or, without a mirror, the parts of them in STS-B."""
    return build_tasks(SETS if mirror_folder() is not None else EMBEDDED, text="senteval")  # type: ignore[return-value]


def agreement(scores: Mapping[str, list[float]]) -> str:
    """Describes the agreement of the fp32 sides. Errors: Disagreement above CORRELATIONS_APART."""
    single = {name: values for name, values in scores.items() if name not in (HALF, HALF_BACKEND)}
    apart = max(np.ptp(values) for values in zip(*single.values(), strict=True))
    if not apart <= CORRELATIONS_APART:
        raise Disagreement(
            f"Spearman correlations differ by {apart:.2g}, expected at most {CORRELATIONS_APART}: {single}"
        )
    return f"Spearman of all sides agrees within {100 * apart:.1g} points"
