"""What every test of the methods' samples is built on, and where it computes."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.process import make_gpu_deterministic
from methods.core import folders
from tests.support.samples import Ground, Grounds
from tests.support.tiny import Sample


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sample], Ground]:
    """Returns what a sample is built on; backbones and parents are written once."""
    return Grounds(tmp_path_factory.mktemp("ground")).of


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """The CPU and, in `pytest -m gpu`, this machine's GPU as the harness sets it up."""
    if request.param == "cuda":
        make_gpu_deterministic()
    return str(request.param)


@pytest.fixture(scope="module")
def each_backbone_is_read_once() -> Iterator[None]:
    """Networks of the tiny backbones are copies of one that was read; folders that a test saves are read."""
    read, networks = folders.read_model, dict[tuple[Path, str], torch.nn.Module]()

    def copied(kind: Any, folder: Path, *, config: Any, **options: Any) -> torch.nn.Module:
        if "ground" not in str(folder):
            return read(kind, folder, config=config, **options)
        name = folder, f"{config.to_json_string()} {options}"
        if name not in networks:
            with torch.random.fork_rng(devices=[]):
                networks[name] = read(kind, folder, config=config, **options)
        return deepcopy(networks[name])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(folders, "read_model", copied)
        yield
