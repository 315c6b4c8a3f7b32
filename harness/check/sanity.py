"""Encoders with scores known from theory: constant, random and oracle. They test the scoring itself.

The oracle. Pairs share sentences, so they cannot each have a plane; cosines are constructed from a
graph: texts are nodes, pairs are edges with gold/scale as weight. Each edge gets a coordinate in which both
its texts have the root of the weight; coordinates are reused where no two texts of a pair would meet in a
second one. The remaining length goes into a separate coordinate of the text, again reused where no
pair shares it. The cosine of every pair is then its weight: exact, in far fewer dimensions than pairs.
No vectors can do better on a pair of identical sentences (cosine 1 whatever the gold) or on a pair given
twice with two gold scores (the oracle takes the mean): `attainable` says what the oracle must score.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np

from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.tasks.interface import Encode, Task
from harness.tasks.sts import StsTask, spearman

RANDOM_DIM = 64
Edge = tuple[str, str]


def constant(texts: Sequence[str]) -> np.ndarray:
    """Returns one vector for every text [N, 2]; a task must refuse to score it."""
    return np.tile(np.array([0.6, 0.8]), (len(texts), 1))


def random(seed: int) -> Encode:
    """Returns an encoder that gives each text a Gaussian vector of its own, the same in every call."""

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.stack([_gaussian(seed, text) for text in texts])

    return encode


def _gaussian(seed: int, text: str) -> np.ndarray:
    digest = hashlib.sha256(f"{seed}\0{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(RANDOM_DIM)


def oracle(pairs: Sequence[ScoredPair]) -> Encode:
    """Returns an encoder under which the cosine of each pair is its gold score times one constant.

    Errors (of the encoder): InputError for a text of no pair.
    """
    weights = _edge_weights(pairs)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    neighbours: dict[str, set[str]] = {text: set() for text in texts}
    for first, second in weights:
        neighbours[first].add(second)
        neighbours[second].add(first)
    shared = _edge_colours(weights, neighbours)
    own = _text_colours(neighbours)
    offset = max(shared.values(), default=-1) + 1
    vectors = np.zeros((len(texts), offset + max(own.values(), default=0) + 1))
    row = {text: number for number, text in enumerate(texts)}
    for edge, weight in weights.items():
        for text in edge:
            vectors[row[text], shared[edge]] = np.sqrt(weight)
    for text in texts:
        length = vectors[row[text]] @ vectors[row[text]]
        vectors[row[text], offset + own[text]] = np.sqrt(max(1.0 - length, 0.0))

    def encode(asked: Sequence[str]) -> np.ndarray:
        unknown = next((text for text in asked if text not in row), None)
        if unknown is not None:
            raise InputError(f"the oracle has no pair with {unknown!r}; build it from the pairs of this task")
        return vectors[[row[text] for text in asked]]

    return encode


def attainable(pairs: Sequence[ScoredPair]) -> float:
    """Returns the oracle's Spearman correlation: 1 unless pairs contradict each other or repeat a text."""
    weights = _edge_weights(pairs)
    best = [1.0 if pair.first == pair.second else weights[_edge(pair)] for pair in pairs]
    return spearman(np.array([pair.score for pair in pairs]), np.round(best, 12))


def problems_of(task: Task) -> list[str]:
    """Returns one line for every such encoder whose score on an STS task differs from theory.

    Constant: refused. Random: |Spearman| at most 4 / sqrt(n). Oracle: `attainable`.
    Errors: InputError for a task of another kind.
    """
    if not isinstance(task, StsTask):
        raise InputError(f"task {task.name}: its scoring is checked for STS tasks only")
    problems = []
    try:
        value = _spearman_of(task, constant)
        problems.append(f"{task.name}: a constant encoder scored {value:.4f}, expected a refusal")
    except InputError:
        pass
    bound = 4 / np.sqrt(len(task.pairs))
    value = _spearman_of(task, random(seed=0))
    if abs(value) > bound:
        problems.append(f"{task.name}: a random encoder scored {value:.4f}, expected at most +-{bound:.4f}")
    value, expected = _spearman_of(task, oracle(task.pairs)), attainable(task.pairs)
    if abs(value - expected) > 1e-9:
        problems.append(f"{task.name}: the oracle scored {value:.6f}, expected {expected:.6f}")
    return problems


def _spearman_of(task: StsTask, encode: Encode) -> float:
    scores = task.evaluate(encode)
    return next(score.value for score in scores if (score.metric, score.setting) == ("spearman", "all"))


def _edge(pair: ScoredPair) -> Edge:
    return (pair.first, pair.second) if pair.first <= pair.second else (pair.second, pair.first)


def _edge_weights(pairs: Sequence[ScoredPair]) -> dict[Edge, float]:
    """Returns a weight for each pair of different texts; the weights of a text sum to 1 at most."""
    gold: dict[Edge, list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.first != pair.second:
            gold[_edge(pair)].append(pair.score)
    means = {edge: float(np.mean(scores)) for edge, scores in gold.items()}
    total: dict[str, float] = defaultdict(float)
    for edge, mean in means.items():
        for text in edge:
            total[text] += mean
    scale = max(total.values(), default=1.0) or 1.0
    return {edge: mean / scale for edge, mean in means.items()}


def _edge_colours(weights: Mapping[Edge, float], neighbours: Mapping[str, set[str]]) -> dict[Edge, int]:
    """Returns a coordinate for each edge that no edge at its texts or at their neighbours has."""
    used: dict[str, set[int]] = defaultdict(set)  # text -> coordinates of its edges
    colours = {}
    for edge in weights:
        near = {*edge, *neighbours[edge[0]], *neighbours[edge[1]]}
        taken = set().union(*(used[text] for text in near))
        colour = next(number for number in count() if number not in taken)
        colours[edge] = colour
        for text in edge:
            used[text].add(colour)
    return colours


def _text_colours(neighbours: Mapping[str, set[str]]) -> dict[str, int]:
    """Returns a coordinate for each text that none of its neighbours has."""
    colours: dict[str, int] = {}
    for text, near in neighbours.items():
        taken = {colours[other] for other in near if other in colours}
        colours[text] = next(number for number in count() if number not in taken)
    return colours
