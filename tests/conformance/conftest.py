"""What every test of the methods' samples is built on."""

from collections.abc import Callable

import pytest

from tests.support.samples import Ground, Grounds
from tests.support.tiny import Sample


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sample], Ground]:
    """Returns what a sample is built on; backbones and parents are written once."""
    return Grounds(tmp_path_factory.mktemp("ground")).of
