"""Results that others ran: packed into a bundle there, checked and added here.

What a checkout knows (recipes, code, bands, how to score vectors) is handed in: this room needs none of it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

from harness.declarations import read_declaration
from harness.errors import InputError
from harness.files import sha256_of, write_json
from harness.outputs import Layout, new_folder
from harness.paths import STORE_RECORD
from harness.results.bundles import MANIFEST, Contributor, Manifest, unpack_bundle, write_bundle
from harness.results.schema import ResultFile, ScoreRecord
from harness.results.store import read_result, write_result

SAME = 1e-6
"""How far a score that is computed again from stored vectors may be from the stated one, in raw units."""

BOUNDS = {"spearman": (-1.0, 1.0), "pearson": (-1.0, 1.0), "accuracy": (0.0, 1.0), "map": (0.0, 1.0)}
"""What a score of these metrics can be at all."""

CONTRIBUTION = Layout("accepted results", {MANIFEST: ("contributor",)}, ("scores/*.json", "curves/*.jsonl"))
"""What lies in the folder of an accepted bundle."""


class ScoreName(NamedTuple):
    """Which score of a result file."""

    task: str
    metric: str
    setting: str
    selection: str


class RunFiles(NamedTuple):
    """The files of one run: its result file, and its curve and folder of vectors where they are there."""

    scores: Path
    curve: Path | None
    vectors: Path | None


class Band(NamedTuple):
    """Where a score of a system is expected, in points."""

    low: float
    high: float


@dataclass(frozen=True)
class Checkout:
    """What the accepting checkout knows.

    recipes: sha256 of the committed recipe entry by run key. code: known fingerprints by method. bands: by
    system, backbone and score. rescore: the scores of a run computed from a folder of its vectors, None if
    the data to do so are not here. present: the results that are already here, own and contributed.
    """

    recipes: Mapping[str, str]
    code: Mapping[str, Collection[str]]
    bands: Mapping[tuple[str, str, ScoreName], Band]
    rescore: Callable[[ResultFile, Path], Mapping[ScoreName, float]] | None
    present: Sequence[ResultFile]


class Contribution(NamedTuple):
    """One accepted bundle: who ran it, and its results in the order of their names."""

    contributor: Contributor
    results: list[ResultFile]


def name_of(score: ScoreRecord) -> ScoreName:
    """Returns the name of a score."""
    return ScoreName(score.task, score.metric, score.setting, score.selection)


def pack(
    out: Path,
    runs: Sequence[RunFiles],
    *,
    contributor: Contributor,
    code: Mapping[str, str],
    commit: tuple[str, bool] = ("unknown", True),
) -> Manifest:
    """Writes a bundle of runs; `code` holds the fingerprint of every method by name.

    commit: of the code that made the results, and whether it has changes that are in no commit; a result that
    states its own keeps it.
    Errors: InputError if no run is named, a run's code was not committed, or its method has no fingerprint.
    """
    if not runs:
        raise InputError("no run is named, expected at least one; see `sentbench list runs`")
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        files, used = _members(runs, code, commit, Path(scratch))
        return write_bundle(out, files, contributor=contributor, code=used)


def _members(
    runs: Sequence[RunFiles], code: Mapping[str, str], commit: tuple[str, bool], scratch: Path
) -> tuple[dict[str, Path], dict[str, str]]:
    """Returns the files of a bundle by member name, results with their commit, and the methods' code."""
    files: dict[str, Path] = {}
    used: dict[str, str] = {}
    for run in runs:
        result = _with_commit(read_result(run.scores), commit)
        _check_committed(str(run.scores), result)
        if result.run.method not in code:
            raise InputError(
                f"{run.scores}: method {result.run.method!r} has no fingerprint, expected one of "
                f"{', '.join(sorted(code))}; run `dvc repro fingerprint`"
            )
        used[result.run.method] = code[result.run.method]
        files[f"scores/{result.run.key}.json"] = scratch / f"{result.run.key}.json"
        write_result(files[f"scores/{result.run.key}.json"], result)
        if run.curve is not None:
            files[f"curves/{result.run.key}.jsonl"] = run.curve
        if run.vectors is not None:
            kept = [run.vectors / STORE_RECORD, *sorted(run.vectors.glob("*.npy"))]
            files |= {f"vectors/{result.run.key}/{path.name}": path for path in kept}
    return files, used


def _with_commit(result: ResultFile, commit: tuple[str, bool]) -> ResultFile:
    if result.provenance.git_commit is not None:
        return result
    stated = {"git_commit": commit[0], "git_dirty": commit[1]}
    return result.model_copy(update={"provenance": result.provenance.model_copy(update=stated)})


def accept(bundle: Path, folder: Path, checkout: Checkout) -> Path:
    """Returns the new folder below `folder` that holds the results of a bundle and who ran them.

    It is checked as a whole before anything is written; vectors are used for the check and not kept.
    Errors: InputError with the first fault.
    """
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        unpacked = Path(scratch, "bundle")
        unpacked.mkdir()
        manifest = unpack_bundle(bundle, unpacked)
        paths = sorted((unpacked / "scores").glob("*.json"))
        if not paths:
            raise InputError(f"{bundle}: no scores/RUN.json, expected at least one result; pack it again")
        seen = list(checkout.present)
        for path in paths:
            result = _read(bundle, path)
            where = f"{bundle}: {result.run.key}"
            _check_committed(where, result)
            _check_run(where, result, manifest, checkout)
            _check_scores(where, result, checkout)
            _check_own_run(where, result, seen)
            _check_vectors(where, result, unpacked / "vectors" / result.run.key, checkout)
            seen.append(result)
        target = folder / f"{_slug(manifest.contributor.name)}-{sha256_of(bundle)[:8]}"
        with new_folder(target, CONTRIBUTION) as part:
            for name in ("scores", "curves"):
                if (unpacked / name).is_dir():
                    copytree(unpacked / name, part / name)
            write_json(part / MANIFEST, manifest.model_dump(mode="json"))
    return target


def read_contributions(folder: Path) -> list[Contribution]:
    """Returns the accepted bundles of a folder by name; none if there is no such folder."""
    found = []
    for path in sorted(folder.glob(f"*/{MANIFEST}")):
        manifest = read_declaration(path, Manifest)
        results = [read_result(one) for one in sorted((path.parent / "scores").glob("*.json"))]
        found.append(Contribution(manifest.contributor, results))
    return found


def _read(bundle: Path, path: Path) -> ResultFile:
    """Returns a result file of a bundle; its faults name the bundle, not the folder it was unpacked to."""
    try:
        result = read_result(path)
    except InputError as error:
        fault = str(error).removeprefix(f"{path}: ")
        raise InputError(f"{bundle}: scores/{path.name}: {fault}") from None
    if path.stem != result.run.key:
        raise InputError(
            f"{bundle}: scores/{path.name} is the result of {result.run.key!r}, expected its name; "
            "pack it again"
        )
    return result


def _check_committed(where: str, result: ResultFile) -> None:
    provenance = result.provenance
    if provenance.git_dirty or not re.fullmatch(r"[0-9a-f]{40}", provenance.git_commit or ""):
        raise InputError(
            f"{where}: run from code that is in no commit, expected a commit; commit, run it again"
        )


def _check_run(where: str, result: ResultFile, manifest: Manifest, checkout: Checkout) -> None:
    """The run is one of ours by key, recipe and code."""
    run = result.run
    if checkout.recipes.get(run.key) != run.recipe:
        fault = "another recipe than here" if run.key in checkout.recipes else "no recipe here"
        raise InputError(
            f"{where}: has {fault}, expected the committed one; run it with this version's recipe"
        )
    stated = manifest.code.get(run.method, "none")
    if stated not in checkout.code.get(run.method, ()):
        raise InputError(
            f"{where}: code fingerprint {stated[:12]} of {run.method} is not known, expected a released "
            "version's; run it with one"
        )


def _check_scores(where: str, result: ResultFile, checkout: Checkout) -> None:
    """Every score is stated once, is possible at all, and lies in its band where there is one."""
    names = [name_of(score) for score in result.scores]
    for score, name in zip(result.scores, names, strict=True):
        said = f"{where}: {score.task} {score.metric} ({score.setting}, {score.selection})"
        low, high = BOUNDS.get(score.metric, (float("-inf"), float("inf")))
        if names.count(name) > 1:
            raise InputError(f"{said} is stated twice, expected once; evaluate the run again")
        if not low <= score.value <= high:
            raise InputError(
                f"{said} is {score.value}, expected {low:g} to {high:g} in raw units; evaluate the run again"
            )
        band = checkout.bands.get((result.run.id, result.run.backbone, name))
        if band is not None and not band.low <= 100 * score.value <= band.high:
            raise InputError(
                f"{said} is {100 * score.value:.3f} points, expected {band.low:g} to {band.high:g}; "
                "check data and installation"
            )


def _check_own_run(where: str, result: ResultFile, seen: Sequence[ResultFile]) -> None:
    """The weights are those of no other run: a copy under another seed, or sent twice, is no evidence."""
    for other in seen:
        if other.provenance.encoder_sha256 == result.provenance.encoder_sha256:
            raise InputError(
                f"{where}: has the weights of {other.run.key!r}, which is here, expected a run of its own; "
                "leave it out"
            )


def _check_vectors(where: str, result: ResultFile, folder: Path, checkout: Checkout) -> None:
    """Every score that can be computed from the vectors is the stated one."""
    if not folder.is_dir() or checkout.rescore is None:
        return
    again = checkout.rescore(result, folder)
    for score in result.scores:
        value = again.get(name_of(score))
        if value is not None and abs(value - score.value) > SAME:
            raise InputError(
                f"{where}: {score.task} {score.metric} is stated as {score.value:.6f}, its vectors give "
                f"{value:.6f}; evaluate the run again"
            )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "anonymous"
