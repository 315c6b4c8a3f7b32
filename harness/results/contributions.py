"""Results of others: packed into a bundle there, accepted here, and read for tables.

A bundle does not state how far it was checked: `accept` determines that and writes it to `acceptance.json`
next to the results.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import copy, copytree
from typing import Literal, NamedTuple

from pydantic import Field

from harness.declarations import Declaration, Name, validated
from harness.disk.files import sha256_of, write_record
from harness.disk.outputs import Layout, check_folder, new_folder
from harness.disk.records import read_object
from harness.errors import InputError
from harness.paths import STORE_RECORD
from harness.results.bundles import (
    MANIFEST,
    SIGNATURE,
    Bundle,
    Contributor,
    Manifest,
    check_limits,
    opened,
    write_bundle,
)
from harness.results.curves import read_curve
from harness.results.schema import ResultFile
from harness.results.signatures import signer_of
from harness.results.store import read_result, write_result

ACCEPTANCE = "acceptance.json"
AGAIN = "accept the bundle again"
CONTRIBUTION = Layout(
    "accepted results",
    {MANIFEST: ("contributor",), ACCEPTANCE: ("bundle", "runs")},
    (SIGNATURE, "scores/*.json", "curves/*.json"),
)
"""The content of the folder of an accepted bundle."""

Level = Literal["scores only", "rescored here", "reproduced here"]
"""How far a score was checked: not against anything but other scores; computed again from the vectors of the
bundle; by a training of the run that was repeated here."""

Reproduced = Literal["", "equal encoder bytes", "scores within bands"]
"""How a training that was repeated compares with the stated one; nothing where it was not repeated."""


class RunFiles(NamedTuple):
    """The files of one run: its result file, and its curve and folder of vectors if present."""

    scores: Path
    curve: Path | None
    vectors: Path | None

    def members(self, key: str) -> dict[str, Path]:
        """Returns the files by what they are called in a bundle."""
        files = {f"scores/{key}.json": self.scores}
        if self.curve is not None:
            files[f"curves/{key}.json"] = self.curve
        if self.vectors is not None:
            kept = [self.vectors / STORE_RECORD, *sorted(self.vectors.glob("*.npy"))]
            files |= {f"vectors/{key}/{path.name}": path for path in kept}
        return files


class Checked(Declaration):
    """What was found out about one run. identity: whether its identity is the one computed here. rescored:
    the tasks whose scores its vectors give, and `weights` the ones these are of. reproduced: how the training
    that was repeated compares.
    """

    identity: bool
    rescored: list[str] = Field(default=[])
    weights: Literal["", "best-dev", "last"] = ""
    reproduced: Reproduced = ""

    def level(self, task: str, selection: str) -> Level:
        """Returns how far the run's scores of a task were checked."""
        if self.reproduced:
            return "reproduced here"
        again = task in self.rescored and selection == self.weights
        return "rescored here" if again else "scores only"


class Acceptance(Declaration):
    """The file acceptance.json. bundle: sha256; signer: whose key of the allowed ones signed, if one did."""

    bundle: str
    signer: str
    runs: dict[Name, Checked]


class Contribution(NamedTuple):
    """One contributed result, where it is, who ran it, and how far it was checked."""

    path: Path
    contributor: Contributor
    signer: str
    result: ResultFile
    checked: Checked

    @property
    def by(self) -> str:
        """How a page names who ran it: with link and signer, and only if they may be cited."""
        if not self.contributor.may_be_cited:
            return "a contributor (signed)" if self.signer else "a contributor"
        link = f" ({self.contributor.link})" if self.contributor.link else ""
        signed = f", signed by {self.signer}" if self.signer else ""
        return f"{self.contributor.name}{link}{signed}"


def pack(
    out: Path,
    runs: Sequence[RunFiles],
    *,
    contributor: Contributor,
    code: Mapping[str, str],
    commit: tuple[str, bool] = ("unknown", True),
    sign: Callable[[Path], Path] | None = None,
) -> Manifest:
    """Writes a bundle of runs; `code` holds the fingerprint of every method by name.

    commit: of the code that made the results, and whether it has changes that are in no commit; a result that
    states its own keeps it. sign: writes the signature of a file and returns where.
    Errors: InputError if no run is named, there are more files than a bundle may have, a run's code was not
    committed, or its method has no fingerprint.
    """
    if not runs:
        raise InputError("no run is named, expected at least one; see `sentbench list runs`")
    files = {name: path for run in runs for name, path in run.members(run.scores.stem).items()}
    check_limits(out, {MANIFEST: 0, **{name: path.stat().st_size for name, path in files.items()}})
    used: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        for run in runs:
            result = _with_commit(read_result(run.scores), commit)
            method, key = result.run.method, result.run.key
            check_committed(str(run.scores), result)
            if method not in code:
                raise InputError(
                    f"{run.scores}: method {method!r} has no fingerprint, expected one of "
                    f"{', '.join(sorted(code))}; run `dvc repro fingerprint`"
                )
            used[method] = code[method]
            files[f"scores/{key}.json"] = Path(scratch) / f"{key}.json"
            write_result(files[f"scores/{key}.json"], result)
        return write_bundle(out, files, contributor=contributor, code=used, sign=sign)


def _with_commit(result: ResultFile, commit: tuple[str, bool]) -> ResultFile:
    if result.provenance.git_commit is not None:
        return result
    stated = {"git_commit": commit[0], "git_dirty": commit[1]}
    return result.model_copy(update={"provenance": result.provenance.model_copy(update=stated)})


def check_committed(where: str, result: ResultFile) -> None:
    """Raises InputError unless a result states the commit of its code."""
    provenance = result.provenance
    if provenance.git_dirty or not re.fullmatch(r"[0-9a-f]{40}", provenance.git_commit or ""):
        raise InputError(
            f"{where}: run from code that is in no commit, expected a commit; commit, run it again"
        )


CheckRuns = Callable[[Bundle, Mapping[str, ResultFile]], dict[str, Checked]]
"""Holds the results of a bundle, by key, against what is known here; InputError at the first fault."""


def accept(
    path: Path, folder: Path, check: CheckRuns, allowed_signers: Path | None = None
) -> tuple[Path, Acceptance]:
    """Returns the new folder below `folder` that holds the results of a bundle, and what was found out.

    The bundle is checked as a whole before anything is written; vectors are used for the check and not kept.
    allowed_signers: the list of those of whom one must have signed it.
    Errors: InputError with the first fault.
    """
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        unpacked = Path(scratch, "bundle")
        unpacked.mkdir()
        with opened(path, unpacked) as bundle:
            found = check_bundle(path, bundle, check, allowed_signers)
            target = _place(folder, path, bundle.manifest)
            check_folder(target, CONTRIBUTION)
        with new_folder(target, CONTRIBUTION) as part:
            for name in ("scores", "curves"):
                if (unpacked / name).is_dir():
                    copytree(unpacked / name, part / name)
            for name in (MANIFEST, SIGNATURE):
                if (unpacked / name).is_file():
                    copy(unpacked / name, part / name)
            write_record(part / ACCEPTANCE, found.model_dump(mode="json"))
    return target, found


def check_again(
    path: Path, folder: Path, check: CheckRuns, allowed_signers: Path | None = None
) -> tuple[Acceptance, Acceptance]:
    """Returns what was written when a bundle was accepted, and what is found out about it now.

    Errors: InputError if it was not accepted here, or with the first fault.
    """
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch, opened(path, Path(scratch)) as bundle:
        written = read_acceptance(_place(folder, path, bundle.manifest))
        return written, check_bundle(path, bundle, check, allowed_signers)


def check_bundle(path: Path, bundle: Bundle, check: CheckRuns, allowed_signers: Path | None) -> Acceptance:
    """Returns what is found out about a bundle; its scores and curves are unpacked, vectors where needed."""
    signer = signer_of(bundle.folder / MANIFEST, bundle.signature, allowed_signers)
    bundle.unpack(name for name in bundle.names if not name.startswith("vectors/"))
    scores = sorted((bundle.folder / "scores").glob("*.json"))
    if not scores:
        raise InputError("no scores/RUN.json, expected at least one result; pack it again")
    results = {path.stem: read_result(path) for path in scores}
    for name in bundle.names:
        if (key := name.split("/")[1].split(".")[0]) not in results:
            raise InputError(
                f"{name!r} is of a run without a result, expected scores/{key}.json; leave it out"
            )
    for curve in sorted((bundle.folder / "curves").glob("*.json")):
        read_curve(curve, again="leave it out")
    runs = check(bundle, results)
    return Acceptance(bundle=sha256_of(path), signer=signer, runs=runs)


def read_acceptance(folder: Path) -> Acceptance:
    """Returns what was found out about an accepted bundle. Errors: InputError if the file is not ours."""
    found = read_object(folder / ACCEPTANCE, again=AGAIN)
    return validated(Acceptance, found, where=str(folder / ACCEPTANCE))


def read_contributions(folder: Path) -> tuple[list[Contribution], list[str]]:
    """Returns the results of all accepted bundles of a folder by name, and a line for each set aside.

    A bundle or a result is set aside if it is damaged, or is not what was accepted.
    """
    found: list[Contribution] = []
    faults: list[str] = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            written = read_acceptance(place)
            manifest = validated(
                Manifest, read_object(place / MANIFEST, again=AGAIN), where=str(place / MANIFEST)
            )
            paths = sorted((place / "scores").iterdir())
        except (InputError, OSError) as error:
            faults.append(str(error))
            continue
        for path in paths:
            try:
                found.append(_read_accepted(path, manifest, written))
            except (InputError, OSError) as error:
                faults.append(str(error))
    return found, faults


def _read_accepted(path: Path, manifest: Manifest, written: Acceptance) -> Contribution:
    result = read_result(path)
    stated, checked = manifest.members.get(f"scores/{path.name}"), written.runs.get(path.stem)
    if checked is None or stated is None or stated.sha256 != sha256_of(path) or path.stem != result.run.key:
        raise InputError(f"{path}: not the result that was accepted; {AGAIN}")
    return Contribution(path, manifest.contributor, written.signer, result, checked)


def _place(folder: Path, bundle: Path, manifest: Manifest) -> Path:
    """Returns the folder of an accepted bundle, which is named after its contributor and its bytes."""
    slug = re.sub(r"[^a-z0-9]+", "-", manifest.contributor.name.lower()).strip("-")[:40] or "anonymous"
    return folder / f"{slug}-{sha256_of(bundle)[:8]}"
