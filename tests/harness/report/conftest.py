"""Scores made in memory, and the declarations of this checkout."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.evidence.ledger import Ledger, Scope, load_ledger
from harness.evidence.published import Published, load_published
from harness.evidence.schema import ResultFile
from harness.evidence.spec import TableSpec, load_specs
from harness.evidence.store import read_results
from harness.io.declarations import LEADERBOARDS
from harness.plan.recipes import declared_systems, load_recipes
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import Table
from tests.harness.report.made_results import result

NO_STUDIES = Ledger((), Scope(groups={}, same={}, searched=[]))


@pytest.fixture(scope="session")
def published() -> Published:
    return load_published(LEADERBOARDS / "published")


@pytest.fixture(scope="session")
def ledger(published: Published) -> Ledger:
    return load_ledger(LEADERBOARDS / "evidence", published)


@pytest.fixture(scope="session")
def specs() -> dict[str, TableSpec]:
    return load_specs(LEADERBOARDS / "tables")


@pytest.fixture(scope="session")
def tables(published: Published, ledger: Ledger, specs: dict[str, TableSpec]) -> dict[str, Table]:
    """Every declared table as printed, without a run."""
    settings = {key: system.model_dump() for key, system in declared_systems(load_recipes()).items()}
    evidence = Evidence([], published, ledger, settings=settings)
    return {key: build_table(spec, evidence) for key, spec in specs.items()}


@pytest.fixture
def recorded_scores() -> list[ResultFile]:
    """The recorded scores: three seeds of SimCSE and one run of whitening; see test_renderers.py."""
    return read_results((Path(__file__).parent / "recorded/scores").glob("*.json"))


Record = tuple[str, int, str, float]


def rescored(evidence: Evidence, *, text: str = "senteval", **fields: object) -> Evidence:
    """Returns the evidence with every score changed in these fields; `text` is the text of the file."""
    results = []
    for actual in evidence.results:
        scores = [score.model_copy(update=fields) for score in actual.scores]
        provenance = actual.provenance.model_copy(update={"text": text})
        results.append(actual.model_copy(update={"scores": scores, "provenance": provenance}))
    return replace(evidence, results=results)


@pytest.fixture
def evidence(published: Published) -> Callable[..., Evidence]:
    """Evidence from records, without a study by others unless a ledger is given.

    dev: development score by run key, 0.5 if missing.
    """

    def make(records: list[Record], ledger: Ledger = NO_STUDIES, dev: Mapping[str, float] = {}) -> Evidence:
        scores: dict[tuple[str, int], dict[tuple[str, str], float]] = {}
        for system, seed, task, value in records:
            scores.setdefault((system, seed), {})[task, "all"] = value
        made = []
        for (system, seed), values in scores.items():
            full, _, backbone = system.partition("@")
            method, _, variant = full.partition("/")
            key = f"{method}-{variant}-{backbone}-{seed}"
            labels = {"method": method, "variant": variant, "backbone": backbone, "recipe": system}
            name = full.replace("/", "-")
            made.append(result(name, seed, values, key=key, dev=dev.get(key, 0.5), **labels))
        return Evidence(made, published, ledger)

    return make
