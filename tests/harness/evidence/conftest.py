"""The declarations of this checkout."""

from tests.harness.report.conftest import ledger, published, specs  # noqa: F401
