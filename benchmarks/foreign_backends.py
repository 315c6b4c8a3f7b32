"""sentence-transformers with ONNX Runtime and OpenVINO, in a Python of its own, for `benchmarks.backends`.

Their exporters do not import with our version of transformers. This file imports nothing of the project. It
reads JSON lines and answers each with one: first the sets, [first texts, second texts] each, then the name
of a side, for its seconds and the cosines of every set.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from importlib.metadata import version
from typing import Any

OPENVINO_FP32 = {"INFERENCE_PRECISION_HINT": "f32"}
LIBRARIES = ("sentence-transformers", "transformers", "torch", "optimum")


def sides(threads: int) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Returns side -> its backend, the package of that, and what a model is loaded with."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    few = {"INFERENCE_NUM_THREADS": threads}
    return {
        "ONNX Runtime": ("onnx", "onnxruntime", {"session_options": options}),
        "OpenVINO": ("openvino", "openvino", {"ov_config": {**few, **OPENVINO_FP32}}),
        "OpenVINO, its default precision": ("openvino", "openvino", {"ov_config": few}),
    }


def load(folder: str, backend: str, settings: dict[str, Any]) -> Any:
    """Returns the model with mean pooling, exported from the folder's weights in fp32."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(folder, backend=backend, model_kwargs=settings)
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    modules = [transformer, pooling]
    return SentenceTransformer(modules=modules, device="cpu", backend=backend, trust_remote_code=False)


def cosines(model: Any, sets: list[Any], batch: int) -> list[list[float]]:
    """Returns the cosine of every pair, by `encode` on both sides of a set."""
    from numpy import einsum
    from numpy.linalg import norm

    found = []
    for texts in sets:
        one, other = (model.encode(side, batch_size=batch, show_progress_bar=False) for side in texts)
        one, other = one.astype("float64"), other.astype("float64")
        products = einsum("nd,nd->n", one, other)
        found.append((products / norm(one, axis=1) / norm(other, axis=1)).tolist())
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    given = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def answer(value: Any) -> None:
        print(json.dumps(value), file=answers, flush=True)

    import torch

    torch.set_num_threads(given.threads)
    models, software = {}, {}
    others = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    for name, (backend, package, settings) in sides(given.threads).items():
        with contextlib.redirect_stdout(sys.stderr):
            models[name] = load(given.folder, backend, settings)
        software[name] = f"{package} {version(package)}, {others}"
    answer(software)
    sets: list[Any] = []
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, list):
            sets = asked
            answer(len(sets))
            continue
        started = time.perf_counter()
        found = cosines(models[asked], sets, given.batch)
        answer([time.perf_counter() - started, found])


if __name__ == "__main__":
    main()
