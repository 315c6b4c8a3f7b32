"""Encoders with scores known from theory: constant, random and oracle. They test the scoring itself.

The oracle. Pairs share sentences, so their cosines are determined jointly: the matrix of all texts has 1 on
its diagonal and gold/scale for each pair, scaled so that every row outweighs its pairs twice, and its
Cholesky factor has a unit vector for each text. Texts that no chain of pairs links share coordinates. No
vectors can do better on a pair of identical sentences (cosine 1 whatever the gold) or on a pair given twice
with two gold scores (the oracle takes the mean): `attainable` is the expected score of the oracle.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence

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
    """Returns an encoder that gives each text a fixed Gaussian vector."""

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.stack([_gaussian(seed, text) for text in texts])

    return encode


def _gaussian(seed: int, text: str) -> np.ndarray:
    digest = hashlib.sha256(f"{seed}\0{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(RANDOM_DIM)


def oracle(pairs: Sequence[ScoredPair]) -> Encode:
    """Returns an encoder under which the cosine of each pair is its gold score times one constant.

    Errors (of the encoder): InputError for an unknown text.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    row = {text: number for number, text in enumerate(texts)}
    weights = _edge_weights(pairs)
    first, second = ([row[edge[side]] for edge in weights] for side in (0, 1))
    shape = len(texts), len(texts)
    upper = csr_array((list(weights.values()), (first, second)), shape=shape)
    linked = csr_array((np.ones(len(weights)), (first, second)), shape=shape)
    _, component = connected_components(linked, directed=False)
    vectors = np.zeros((len(texts), np.bincount(component).max(initial=0)))
    for number in np.unique(component):
        members = np.flatnonzero(component == number)
        half = upper[members][:, members].toarray()
        vectors[members, : len(members)] = np.linalg.cholesky(half + half.T + np.eye(len(members)))

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
    """Returns one line for each of these encoders whose score on an STS task differs from theory.

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
    """Returns a weight for each pair of different texts; the weights of a text sum to 0.5 at most."""
    gold: dict[Edge, list[float]] = defaultdict(list)
    for pair in pairs:
        if pair.first != pair.second:
            gold[_edge(pair)].append(pair.score)
    means = {edge: float(np.mean(scores)) for edge, scores in gold.items()}
    total: dict[str, float] = defaultdict(float)
    for edge, mean in means.items():
        for text in edge:
            total[text] += mean
    scale = 2 * max(total.values(), default=1.0) or 1.0
    return {edge: mean / scale for edge, mean in means.items()}
