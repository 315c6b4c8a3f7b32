"""Contributed results: a bundle made in one place is accepted in another, and its level is shown."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.results.bundles import pack
from harness.results.contributions import (
    ACCEPTANCE,
    Checked,
    accept,
    check_again,
    read_contributions,
    sign,
    signer_of,
)
from harness.results.schema import ResultFile
from harness.results.store import read_result
from tests.support.bundles import (
    ANNA,
    CHECKOUT,
    CODES,
    OURS,
    TASKS,
    a_result,
    bundle_of,
    expected,
    files,
    key_of,
)

KEY = key_of(7)
HONEST = a_result()


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return bundle_of(tmp_path / "good.zip", HONEST)


def test_a_bundle_made_there_is_accepted_here_with_its_contributor_and_its_level(
    bundle: Path, tmp_path: Path
) -> None:
    place, found = accept(bundle, tmp_path / "contributed", CHECKOUT)
    assert place.name.startswith("anna-s-lab-")
    assert found.runs[KEY] == Checked(identity=True, rescored=list(TASKS[:5]), weights="best-dev")
    (one,), faults = read_contributions(tmp_path / "contributed")
    assert (one.result, one.by, faults) == (HONEST, "Anna's lab (https://example.org/anna)", [])
    assert one.checked.level("T0", "best-dev") == "rescored here"
    assert one.checked.level("T0", "last") == one.checked.level("T5", "best-dev") == "scores only"
    assert (place / "curves" / f"{KEY}.json").is_file()
    assert not (place / "vectors").exists()


def test_without_vectors_or_without_the_data_to_score_them_it_is_scores_only(
    bundle: Path, tmp_path: Path
) -> None:
    no_data = replace(CHECKOUT, rescore=lambda result, folder: {})
    plain = bundle_of(tmp_path / "plain.zip", HONEST, vectors=False)
    for path, checkout in ((bundle, no_data), (plain, CHECKOUT)):
        _, found = accept(path, tmp_path / path.stem, checkout)
        assert found.runs[KEY] == Checked(identity=True)
        assert found.runs[KEY].level("T0", "best-dev") == "scores only"


@pytest.mark.parametrize(
    ("planned", "stated", "fits"),
    [
        ("portable", "portable on aarch64", True),
        ("portable", "native, products of training by onednn", False),
        ("native", "portable", True),
        ("native", "native, products of training by torch", True),
        ("native", None, False),
    ],
)
def test_a_result_states_the_arithmetic_that_its_recipe_asks_for(
    tmp_path: Path, planned: str, stated: str | None, fits: bool
) -> None:
    bundle = bundle_of(tmp_path / "bundle.zip", a_result(arithmetic=stated), vectors=False)
    declared = expected(KEY)
    assert declared is not None
    checkout = replace(CHECKOUT, expected=lambda key: replace(declared, arithmetic=planned))
    refused = pytest.raises(InputError, match=rf"states .* arithmetic, expected {planned}")
    with nullcontext() if fits else refused:
        accept(bundle, tmp_path / "c", checkout)


def trained(**changes: object) -> Callable[[ResultFile], ResultFile]:
    return lambda stated: a_result(**changes)  # type: ignore[arg-type]


def test_a_run_that_is_trained_again_is_reproduced_by_its_bytes_or_by_its_scores(
    bundle: Path, tmp_path: Path
) -> None:
    other = trained(scores=OURS[0].model_dump()["scores"], encoder_sha256="5" * 64)
    for train, outcome in ((trained(), "equal encoder bytes"), (other, "scores within bands")):
        _, found = accept(bundle, tmp_path / outcome, replace(CHECKOUT, reproduce=(KEY, train)))
        assert found.runs[KEY].reproduced == outcome
        assert found.runs[KEY].level("T5", "best-dev") == "reproduced here"


def test_a_run_whose_training_gives_other_scores_here_is_refused(bundle: Path, tmp_path: Path) -> None:
    scores = HONEST.model_dump()["scores"]
    low = [{**score, "value": score["value"] - 0.3} for score in scores]
    for encoder in ("5" * 64, HONEST.provenance.encoder_sha256):
        again = trained(scores=low, encoder_sha256=encoder)
        with pytest.raises(InputError, match="its training here gives"):
            accept(bundle, tmp_path / "x", replace(CHECKOUT, reproduce=(KEY, again)))
    with pytest.raises(InputError, match="has no run 'other'"):
        accept(bundle, tmp_path / "x", replace(CHECKOUT, reproduce=("other", trained())))
    assert not (tmp_path / "x").exists()


def test_a_level_that_was_written_by_hand_is_found_by_checking_again(bundle: Path, tmp_path: Path) -> None:
    place, found = accept(bundle, tmp_path / "c", CHECKOUT)
    assert check_again(bundle, tmp_path / "c", CHECKOUT) == (found, found)
    forged = {**found.model_dump(), "runs": {KEY: Checked(identity=True, rescored=[*TASKS]).model_dump()}}
    (place / ACCEPTANCE).write_text(json.dumps(forged))
    written, now = check_again(bundle, tmp_path / "c", CHECKOUT)
    assert (written.runs[KEY].rescored, now.runs[KEY].rescored) == ([*TASKS], [*TASKS[:5]])
    with pytest.raises(InputError, match=r"acceptance\.json: no such file"):
        check_again(bundle, tmp_path / "other", CHECKOUT)


def test_equal_content_makes_equal_bytes(bundle: Path, tmp_path: Path) -> None:
    pack(tmp_path / "again.zip", [files(tmp_path / "again", HONEST)], contributor=ANNA, code=CODES)
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()


def test_honest_seeds_are_accepted_together_and_each_once(tmp_path: Path) -> None:
    many = bundle_of(tmp_path / "many.zip", *(a_result(seed) for seed in range(3, 10)))
    _, found = accept(many, tmp_path / "c", CHECKOUT)
    assert len(found.runs) == 7
    here = [one.result for one in read_contributions(tmp_path / "c")[0]]
    for path in (many, bundle_of(tmp_path / "one.zip", a_result(5))):
        with pytest.raises(InputError, match="which is here"):
            accept(path, tmp_path / "c", replace(CHECKOUT, present=[*OURS, *here]))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "deep": lambda path: path.write_text("[" * 200_000),
    "other run": lambda path: path.write_text(path.read_text().replace('"id": "simcse"', '"id": "una"')),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "no record": lambda path: (path.parents[1] / ACCEPTANCE).unlink(),
    "manifest": lambda path: (path.parents[1] / "manifest.json").write_text("1" * 5_000),
    "a file": lambda path: (shutil.rmtree(path.parents[1]), path.parents[1].write_text("a file")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_contribution_is_set_aside_with_one_line_and_the_others_are_read(
    damage: str, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    accept(bundle_of(tmp_path / "good.zip", a_result(8)), folder, CHECKOUT)
    place, _ = accept(bundle_of(tmp_path / "bad.zip", HONEST), folder, CHECKOUT)
    DAMAGE[damage](place / "scores" / f"{KEY}.json")
    found, faults = read_contributions(folder)
    assert [one.result for one in found] == [a_result(8)]
    assert len(faults) == 1
    assert str(place) in faults[0]
    assert "\n" not in faults[0]


def test_what_cannot_be_accepted_is_not_packed(tmp_path: Path) -> None:
    dirty = files(tmp_path / "dirty", a_result(git_dirty=True), vectors=False)
    out = tmp_path / "out.zip"
    with pytest.raises(InputError, match="in no commit"):
        pack(out, [dirty], contributor=ANNA, code=CODES)
    with pytest.raises(InputError, match="no run is named"):
        pack(out, [], contributor=ANNA, code={})
    clean = files(tmp_path / "clean", HONEST, vectors=False)
    assert not out.exists()
    assert read_result(clean.scores) == HONEST


needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not here")


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Two SSH keys, and a list that allows the first of them."""
    for name in ("anna", "eve"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    (tmp_path / "allowed").write_text(f"anna@example.org {(tmp_path / 'anna.pub').read_text()}")
    return tmp_path


@needs_ssh
def test_a_bundle_that_an_allowed_key_signed_shows_its_signer(keys: Path) -> None:
    run, allowed = files(keys / "run", HONEST, vectors=False), keys / "allowed"
    for name in ("anna", "eve"):
        signed = partial(sign, key=keys / name)
        pack(keys / f"{name}.zip", [run], contributor=ANNA, code=CODES, sign=signed)
    place, found = accept(keys / "anna.zip", keys / "c", CHECKOUT, allowed)
    assert found.signer == "anna@example.org"
    assert read_contributions(keys / "c")[0][0].by.endswith(", signed by anna@example.org")
    assert signer_of(place / "manifest.json", place / "manifest.json.sig", allowed) == "anna@example.org"
    with pytest.raises(InputError, match="not by a key of"):
        accept(keys / "eve.zip", keys / "d", CHECKOUT, allowed)
    _, found = accept(keys / "eve.zip", keys / "d", CHECKOUT)
    assert found.signer == ""
    plain = bundle_of(keys / "plain.zip", HONEST, vectors=False)
    with pytest.raises(InputError, match="not signed"):
        accept(plain, keys / "e", CHECKOUT, allowed)


@needs_ssh
def test_a_signature_holds_for_its_bytes_and_its_purpose_alone(keys: Path) -> None:
    (keys / "text").write_text("one")
    signature = sign(keys / "text", keys / "anna")
    (keys / "text").write_text("two")
    with pytest.raises(InputError, match="not by a key of"):
        signer_of(keys / "text", signature, keys / "allowed")
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(keys / "anna"), str(keys / "eve.pub")]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(InputError, match="not by a key of"):
        signer_of(keys / "eve.pub", keys / "eve.pub.sig", keys / "allowed")
