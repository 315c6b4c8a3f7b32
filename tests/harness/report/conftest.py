"""Score frames made in memory, and the declarations of this checkout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from harness.declarations import LEADERBOARDS
from harness.report.tables.build import Evidence
from harness.report.tables.published import KnownSpreads, Published, load_published
from harness.report.tables.spec import TableSpec, load_specs
from harness.results.schema import ResultFile
from harness.results.store import COLUMNS, read_results


@pytest.fixture(scope="session")
def published() -> Published:
    return load_published(LEADERBOARDS / "published")


@pytest.fixture(scope="session")
def specs() -> dict[str, TableSpec]:
    return load_specs(LEADERBOARDS / "tables")


@pytest.fixture
def recorded() -> Path:
    """A score folder with its spec, its published numbers and the expected tables; see test_renderers.py."""
    return Path(__file__).parent / "recorded"


@pytest.fixture
def recorded_scores(recorded: Path) -> list[ResultFile]:
    """The recorded scores: three seeds of SimCSE and one run of whitening."""
    return read_results((recorded / "scores").glob("*.json"))


Record = tuple[str, int, str, float]


def frame_of(records: list[Record], **fields: object) -> pd.DataFrame:
    """Returns a score frame; a record is (`method/variant@backbone`, seed, task, value).

    The system's id is `method-variant`.
    """
    rows = []
    for system, seed, task, value in records:
        name, _, backbone = system.partition("@")
        method, _, variant = name.partition("/")
        rows.append(
            {
                "key": f"{name}-{backbone}-{seed}".replace("/", "-"),
                "id": name.replace("/", "-"),
                "method": method,
                "variant": variant,
                "backbone": backbone,
                "seed": seed,
                "recipe": system,
                "identity": "i",
                "task": task,
                "metric": "spearman",
                "setting": "all",
                "selection": "best-dev",
                "text": "senteval",
                "value": value,
                "n": 1379,
                **fields,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture
def evidence(published: Published) -> Callable[..., Evidence]:
    """Evidence from records, without a known spread unless one is given."""

    def make(records: list[Record], spreads: KnownSpreads | None = None, **more: object) -> Evidence:
        none = KnownSpreads(scale=100.0, entries=[])
        return Evidence(frame_of(records), published, spreads or none, **more)  # type: ignore[arg-type]

    return make
