"""Peak memory of a training step of every full-scale system, in two ways that share nothing but the method.

    python -m benchmarks.peaks [--system ID ...] [--write]

Tracked: a step runs on tensors of torch's device `meta`, which have sizes and no values, and torch's
MemTracker adds up the storages alive. Counted: four numbers for a trained parameter, one for others and for
buffers, and the activations of every pass of an encoder with gradients by the formula of Korthikanti et al.
(2022), of which those that are recomputed are there one pass at a time. Attention has no kernel on `meta` and
is tracked as single products, which keep more than a GPU's kernel. --write keeps the result for
`sentbench plan`.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import yaml
from torch.distributed._tools.mem_tracker import MemTracker

from benchmarks.steps import TEACHER_DIM, built, stepper, teacher_dim
from harness.disk.files import write_text
from harness.errors import InputError
from harness.plan.entries import Params, Run
from harness.plan.estimate import FLOAT_BYTES, PEAKS, STATES, Estimate, Peak, read_peaks, setting_of
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.step_times import Shape, read_step_times
from harness.process import quiet
from methods.core.encoder import SentenceEncoder
from methods.core.optimizer import build_optimizer
from methods.core.train_config import TrainConfig

HEAD = """\
# Peak bytes of a training step on a GPU, counted and tracked; written by
# `python -m benchmarks.peaks --write`. The key is a digest of what decides the sizes of a run's tensors
# (harness/plan/estimate.py), `system` the first run that has it.
"""
META = "meta"


class Tracker(MemTracker):
    """Torch's tracker of storages, without its account of each module, which allows one pass of a module."""

    def _pre_fw_hook(self, *_: Any) -> None: ...

    def _post_fw_hook(self, *_: Any) -> None: ...

    def _pre_bw_hook(self, *_: Any) -> None: ...

    def _post_bw_hook(self, *_: Any) -> None: ...


def peak_of(run: Run, shape: Shape, *, teacher_dim: int = TEACHER_DIM) -> Peak:
    """Returns both peaks of a run's training step on a backbone of a shape."""
    tracker, torchs = Tracker(), "torch.optim.optimizer._get_fused_kernels_supported_devices"
    with tempfile.TemporaryDirectory() as place:
        method, rows = built(run, shape, Path(place), teacher_dim=teacher_dim)
    batch = rows[: run.train["batch_size"]]
    with (
        tracker,
        mock.patch("torch.autocast", return_value=nullcontext()),  # torch has no autocast on `meta`
        mock.patch("torch.is_autocast_enabled", return_value=False),
        mock.patch(torchs, return_value=["cpu", META]),  # nor a fused optimiser
        _activations() as kept,
    ):
        method.to(META).train()
        optimizer = build_optimizer(method, TrainConfig.model_validate(run.train))
        trained = {parameter for group in optimizer.param_groups for parameter in group["params"]}
        for parameter in trained:
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()  # makes the moments
        stepper(method, run.train, device=META, precision="fp32", optimizer=optimizer)(batch, 0)
    tracked = tracker.get_tracker_snapshot("peak")[torch.device(META)]["Total"]
    others = {*method.parameters(), *method.buffers()} - trained
    numbers = STATES * sum(value.numel() for value in trained) + sum(value.numel() for value in others)
    counted = FLOAT_BYTES * numbers + sum(kept[False]) + max(kept[True], default=0)
    system = f"{run.id}@{run.backbone_name}"
    return Peak(system=system, counted=float(f"{counted:.4g}"), tracked=float(f"{tracked:.4g}"))


@contextmanager
def _activations() -> Iterator[dict[bool, list[float]]]:
    """Yields, by whether they are recomputed, the activations of each pass of an encoder with gradients."""
    kept: dict[bool, list[float]] = {False: [], True: []}
    inside: list[None] = []

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(encoder: SentenceEncoder, tokens: Any, **embeddings: Any) -> Any:
            if not inside and torch.is_grad_enabled():
                rows, length = tokens["input_ids"].shape
                config: Any = encoder.backbone.config
                each = 68 * config.hidden_size + 10 * config.num_attention_heads * length
                recomputed = torch._C._autograd._top_saved_tensors_default_hooks(True) is not None
                kept[recomputed].append(rows * length * config.num_hidden_layers * each)
            inside.append(None)
            try:
                return call(encoder, tokens, **embeddings)
            finally:
                inside.pop()

        return counting

    names = ("forward", "states")  # a method may ask for the states of all layers itself
    calls = {name: counted(getattr(SentenceEncoder, name)) for name in names}
    with mock.patch.multiple(SentenceEncoder, **calls):
        yield kept


def full_scale() -> Params:
    """Returns all full-scale runs, one seed of each."""
    recipes = load_recipes()
    return resolve(recipes, [name for name in recipes if FULL_SCALE in recipes[name].providers], seeds=1)


def main() -> None:
    """Prints the peak of each setting that is asked for or not known yet, and keeps it with --write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peaks")
    parser.add_argument("--system", nargs="*", metavar="ID", help="default: all new ones")
    parser.add_argument("--write", action="store_true", help=f"keep the result in {PEAKS}")
    given = parser.parse_args()
    quiet()
    params = full_scale()
    estimate, kept = Estimate(params, read_step_times()), read_peaks().peaks
    done = set() if given.system else set(kept)
    for run in params.runs.values():
        shape = estimate.shape(run.backbone_name)
        asked = run.train["steps"] != 0 and run.id in (given.system or [run.id])
        if not asked or shape is None or (setting := setting_of(run, shape)) in done:
            continue
        done.add(setting)
        try:
            peak = peak_of(run, shape, teacher_dim=teacher_dim(run, estimate, shape.width))
        except InputError as error:  # a file or package that this machine lacks
            print(f"{run.id}@{run.backbone_name}: not measured: {error}", flush=True)
            continue
        counted, tracked = peak.counted / 1e9, peak.tracked / 1e9
        print(f"{peak.system:50} {counted:6.2f} GB counted {tracked:6.2f} GB tracked", flush=True)
        kept[setting] = peak
        if given.write:
            ordered = sorted(kept.items(), key=lambda entry: entry[1].system)
            body = {"peaks": {name: peak.model_dump() for name, peak in ordered}}
            text = yaml.safe_dump(body, sort_keys=False, width=200, default_flow_style=None)
            write_text(PEAKS, HEAD + text)


if __name__ == "__main__":
    main()
