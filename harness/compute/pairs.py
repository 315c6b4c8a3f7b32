"""The cosines of a test set's sentence pairs, read from the stored vectors of runs; no model is loaded."""

from collections.abc import Iterable, Mapping

import numpy as np

from harness.results.embeddings import EmbeddingStore
from harness.tasks.sts import StsTask, cosines_of_pairs


def stored_cosines(task: StsTask, stores: Mapping[str, Iterable[EmbeddingStore]]) -> dict[str, np.ndarray]:
    """Returns the cosines [N] of the task's pairs for every system, the mean over its runs.

    stores: the vectors of each system's runs. A store without all texts of the task does not
    count, and a system without a store is left out.
    """
    found = {}
    texts = list(dict.fromkeys(task.texts()))
    for system, runs in stores.items():
        whole = [store for store in runs if not store.missing(texts)]
        values = [cosines_of_pairs(store.encode, task.pairs, task.name) for store in whole]
        if values:
            found[system] = np.mean(values, axis=0)
    return found
