"""Scores of further seeds: reports/further/SYSTEM__BACKBONE.json, one file for all of them.

`launch --first-seeds` trains the first seeds of every system and leaves the further ones as committed.
Further seeds count beside the first seeds with which they were collected, and beside no others: after a
change that moves a score of the first seeds, they are left out until `launch` trains them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, model_validator

from harness.errors import InputError
from harness.evidence.schema import Provenance, ResultFile, RunRecord, ScoreRecord, Selection
from harness.evidence.store import each_once, read_result, slim
from harness.io.declarations import DeclaredModel, Name, check_texts, validated
from harness.io.records import check_plain, read_object, rounded
from harness.paths import FURTHER, SCORES

FURTHER_SCHEMA: Final = 1
AGAIN = "delete it and run `sentbench launch`"


class ScoreOfSeeds(DeclaredModel):
    """One score in raw units, of every further seed in the order of `seeds`."""

    task: str
    metric: str
    setting: str
    selection: Literal["best-dev", "last"]
    n: int
    values: list[float]


class Seed(DeclaredModel):
    """What a further seed has of its own, besides its scores."""

    seed: Annotated[int, Field(ge=0)]
    identity: str
    selection: Selection
    provenance: Provenance


class FurtherSeeds(DeclaredModel):
    """The further seeds of a system on a backbone. first: `digest_of` each first seed's result, by run."""

    schema_: Literal[1] = Field(alias="schema")
    first: dict[Name, str] = Field(min_length=1)
    id: Name
    method: Name
    variant: str
    backbone: Name
    recipe: str
    seeds: list[Seed] = Field(min_length=1)
    scores: list[ScoreOfSeeds]

    @model_validator(mode="after")
    def _each_seed_has_each_score(self) -> FurtherSeeds:
        numbers = [seed.seed for seed in self.seeds]
        if len(set(numbers)) < len(numbers):
            raise ValueError("a seed is stated twice")
        for score in self.scores:
            if len(score.values) != len(numbers):
                raise ValueError(
                    f"a score of {score.task} has {len(score.values)} values, expected {len(numbers)}"
                )
        return self

    def results(self) -> list[ResultFile]:
        """Returns the result of each seed, as its evaluation wrote it."""
        shared = {name: getattr(self, name) for name in ("id", "method", "variant", "backbone", "recipe")}
        return [
            ResultFile(
                schema=1,
                run=RunRecord(
                    **shared,
                    key=f"{self.id}__{self.backbone}__s{seed.seed}",
                    seed=seed.seed,
                    identity=seed.identity,
                ),
                scores=[
                    ScoreRecord(**score.model_dump(exclude={"values"}), value=score.values[place])
                    for score in self.scores
                ],
                selection=seed.selection,
                provenance=seed.provenance,
            )
            for place, seed in enumerate(self.seeds)
        ]


class Recorded(NamedTuple):
    """The results of a project. left_out: systems whose further seeds belong to other first seeds."""

    results: list[ResultFile]
    left_out: list[str]


def collected(first: Sequence[ResultFile], further: Sequence[ResultFile]) -> FurtherSeeds:
    """Returns further seeds of a system as one record, which belongs to the first ones.

    Errors: InputError if the results differ in more than their seed.
    """
    further = sorted(further, key=lambda result: result.run.seed)
    run, names = further[0].run, {score.name: score.n for score in further[0].scores}
    for result in further:
        own = {"key", "seed", "identity"}
        if result.run.model_dump(exclude=own) != run.model_dump(exclude=own):
            raise InputError(f"{result.run.key}: its settings are not those of {run.key}; evaluate it again")
        if {score.name: score.n for score in result.scores} != names:
            raise InputError(f"{result.run.key}: its scores are not those of {run.key}; evaluate it again")
    values = [{score.name: score.value for score in result.scores} for result in further]
    return FurtherSeeds(
        schema=FURTHER_SCHEMA,
        first={result.run.key: digest_of(result) for result in first},
        **run.model_dump(include={"id", "method", "variant", "backbone", "recipe"}),
        seeds=[
            Seed(
                seed=result.run.seed,
                identity=result.run.identity,
                selection=result.selection,
                provenance=result.provenance,
            )
            for result in further
        ],
        scores=[
            ScoreOfSeeds(**name._asdict(), n=n, values=[of_seed[name] for of_seed in values])
            for name, n in names.items()
        ],
    )


def digest_of(result: ResultFile) -> str:
    """Returns the sha256 of a result's recipe and scores; code, packages and processor have no part in it."""
    scores = [[*score.name, rounded(score.value)] for score in result.scores]
    return hashlib.sha256(json.dumps([result.run.recipe, scores]).encode()).hexdigest()


def read_further(path: Path) -> FurtherSeeds:
    """Returns one file of further seeds. Errors: InputError as of `harness.evidence.store.read_result`."""
    raw = read_object(path, again=AGAIN)
    if raw.get("schema") != FURTHER_SCHEMA:
        raise InputError(
            f"{path}: schema {json.dumps(raw.get('schema'))[:80]}, expected {FURTHER_SCHEMA}; {AGAIN}"
        )
    check_texts(raw, where=str(path))
    return validated(FurtherSeeds, raw, where=str(path))


def read_recorded(
    scores: Path = SCORES,
    further: Path = FURTHER,
    *,
    kept: Callable[[RunRecord, ScoreRecord], bool] = lambda run, score: True,
    systems: Iterable[str] | None = None,
) -> Recorded:
    """Returns the results of a project: of the first seeds, and of the further seeds that belong to them.

    kept: selects scores. systems: only the results of these ids. Errors: InputError for a damaged file.
    """
    wanted = None if systems is None else set(systems)
    check_plain(further, again=AGAIN, pattern="*.json")

    def paths(folder: Path) -> list[Path]:
        found = sorted(folder.glob("*.json"))
        return [path for path in found if wanted is None or path.stem.partition("__")[0] in wanted]

    files = {path.stem: read_further(path) for path in paths(further)}
    wanted_digests = {key: digest for file in files.values() for key, digest in file.first.items()}
    results, equal = [], set()
    for path in paths(scores):
        result = read_result(path)
        key = result.run.key
        if key in wanted_digests and digest_of(result) == wanted_digests[key]:
            equal.add(key)
        results.append(slim(result, kept))
    left_out = []
    for name, file in files.items():
        if file.first.keys() <= equal:
            results += [slim(result, kept) for result in file.results()]
        else:
            left_out.append(name)
    return Recorded(each_once(sorted(results, key=_order)), left_out)


def left_out_line(name: str) -> str:
    """Returns a line on a system's further seeds that are left out; name: SYSTEM__BACKBONE."""
    return (
        f"left out: the further seeds of {name} belong to other scores of its first seeds; "
        "`sentbench launch` trains them again"
    )


def _order(result: ResultFile) -> tuple[str, str, int]:
    return result.run.id, result.run.backbone, result.run.seed
