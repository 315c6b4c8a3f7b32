"""Results of others: bundles that are accepted here, and read for tables.

A bundle does not state how far it was checked: `accept` determines that and writes it to `acceptance.json`
next to the results. OpenSSH's ssh-keygen makes and verifies the signatures of contributors.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import copy, copytree
from typing import Literal, NamedTuple

from pydantic import Field

from harness.declarations import Declaration, Name, validated
from harness.disk.files import sha256_of, write_record
from harness.disk.outputs import Layout, check_folder, new_folder
from harness.disk.records import read_object
from harness.errors import InputError
from harness.results.bundles import (
    MANIFEST,
    SIGNATURE,
    Bundle,
    Contributor,
    Manifest,
    opened,
)
from harness.results.curves import read_curve
from harness.results.schema import ResultFile
from harness.results.store import read_result

ACCEPTANCE = "acceptance.json"
NAMESPACE = "sentbench"
"""The namespace of a signature: one made for another purpose does not verify."""
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


def sign(file: Path, key: Path) -> Path:
    """Returns the file of the signature that a private key, or the public key of an agent's, gives a file.

    Errors: InputError without ssh-keygen, or if the key cannot be read.
    """
    if not key.is_file():
        raise InputError(f"{key}: not a regular file, expected an SSH key; name another one")
    _ssh_keygen("sign", "-f", str(key), str(file), fault=f"{key}: cannot sign with it")
    return file.with_name(f"{file.name}.sig")


def signer_of(file: Path, signature: Path | None, allowed_signers: Path | None) -> str:
    """Returns the name in `allowed_signers` (see ssh-keygen(1)) whose key signed a file; "" without a list.

    Errors: InputError without ssh-keygen or a signature, or if no key of the list signed these bytes.
    """
    if allowed_signers is None:
        return ""
    if signature is None:
        raise InputError("not signed, expected a signature of an allowed signer; leave out --allowed-signers")
    if not allowed_signers.is_file():
        raise InputError(f"{allowed_signers}: not a regular file, expected a list of allowed signers")
    listed = ["-f", str(allowed_signers), "-s", str(signature)]
    fault = f"{signature.name}: not by a key of {allowed_signers}"
    names = _ssh_keygen("find-principals", *listed, fault=fault).splitlines()
    signer = names[0] if names else ""
    _ssh_keygen("verify", "-I", signer, *listed, stdin=file, fault=fault)
    return signer


def _ssh_keygen(action: str, *words: str, fault: str, stdin: Path | None = None) -> str:
    command = ["ssh-keygen", "-Y", action, "-n", NAMESPACE, *words]
    try:
        given = stdin.read_bytes() if stdin else b""
        done = subprocess.run(command, input=given, capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError("no ssh-keygen here, expected OpenSSH to sign and verify; install it") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise InputError(f"{fault} (ssh-keygen: {said[:200]})")
    return done.stdout.decode(errors="replace")
