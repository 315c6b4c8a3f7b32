"""Shared fixtures: where the mirror is, and a skip with a reason where it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_configure() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny matrices: threads only wait for each other
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = os.environ.get("SENTBENCH_MIRROR")
    if folder and Path(folder).is_dir():
        return
    skip = pytest.mark.skip(reason="SENTBENCH_MIRROR does not name a folder of evaluation data")
    for item in items:
        if item.get_closest_marker("mirror"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def tiers_as_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tier is allowed: a pipeline command sets the plan's for its process, here that of later tests."""
    monkeypatch.setenv("SENTBENCH_TIERS", "")
    monkeypatch.delenv("SENTBENCH_TIERS")


@pytest.fixture
def mirror() -> Path:
    """The mirror folder; only for tests marked `mirror`."""
    return Path(os.environ["SENTBENCH_MIRROR"]).resolve()
