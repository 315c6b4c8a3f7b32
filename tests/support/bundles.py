"""Invented runs of one system with the files that they leave, and a checkout that knows them."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from harness.disk.files import write_record
from harness.results.acceptance import Checkout, Expected
from harness.results.bundles import MANIFEST, Contributor, RunFiles, pack
from harness.results.embeddings import EmbeddingStore
from harness.results.plausibility import ranges_of, values_of
from harness.results.schema import ResultFile, ScoreName
from harness.results.store import write_result
from tests.support.results import raw_result

TASKS = tuple(f"T{number}" for number in range(6))
SUBSETS = ("a", "b", "c")
CODE = "c0de" * 16
ANNA = Contributor(name="Anna's lab", link="https://example.org/anna", may_be_cited=True)
TEXTS = [f"text {number}" for number in range(40)]
CODES = {"simcse": CODE, "una": "u"}


def key_of(seed: int) -> str:
    return f"simcse__tiny__s{seed}"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def with_means(subsets: Mapping[tuple[str, str, str], float]) -> list[dict[str, Any]]:
    """Returns the scores of a result with these of its subsets by task, metric and subset."""
    scores = []
    for task in TASKS:
        for metric in ("spearman", "pearson"):
            parts = [subsets[task, metric, subset] for subset in SUBSETS]
            values = {"all": subsets[task, metric, "all"], "mean": sum(parts) / len(parts)}
            values |= {f"subset:{name}": part for name, part in zip(SUBSETS, parts, strict=True)}
            for setting, value in values.items():
                name = {"task": task, "metric": metric, "setting": setting, "selection": "best-dev"}
                n = 100 if setting.startswith("subset") else 300
                scores.append({**name, "value": float(f"{value:.10g}"), "n": n})
    return scores


def drawn_scores(seed: int) -> dict[tuple[str, str, str], float]:
    """Returns what a seed scores: a level of each set, and a point of noise."""
    level, noise = np.random.default_rng(0), np.random.default_rng([1, seed])
    names = product(TASKS, ("spearman", "pearson"), ("all", *SUBSETS))
    return {name: float(level.uniform(0.4, 0.7) + noise.normal(0, 0.01)) for name in names}


def a_result(seed: int = 7, *, scores: list[dict[str, Any]] | None = None, **changes: Any) -> ResultFile:
    """Returns the result of a seed; `changes` are of its record or its provenance, by name."""
    stated: dict[str, Any] = {
        "seed": seed, "recipe": sha("recipe"), "identity": sha(f"identity {seed}"), "git_commit": "a" * 40,
        "encoder_sha256": sha(f"encoder {seed}"), "data_sha256": {"sets": sha("sets")},
        "versions": {"torch": "2"}, "device": "cuda",
        "arithmetic": "native, products of training by torch",
    }  # fmt: skip
    made = with_means(drawn_scores(seed)) if scores is None else scores
    raw = raw_result(**{"key": key_of(seed), "scores": made, **stated, **changes})
    return ResultFile.model_validate(raw, by_alias=True)


def expected(key: str) -> Expected | None:
    """Returns one of ten seeds as the recipes declare it."""
    if key not in map(key_of, range(10)):
        return None
    record = a_result(int(key[-1])).run.model_dump(exclude={"identity"})
    return Expected(record, TASKS, "senteval", ("best-dev",), "native")


def identity(result: ResultFile) -> str:
    return sha(f"identity {result.run.seed}")


NAMES = list(values_of(a_result()))
"""The scores of a result: each is a number of the first text's vector, in this order."""


def rescore(result: ResultFile, folder: Path) -> Mapping[ScoreName, float]:
    """A task whose scores are numbers of the first text's vector; the data of T5 are not here."""
    vectors = EmbeddingStore.load(folder).encode(TEXTS)
    return {
        name: float(value)
        for name, value in zip(NAMES, vectors[0], strict=False)
        if name in values_of(result) and name.task != "T5"
    }


OURS = [a_result(seed) for seed in range(3)]
CHECKOUT = Checkout(
    expected=expected,
    identity=identity,
    code={"simcse": CODE},
    ranges=partial(ranges_of, ours=OURS, bands={}, reported={}),
    rescore=rescore,
    present=OURS,
)


def files(folder: Path, result: ResultFile, *, vectors: bool = True) -> RunFiles:
    """Writes what a run leaves: its result, its curve, and vectors that its scores are read from."""
    folder.mkdir(parents=True, exist_ok=True)
    key = result.run.key
    write_result(folder / f"{key}.json", result)
    lines = [{"step": 0, "score": 0.3}, {"step": 2, "score": 0.5}, {"step": 4, "score": 0.4}]
    write_record(folder / f"{key}-curve.json", {"evaluations": lines})
    if vectors:
        matrix = np.zeros((len(TEXTS), len(NAMES)), dtype=np.float32)
        matrix[0] = [values_of(result).get(name, 0.0) for name in NAMES]
        EmbeddingStore.write(folder / key, TEXTS, lambda _: matrix, encoder=key, precision="float32")
    return RunFiles(folder / f"{key}.json", folder / f"{key}-curve.json", folder / key if vectors else None)


def bundle_of(out: Path, *results: ResultFile, vectors: bool = True) -> Path:
    """Returns a bundle of results, written by `pack`."""
    pack(
        out,
        [files(out.parent / f"{out.stem}-files", result, vectors=vectors) for result in results],
        contributor=ANNA,
        code=CODES,
    )
    return out


Contents = dict[str, bytes]


def augmented(bundle: Path, change: Callable[[Contents], None], *, honest: bool = True) -> Path:
    """Returns the bundle with changed members; if `honest` its manifest states their bytes."""
    with zipfile.ZipFile(bundle) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    before = contents.get(MANIFEST)
    change(contents)
    if honest and contents.get(MANIFEST) == before is not None:
        manifest = json.loads(contents[MANIFEST])
        manifest["members"] = {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in contents.items()
            if not name.startswith(MANIFEST)
        }
        contents[MANIFEST] = json.dumps(manifest).encode()
    out = bundle.with_name("changed.zip")
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out
