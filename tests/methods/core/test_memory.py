"""A training that does not fit its GPU ends with one line that names the settings of its memory."""

from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.errors import InputError
from methods.core.types import Batch, Loss
from tests.support import tiny
from tests.support.samples import SampleFolders, make, samples_of


def fails_at(method: Any, step: int) -> Any:
    """Lets the method run out of memory in a step, as torch says it: with a text of several lines."""
    whole, seen = method.loss, list[int]()

    def loss(batch: Batch) -> Loss:
        seen.append(len(seen))
        if seen[-1] == step:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nGPU 0 has 24 GiB")
        return whole(batch)

    method.loss = loss
    return method


@pytest.mark.parametrize("step", [0, 2])
def test_the_error_names_step_batch_and_length(step: int, tmp_path: Path) -> None:
    sample = samples_of("simcse")[0]
    base = SampleFolders(tmp_path).of(sample)
    method = fails_at(make(sample, base), step)
    with pytest.raises(InputError) as caught:
        tiny.trainer(method, tmp_path / "training", batch_size=5).fit(base.rows)
    assert str(caught.value) == (
        f"step {step}: out of GPU memory with batch 5 and length {method.config.max_length}; "
        "use a GPU with more memory"
    )


@pytest.mark.parametrize("recompute", [False, True])
def test_the_switch_is_named_where_a_method_has_one_and_it_is_off(recompute: bool, tmp_path: Path) -> None:
    sample = samples_of("pcl")[0]
    sample = sample._replace(config={**sample.config, "recompute": recompute})
    base = SampleFolders(tmp_path).of(sample)
    with pytest.raises(InputError) as caught:
        tiny.trainer(fails_at(make(sample, base), 1), tmp_path / "training").fit(base.rows)
    assert ("set `recompute: true` (same numbers, more time), or use" in str(caught.value)) is not recompute
    assert "\n" not in str(caught.value)


def test_a_resume_point_before_it_is_kept_and_a_larger_gpu_continues(tmp_path: Path) -> None:
    sample = samples_of("simcse")[0]
    base = SampleFolders(tmp_path).of(sample)
    with pytest.raises(InputError):
        tiny.trainer(fails_at(make(sample, base), 4), tmp_path / "killed").fit(base.rows)
    resumed = tiny.trainer(make(sample, base), tmp_path / "killed").fit(base.rows)
    assert resumed == tiny.trainer(make(sample, base), tmp_path / "whole").fit(base.rows)
