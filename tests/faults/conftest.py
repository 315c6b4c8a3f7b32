"""Faults of writing are injected into the project's files only."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps an import in a faulty write from leaving half a cache file in the environment."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
