"""A hub that is reached, and a project in a clean environment."""

from tests.harness.data.conftest import server, workspace

__all__ = ["server", "workspace"]
