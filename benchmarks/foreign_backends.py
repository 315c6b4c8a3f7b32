"""sentence-transformers with ONNX Runtime and OpenVINO, in a separate Python, for `benchmarks.evaluation`.

    python foreign_backends.py FOLDER SIDE THREADS BATCH

Their exporters do not import with our version of transformers, so this file does not import the project. It
reads sets as JSON, each [first texts, second texts]. Its last line is JSON as well: the seconds, the cosines
of every set, and the packages. Loading, exporting and a first batch are not timed.
"""

import json
import sys
import time
from importlib.metadata import version
from typing import Any

BACKENDS = {"ONNX Runtime": "onnx", "OpenVINO": "openvino", "OpenVINO, its default precision": "openvino"}
"""Side -> name of the backend."""
LIBRARIES = ("sentence-transformers", "transformers", "torch", "optimum")


def load(folder: str, side: str, threads: int) -> Any:
    """Returns the model with mean pooling, exported from the folder's weights in fp32."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    backend = BACKENDS[side]
    if backend == "onnx":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        settings = {"session_options": options}
    else:
        precision = {"INFERENCE_PRECISION_HINT": "f32"} if side == "OpenVINO" else {}
        settings = {"ov_config": {"INFERENCE_NUM_THREADS": threads, **precision}}
    transformer = Transformer(folder, backend=backend, model_kwargs=settings)
    modules = [transformer, Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")]
    return SentenceTransformer(modules=modules, device="cpu", backend=backend, trust_remote_code=False)


def cosines(model: Any, sets: list[Any], batch: int) -> list[list[float]]:
    """Returns the cosine of every pair, by `encode` on both sides of a set."""
    from numpy import einsum
    from numpy.linalg import norm

    values = []
    for texts in sets:
        first, second = (model.encode(side, batch_size=batch, show_progress_bar=False) for side in texts)
        first, second = first.astype("float64"), second.astype("float64")
        products = einsum("nd,nd->n", first, second)
        values.append((products / norm(first, axis=1) / norm(second, axis=1)).tolist())
    return values


def main(folder: str, side: str, threads: int, batch: int) -> None:
    import torch

    torch.set_num_threads(threads)
    model, sets = load(folder, side, threads), json.load(sys.stdin)
    model.encode(sets[0][0][:batch], batch_size=batch, show_progress_bar=False)
    package = {"onnx": "onnxruntime"}.get(BACKENDS[side], BACKENDS[side])
    software = ", ".join(f"{name} {version(name)}" for name in (package, *LIBRARIES))
    started = time.perf_counter()
    values = cosines(model, sets, batch)
    print("\n" + json.dumps([time.perf_counter() - started, values, software]))


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
