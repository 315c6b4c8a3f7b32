"""Checks of a bundle's results before they are accepted.

The caller passes what a checkout knows: recipes, code, data, and how to score vectors.
"""

import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.results.bundles import Bundle, check_committed
from harness.results.contributions import Checked, Reproduced
from harness.results.embeddings import EmbeddingStore
from harness.results.plausibility import (
    Range,
    check_means,
    check_ranges,
    copied_from,
    values_of,
)
from harness.results.schema import ResultFile, ScoreName

SAME = 1e-6
"""How far a score that is computed again from stored vectors may be from the stated one, in raw units."""
SHA256 = re.compile(r"[0-9a-f]{64}")
DISTINCT = 6
"""A sha256 has at least this many distinct digits, except one in 10^15: fewer mean a placeholder."""


@dataclass(frozen=True)
class Expected:
    """A run as the recipes declare it; the record is without its identity."""

    record: Mapping[str, object]
    tasks: Collection[str]
    text: str
    selections: Collection[str]
    arithmetic: str


@dataclass(frozen=True)
class Checkout:
    """What the accepting checkout knows.

    expected: a run by key, None if no recipe declares it. identity: that of a result's run, None if what it
    is computed from is not here. code: the fingerprint of each method. ranges: where the scores of a result
    are expected. rescore: the scores of a run computed from a folder of its vectors, of the tasks whose data
    are here. present: the results that are already here, own and contributed. reproduce: the run to train
    again here, and how: what it returns is the result of that training.
    """

    expected: Callable[[str], Expected | None]
    identity: Callable[[ResultFile], str | None]
    code: Mapping[str, str]
    ranges: Callable[[ResultFile], Mapping[ScoreName, Range]]
    rescore: Callable[[ResultFile, Path], Mapping[ScoreName, float]]
    present: Sequence[ResultFile]
    reproduce: tuple[str, Callable[[ResultFile], ResultFile]] | None = None

    def __call__(self, bundle: Bundle, results: Mapping[str, ResultFile]) -> dict[str, Checked]:
        """Returns how far each run of a bundle was checked.

        Cheap checks of all runs come before the vectors of one are unpacked, and training is last.
        Errors: InputError with the first fault.
        """
        seen, identities = list(self.present), {}
        for key, result in results.items():
            try:
                self._check_declared(key, result)
                identities[key] = self._check_code(result, bundle)
                self._check_data(result)
                check_means(result)
                check_ranges(values_of(result), self.ranges(result))
                _check_own_run(result, seen)
            except InputError as error:
                raise InputError(f"{key}: {error}") from None
            seen.append(result)
        rescored = {key: self._rescored(bundle, result) for key, result in results.items()}
        repeated = self._repeated(results)
        return {
            key: Checked(identity=identities[key], **rescored[key], reproduced=repeated.get(key, ""))
            for key in results
        }

    def _check_declared(self, key: str, result: ResultFile) -> None:
        """Checks that the recipes declare the stated run, its text form, weights, arithmetic and tasks."""
        run, provenance = result.run, result.provenance
        expected = self.expected(key)
        if expected is None:
            raise InputError("has no recipe here, expected a run of this version's recipes")
        for name, value in expected.record.items():
            if getattr(run, name) != value:
                what = "another recipe than here" if name == "recipe" else f"{name} {getattr(run, name)!r}"
                raise InputError(f"has {what}, expected {value!r}; run it with this version's recipe")
        weights = {score.selection for score in result.scores}
        if provenance.text != expected.text or weights - set(expected.selections):
            raise InputError(
                f"expected scores of text {expected.text} and weights {', '.join(expected.selections)}; "
                "evaluate it by its recipe"
            )
        stated = provenance.arithmetic or "none"
        if not stated.startswith(("portable", expected.arithmetic)):
            raise InputError(f"states {stated} arithmetic, expected {expected.arithmetic}; run it again")
        for score in result.scores:
            if score.task not in expected.tasks:
                raise InputError(f"{score.name} is of a task that its recipe does not name; leave it out")

    def _check_code(self, result: ResultFile, bundle: Bundle) -> bool:
        """Checks that the run is of this code; returns whether its identity was computed here."""
        run = result.run
        check_committed("its result", result)
        code = bundle.manifest.code.get(run.method, "none")
        if code != self.code.get(run.method):
            raise InputError(
                f"code fingerprint {code[:12]} of {run.method} is not known, expected this version's; run it "
                "with this version"
            )
        digests = {"identity": run.identity, "encoder_sha256": result.provenance.encoder_sha256}
        for name, digest in digests.items():
            if not SHA256.fullmatch(digest) or len(set(digest)) < DISTINCT:
                raise InputError(f"{name} {digest[:16]!r} is not a sha256; run it again")
        identity = self.identity(result)
        if identity not in (None, run.identity):
            raise InputError(
                f"identity {run.identity[:12]}, expected {identity[:12]}: other code, settings or data; run "
                "it with this version"
            )
        return identity is not None

    def _check_data(self, result: ResultFile) -> None:
        """Checks that the data have the same bytes, and scores are over as many pairs, as results here."""
        for source, stated in result.provenance.data_sha256.items():
            known = {other.provenance.data_sha256.get(source) for other in self.present} - {None}
            if known and stated not in known:
                raise InputError(f"data {source} are other bytes than here; fetch them with this version")
        alike = [other for other in self.present if other.provenance.text == result.provenance.text]
        sizes = {score.name[:3]: score.n for other in alike for score in other.scores}
        for score in result.scores:
            n = sizes.get(score.name[:3], score.n)
            if n != score.n:
                raise InputError(f"{score.name} is over {score.n}, expected {n}; evaluate the run again")

    def _rescored(self, bundle: Bundle, result: ResultFile) -> dict[str, Any]:
        """Returns the tasks whose stated scores the vectors give, and of which weights these are."""
        key = result.run.key
        folder = bundle.folder / "vectors" / key
        names = [name for name in bundle.names if name.startswith(f"vectors/{key}/")]
        if not names:
            return {}
        bundle.unpack(names)
        EmbeddingStore.load(folder)
        found = self.rescore(result, folder)
        shutil.rmtree(folder)
        covered = {(name.task, name.selection) for name in found}
        for name, value in values_of(result).items():
            if (name.task, name.selection) in covered and not abs(
                found.get(name, float("nan")) - value
            ) <= SAME:
                again = f"give {found[name]:.6f}" if name in found else "give no such score"
                raise InputError(
                    f"{key}: {name} is stated as {value:.6f}, its vectors {again}; evaluate the run again"
                )
        tasks = {score.task for score in result.scores if (score.task, score.selection) in covered}
        return {"rescored": sorted(tasks), "weights": max((weights for _, weights in covered), default="")}

    def _repeated(self, results: Mapping[str, ResultFile]) -> dict[str, Reproduced]:
        """Returns how the training that is repeated here, if one is, compares with what is stated."""
        if self.reproduce is None:
            return {}
        key, train = self.reproduce
        if key not in results:
            raise InputError(f"has no run {key!r}, expected one of {', '.join(results)}; name another one")
        stated, ours = results[key], train(results[key])
        values, again = values_of(stated), values_of(ours)
        equal = ours.provenance.encoder_sha256 == stated.provenance.encoder_sha256
        reach = {name: (found.high - found.low) / 2 for name, found in self.ranges(stated).items()}
        if equal:
            reach = dict.fromkeys(values, SAME)
        compared = reach.keys() & again.keys() & values.keys()
        if not compared:
            raise InputError(
                f"{key}: the encoder's bytes differ here, and no score has a band for comparison"
            )
        for name in (name for name in values if name in compared):
            if not abs(again[name] - values[name]) <= reach[name]:
                raise InputError(
                    f"{key}: {name} is stated as {100 * values[name]:.3f} points, its training here "
                    f"gives {100 * again[name]:.3f}, expected within {100 * reach[name]:.3f}; not reproduced"
                )
        return {key: "equal encoder bytes" if equal else "scores within bands"}


def _check_own_run(result: ResultFile, seen: Sequence[ResultFile]) -> None:
    """Checks that the run is not a copy: the same run under another seed, or sent twice, is not evidence."""
    for other in seen:
        for what, mine, theirs in (
            ("weights", result.provenance.encoder_sha256, other.provenance.encoder_sha256),
            ("identity", result.run.identity, other.run.identity),
            ("key", result.run.key, other.run.key),
        ):
            if mine == theirs:
                raise InputError(f"has the {what} of {other.run.key!r}, which is here; leave it out")
    source = copied_from(result, seen)
    if source:
        raise InputError(f"has {source}, expected a run of its own; leave it out")
