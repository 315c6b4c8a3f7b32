"""The backbone that tests of methods read."""

from pathlib import Path

import pytest

from tests.support import tiny


@pytest.fixture(scope="session")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with dropout, as a folder that no test changes."""
    return tiny.write_backbone(tmp_path_factory.mktemp("backbone") / "bert")
