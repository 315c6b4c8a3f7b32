"""Fixtures of the tests of all samples: folders and devices."""

from collections.abc import Callable, Iterator

import pytest

from harness.process import make_gpu_deterministic
from tests.support.networks import each_network_is_built_once
from tests.support.samples import SampleFolders, SampleInputs
from tests.support.tiny import Sample


@pytest.fixture(scope="session")
def inputs_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sample], SampleInputs]:
    """Returns the folders of a sample; backbones and parents are written once."""
    return SampleFolders(tmp_path_factory.mktemp("inputs_of")).of


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """The CPU and, in `pytest -m gpu`, this machine's GPU as the harness sets it up."""
    if request.param == "cuda":
        make_gpu_deterministic()
    return str(request.param)


@pytest.fixture(scope="module")
def each_backbone_is_read_once() -> Iterator[None]:
    """Caches the networks of the tiny backbones; folders that a test saves are always read."""
    with each_network_is_built_once(lambda folder: "inputs_of" in str(folder)):
        yield
