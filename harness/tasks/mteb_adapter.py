"""Evaluation of our encoders on the tasks of mteb.

mteb caches results by the model's name and revision. The name therefore states the system, the revision is a
hash of the encoder's bytes, and results are written to our folder. Results on local copies of its data sets
are stored separately, with a revision from the copy's bytes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.data.sts import read_pairs_jsonl
from harness.errors import InputError, near_matches
from harness.io.files import sha256_of
from harness.tasks.sts import unit_rows

LOCAL_COPY = "local"
LOCAL_STS = {
    **{f"STS{year}": f"sts{year}-sts" for year in range(12, 17)},
    "STSBenchmark": "stsbenchmark-sts",
    "SICK-R": "sickr-sts",
}
"""mteb's task -> its folder below a local copy of the hub's data sets, which holds test.jsonl."""


class MtebScore(NamedTuple):
    """mteb's main score of one task in raw units, the revision of its data, and its file."""

    task: str
    metric: str
    value: float
    data_revision: str
    file: str


def identity_of(label: str, encoder_sha256: str) -> tuple[str, str]:
    """Returns mteb's name and revision of an encoder: `sentbench/LABEL` and 40 digits of its sha256."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-") or "model"
    return f"sentbench/{plain}", encoder_sha256[:40]


class MtebModel:
    """An encoder (with `encode` and `dim`) behind mteb's interface.

    Texts come in batches of a data loader, cosines are float64. name, revision: of `identity_of`. experiment:
    of mteb, such as the seed; a folder below the revision.
    """

    def __init__(
        self,
        encoder: Any,
        *,
        name: str,
        revision: str,
        experiment: Mapping[str, Any] | None = None,
        parameters: int | None = None,
    ) -> None:
        from mteb.models import ModelMeta
        from mteb.models.model_meta import ScoringFunction

        self.encoder = encoder
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={
                "name": name,
                "revision": revision,
                "embed_dim": encoder.dim,
                "n_parameters": parameters,
                "languages": ["eng-Latn"],
                "similarity_fn_name": ScoringFunction.COSINE,
                "framework": ["PyTorch"],
                "experiment_kwargs": dict(experiment or {}) or None,
            }
        )

    def encode(self, inputs: Iterable[Mapping[str, Any]], **_: Any) -> np.ndarray:
        """Returns [N, dim]; mteb's prompts, splits and batch size do not affect the vectors."""
        texts = [text for batch in inputs for text in batch["text"]]
        return np.asarray(self.encoder.encode(texts))

    def similarity(self, first: Any, second: Any) -> np.ndarray:
        """Returns the cosines of all rows of `first` [N, d] with all of `second` [M, d]: [N, M]."""
        return unit_rows(np.atleast_2d(first)) @ unit_rows(np.atleast_2d(second)).T

    def similarity_pairwise(self, first: Any, second: Any) -> np.ndarray:
        """Returns the cosines of equal rows [N]."""
        return np.einsum("nd,nd->n", unit_rows(np.atleast_2d(first)), unit_rows(np.atleast_2d(second)))


def run_mteb(
    model: MtebModel, tasks: Sequence[str], *, out: Path, local: Path | None = None, progress: bool = False
) -> list[MtebScore]:
    """Returns mteb's main score of each task; result files and model meta are below `out`/results.

    `local` names a folder with copies of the hub's STS data sets (see LOCAL_STS). Its results are always
    recomputed, are written to `out`/local/results, and have the revision `local-` with the copy's hash.
    Errors: InputError for an unknown task, a missing copy, or an unreachable hub.
    """
    if not tasks:
        return []
    import mteb
    from datasets.exceptions import DatasetNotFoundError
    from huggingface_hub.errors import HfHubHTTPError, HTTPError, OfflineModeIsEnabled

    out_of_reach = (ConnectionError, DatasetNotFoundError, HfHubHTTPError, HTTPError, OfflineModeIsEnabled)
    chosen = [_mteb_task(name) if local is None else local_sts_task(name, local) for name in tasks]
    cache = mteb.ResultCache(out if local is None else out / LOCAL_COPY)
    try:
        results = mteb.evaluate(
            model,
            chosen,
            cache=cache,
            overwrite_strategy="only-missing" if local is None else "always",
            show_progress_bar=progress,
        )
    except out_of_reach as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"mteb's data of {', '.join(tasks)}: the hub is not reachable or refuses them ({reason}); set "
            f"SENTBENCH_MIRROR to use a mirror for {', '.join(LOCAL_STS)}"
        ) from None
    return [
        MtebScore(
            task=result.task_name,
            metric=task.metadata.main_score,
            value=float(result.get_score()),
            data_revision=result.dataset_revision,
            file=str(cache.get_task_result_path(result.task_name, model.mteb_model_meta)),
        )
        for task, result in zip(chosen, results, strict=True)
    ]


def local_sts_task(name: str, folder: Path) -> Any:
    """Returns mteb's STS task with the pairs of a local copy, marked by the revision `local-HASH`."""
    from datasets import Dataset, DatasetDict

    path = folder / LOCAL_STS[name] / "test.jsonl"
    pairs = read_pairs_jsonl(path)
    task = _mteb_task(name)
    source = {"path": f"{LOCAL_COPY}/{LOCAL_STS[name]}", "revision": f"{LOCAL_COPY}-{sha256_of(path)[:16]}"}
    task.metadata = task.metadata.model_copy(update={"dataset": source})
    rows = [{"sentence1": pair.first, "sentence2": pair.second, "score": pair.score} for pair in pairs]
    task.dataset = DatasetDict({"test": Dataset.from_list(rows)})
    task.data_loaded = True
    return task


def _mteb_task(name: str) -> Any:
    import mteb

    try:
        return mteb.get_task(name)
    except KeyError:
        known = [task.metadata.name for task in mteb.get_tasks()]
        raise InputError(
            f"mteb has no task {name!r}, expected one of its {len(known)} names{near_matches(name, known)}"
        ) from None


def count_parameters(encoder: Any) -> int:
    """Returns the number of floating-point values in parameters and buffers, each counted once."""
    network = getattr(encoder, "model", encoder)  # an encoder of sentence-transformers wraps its model
    if not hasattr(network, "parameters"):
        return 0
    held = [*network.parameters(), *network.buffers()]
    return sum(tensor.numel() for tensor in {id(t): t for t in held}.values() if tensor.is_floating_point())
