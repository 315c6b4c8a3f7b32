"""Contributed results: a bundle made in one place is accepted in another; a bad one is one clear line."""

from __future__ import annotations

import hashlib
import json
import pickle
import stat
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import InputError
from harness.results.bundles import MANIFEST, Contributor
from harness.results.contributions import (
    Band,
    Checkout,
    RunFiles,
    ScoreName,
    accept,
    pack,
    read_contributions,
)
from harness.results.embeddings import EmbeddingStore
from harness.results.schema import ResultFile
from harness.results.store import read_result, write_result

KEY, OTHER = "simcse__tiny__s0", "simcse__tiny__s1"
CODE = "c" * 64
ANNA = Contributor(name="Anna's lab", link="https://example.org/anna", may_be_cited=True)
STSB = ScoreName("STSB", "spearman", "all", "best-dev")
TEXTS = ["one", "two", "three"]


def a_result(key: str = KEY, *, value: float = 0.75, encoder: str = "e", **provenance: Any) -> ResultFile:
    return ResultFile.model_validate(
        {
            "schema": 1,
            "run": {
                "key": key,
                "id": "simcse",
                "method": "simcse",
                "variant": "released",
                "backbone": "tiny",
                "seed": int(key[-1]),
                "recipe": "r",
                "identity": "i",
            },
            "scores": [{**STSB._asdict(), "value": value, "n": 1379}],
            "selection": {
                "best_step": 2,
                "best_dev": 0.5,
                "last_step": 4,
                "last_dev": 0.4,
                "initial_dev": 0.3,
            },
            "provenance": {
                "git_commit": "a" * 40,
                "git_dirty": False,
                "encoder_sha256": encoder,
                "data_sha256": {},
                "versions": {"torch": "2"},
                "device": "cuda",
                "precision": "fp32",
                "text": "senteval",
                **provenance,
            },
        },
        by_alias=True,
    )


def rescore(result: ResultFile, folder: Path) -> Mapping[ScoreName, float]:
    """A task that takes the first number of the first text's vector for its score."""
    return {STSB: float(EmbeddingStore.load(folder).encode(TEXTS)[0, 0])}


CHECKOUT = Checkout(
    recipes={KEY: "r", OTHER: "r"},
    code={"simcse": {CODE}},
    bands={("simcse", "tiny", STSB): Band(70.0, 80.0)},
    rescore=rescore,
    present=(),
)


def files(folder: Path, result: ResultFile, *, vectors: bool = True) -> RunFiles:
    """Writes what a run leaves: its result, its curve, and vectors whose first number is 0.75."""
    key = result.run.key
    write_result(folder / f"{key}.json", result)
    (folder / f"{key}.jsonl").write_text('{"step": 2, "score": 0.5}\n', encoding="utf-8")
    if vectors:
        store = EmbeddingStore.open_or_create(folder / key, encoder="e")
        store.add(TEXTS, np.full((3, 4), 0.75))
    return RunFiles(folder / f"{key}.json", folder / f"{key}.jsonl", folder / key if vectors else None)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    there = tmp_path / "there"
    there.mkdir()
    pack(
        tmp_path / "good.zip", [files(there, a_result())], contributor=ANNA, code={"simcse": CODE, "una": "u"}
    )
    return tmp_path / "good.zip"


def test_a_bundle_made_there_is_accepted_here_with_its_contributor(bundle: Path, tmp_path: Path) -> None:
    place = accept(bundle, tmp_path / "contributed", CHECKOUT)
    assert place.parent == tmp_path / "contributed"
    assert place.name.startswith("anna-s-lab-")
    assert read_contributions(tmp_path / "contributed") == [(ANNA, [a_result()])]
    assert (place / "curves" / f"{KEY}.jsonl").is_file()
    assert not (place / "vectors").exists()


def test_no_folder_is_no_contribution(tmp_path: Path) -> None:
    assert read_contributions(tmp_path / "contributed") == []


def test_equal_content_makes_equal_bytes_and_names_only_the_methods_of_its_runs(
    bundle: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    again.mkdir()
    manifest = pack(
        tmp_path / "again.zip",
        [files(again, a_result())],
        contributor=ANNA,
        code={"simcse": CODE, "una": "u"},
    )
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()
    assert manifest.code == {"simcse": CODE}


def test_a_bundle_is_accepted_once(bundle: Path, tmp_path: Path) -> None:
    accept(bundle, tmp_path / "contributed", CHECKOUT)
    here = [result for _, results in read_contributions(tmp_path / "contributed") for result in results]
    with pytest.raises(InputError, match=f"has the weights of '{KEY}', which is here"):
        accept(bundle, tmp_path / "contributed", replace(CHECKOUT, present=here))


def test_vectors_are_checked_where_the_data_are_here_and_not_needed(bundle: Path, tmp_path: Path) -> None:
    accept(bundle, tmp_path / "one", replace(CHECKOUT, rescore=None))
    there = tmp_path / "plain"
    there.mkdir()
    pack(
        tmp_path / "plain.zip",
        [files(there, a_result(), vectors=False)],
        contributor=ANNA,
        code={"simcse": CODE},
    )
    assert accept(tmp_path / "plain.zip", tmp_path / "two", CHECKOUT).is_dir()


Contents = dict[str, bytes]


def rewritten(bundle: Path, change: Callable[[Contents], None], *, honest: bool = True) -> Path:
    """Returns the bundle with changed members; if `honest` its manifest states their bytes."""
    with zipfile.ZipFile(bundle) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    change(contents)
    if honest and MANIFEST in contents:
        manifest = json.loads(contents[MANIFEST])
        manifest["members"] = {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in contents.items()
            if name != MANIFEST
        }
        contents[MANIFEST] = json.dumps(manifest).encode()
    out = bundle.with_name("changed.zip")
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out


def scored(**changes: Any) -> Callable[[Contents], None]:
    """Returns a change that puts another result in the place of the run's."""

    def change(contents: Contents) -> None:
        result = a_result(**changes)
        contents[f"scores/{KEY}.json"] = json.dumps(result.model_dump(mode="json", by_alias=True)).encode()

    return change


def put(name: str, content: bytes) -> Callable[[Contents], None]:
    return lambda contents: contents.__setitem__(name, content)


def without(name: str) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        del contents[name]

    return change


def array(contents: Contents) -> str:
    return next(name for name in contents if name.endswith(".npy"))


def edited(part: str, value: object) -> Callable[[Contents], None]:
    """Returns a change of one key of the manifest."""
    return lambda contents: contents.__setitem__(
        MANIFEST, json.dumps({**json.loads(contents[MANIFEST]), part: value}).encode()
    )


def second_run(contents: Contents) -> None:
    copy = a_result(OTHER)
    contents[f"scores/{OTHER}.json"] = json.dumps(copy.model_dump(mode="json", by_alias=True)).encode()


def pickled(contents: Contents) -> None:
    contents[array(contents)] = pickle.dumps({"a": 1})


def objects(contents: Contents) -> None:
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    contents[array(contents)] = buffer.getvalue()


BAD: dict[str, tuple[Callable[[Contents], None], str]] = {
    "a path above": (put("../evil.json", b"{}"), "'../evil.json' has no place in a bundle"),
    "an absolute path": (put("/etc/evil.json", b"{}"), "'/etc/evil.json' has no place in a bundle"),
    "a path above within": (put("scores/../../evil.json", b"{}"), "has no place in a bundle"),
    "an allowed path below another": (put(f"x/scores/{KEY}.json", b"{}"), "has no place in a bundle"),
    "an allowed path above": (put(f"../scores/{KEY}.json", b"{}"), "has no place in a bundle"),
    "code": (put("scores/run.py", b"print(1)"), "'scores/run.py' has no place in a bundle"),
    "a pickle by name": (put("vectors/run/model.pkl", b""), "has no place in a bundle"),
    "a pickle as an array": (pickled, "is no array of numbers"),
    "an array of objects": (objects, "is no array of numbers"),
    "a result that is no JSON": (put(f"scores/{KEY}.json", b"{"), f"scores/{KEY}.json: not a JSON file"),
    "another schema": (put(f"scores/{KEY}.json", b'{"schema": 9}'), "result schema 9, expected 1"),
    "no result": (without(f"scores/{KEY}.json"), "no scores/RUN.json"),
    "another run's name": (scored(key=OTHER), f"is the result of '{OTHER}'"),
    "uncommitted code": (scored(git_dirty=True), "run from code that is in no commit"),
    "no commit": (scored(git_commit="unknown"), "run from code that is in no commit"),
    "a value outside its band": (scored(value=0.81), "is 81.000 points, expected 70 to 80"),
    "an impossible value": (scored(value=76.25), r"is 76.25, expected -1 to 1 in raw units"),
    "other scores than its vectors": (
        scored(value=0.7501),
        "is stated as 0.750100, its vectors give 0.750000",
    ),
    "a copy as a second seed": (second_run, f"{OTHER}: has the weights of '{KEY}'"),
    "unknown code": (
        edited("code", {"simcse": "d" * 64}),
        "code fingerprint dddddddddddd of simcse is not known",
    ),
    "no code": (edited("code", {"una": CODE}), "code fingerprint none of simcse is not known"),
    "another format": (edited("format", 2), "manifest.json: format"),
    "a script for a link": (
        edited("contributor", {"name": "A", "link": "javascript:alert(1)", "may_be_cited": True}),
        "manifest.json: contributor.link",
    ),
    "no manifest": (without(MANIFEST), "no manifest.json"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_bundle_is_one_line_and_leaves_nothing(fault: str, bundle: Path, tmp_path: Path) -> None:
    change, message = BAD[fault]
    changed = rewritten(bundle, change)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as caught:
        accept(changed, tmp_path / "contributed", CHECKOUT)
    text = str(caught.value)
    assert message in text
    assert text.startswith(str(changed))
    assert "\n" not in text
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(f"curves/{KEY}.jsonl", b"{}"), "has other bytes than the manifest states"),
        (put(f"curves/{OTHER}.jsonl", b"{}"), f"'curves/{OTHER}.jsonl' is not in the manifest"),
        (
            without(f"curves/{KEY}.jsonl"),
            f"'curves/{KEY}.jsonl' is not in the zip file",
        ),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    bundle: Path, tmp_path: Path, change: Callable[[Contents], None], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        accept(rewritten(bundle, change, honest=False), tmp_path / "contributed", CHECKOUT)


@pytest.mark.parametrize(
    ("checkout", "message"),
    [
        (replace(CHECKOUT, recipes={KEY: "other"}), "has another recipe than here"),
        (replace(CHECKOUT, recipes={}), "has no recipe here"),
        (replace(CHECKOUT, code={}), "of simcse is not known"),
    ],
)
def test_a_run_of_another_recipe_or_code_is_refused(
    bundle: Path, tmp_path: Path, checkout: Checkout, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        accept(bundle, tmp_path / "contributed", checkout)


def test_a_link_is_refused(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "link.zip"
    with zipfile.ZipFile(bundle) as good, zipfile.ZipFile(out, "w") as archive:
        archive.writestr(MANIFEST, good.read(MANIFEST))
        info = zipfile.ZipInfo(f"scores/{KEY}.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InputError, match="is there twice or no plain file"):
        accept(out, tmp_path / "contributed", CHECKOUT)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr(f"scores/{KEY}.json", "{}")
    with pytest.raises(InputError, match="is there twice or no plain file"):
        accept(bundle, tmp_path / "contributed", CHECKOUT)


def test_a_member_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    bundle: Path, tmp_path: Path
) -> None:
    """Nine MiB of zeros are nine kilobytes in the file."""
    with zipfile.ZipFile(bundle, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"scores/{OTHER}.json", b"0" * 9 * 2**20)
    with pytest.raises(InputError, match=r"has 9437184 bytes, expected at most 8388608"):
        accept(bundle, tmp_path / "contributed", CHECKOUT)


def test_more_members_than_allowed_are_refused(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.results.bundles.MOST_MEMBERS", 4)
    with pytest.raises(InputError, match="5 members of"):
        accept(bundle, tmp_path / "contributed", CHECKOUT)


@pytest.mark.parametrize("how", ["text", "cut", "missing", "bits"])
def test_a_file_that_is_no_whole_zip_is_refused(bundle: Path, tmp_path: Path, how: str) -> None:
    content = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as archive:
        place = archive.getinfo(f"scores/{KEY}.json").header_offset + 60
    content[place] ^= 0xFF
    broken = {"text": b"hello", "cut": bytes(content[:-30]), "bits": bytes(content)}
    out = tmp_path / "broken.zip"
    if how in broken:
        out.write_bytes(broken[how])
    with pytest.raises(InputError, match="not a whole bundle"):
        accept(out, tmp_path / "contributed", CHECKOUT)


def test_what_cannot_be_accepted_is_not_packed(tmp_path: Path) -> None:
    dirty = files(tmp_path, a_result(git_dirty=True), vectors=False)
    out = tmp_path / "out.zip"
    with pytest.raises(InputError, match="in no commit"):
        pack(out, [dirty], contributor=ANNA, code={"simcse": CODE})
    with pytest.raises(InputError, match="no run is named"):
        pack(out, [], contributor=ANNA, code={})
    clean = files(tmp_path, a_result(), vectors=False)
    with pytest.raises(InputError, match="method 'simcse' has no fingerprint"):
        pack(out, [clean], contributor=ANNA, code={"una": CODE})
    assert not out.exists()
    assert read_result(clean.scores) == a_result()
