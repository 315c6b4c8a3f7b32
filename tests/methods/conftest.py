"""The backbone that tests of methods read, and its network without the time of reading it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import tiny
from tests.support.networks import each_network_is_built_once
from tests.support.samples import SampleFolders


@pytest.fixture(scope="session")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with dropout, as a folder that no test changes."""
    return tiny.write_backbone(tmp_path_factory.mktemp("backbone") / "bert")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> SampleFolders:
    """Every backbone and parent that a sample may name, as folders that no test changes."""
    return SampleFolders(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module", autouse=True)
def networks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Reads each network once for the tests of a method; tests of methods/core read their folders."""
    if "core" in request.path.parts:
        yield
    else:
        with each_network_is_built_once():
            yield
