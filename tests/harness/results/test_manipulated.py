"""A campaign of manipulated bundles and result files: none is accepted, each is one line and leaves nothing.

Every sixth is tried by default, all of them with the slow tests.
"""

import io
import json
import os
import pickle
import random
import re
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import InputError
from harness.results.bundles import MANIFEST
from harness.results.contributions import accept
from harness.results.curves import read_curve
from harness.results.schema import ResultFile
from harness.results.store import read_result
from tests.support.bundles import (
    CHECKOUT,
    CODE,
    OURS,
    Contents,
    a_result,
    augmented,
    bundle_of,
    drawn_scores,
    key_of,
    sha,
    with_means,
)

KEY = key_of(7)
SCORES, CURVE, META = f"scores/{KEY}.json", f"curves/{KEY}.json", f"vectors/{KEY}/meta.json"
DEEP, LONG = b"[" * 200_000 + b"]" * 200_000, b"1" * 5_000
Change = Callable[[Contents], None]


def put(name: str, content: bytes) -> Change:
    return lambda contents: contents.__setitem__(name, content)


def as_json(result: ResultFile) -> bytes:
    return json.dumps(result.model_dump(mode="json", by_alias=True)).encode()


def of_scores(scores: list[dict[str, Any]]) -> Change:
    raw = a_result().model_dump(mode="json", by_alias=True)
    return put(SCORES, json.dumps({**raw, "scores": scores}).encode())


def without_vectors(change: Change) -> Change:
    """Returns a change of a bundle that has no vectors: its scores must be refused for themselves."""

    def both(contents: Contents) -> None:
        for name in [name for name in contents if name.startswith("vectors/")]:
            del contents[name]
        change(contents)

    return both


def copies() -> Iterator[tuple[str, Change]]:
    """Scores of our seeds: shifted, scaled, with noise whose means agree, blended, or piece by piece."""
    noise = np.random.default_rng(5)
    for seed in range(3):
        source = drawn_scores(seed)
        for shift in (0.0, 0.001, -0.001, 0.01, -0.02):
            for scale in (1.0, 0.999, 1.01):
                for sd in (0.0, 1e-5, 1e-4, 4e-4):
                    scores = {
                        name: value * scale + shift + noise.normal(0, sd) for name, value in source.items()
                    }
                    yield f"seed {seed} x {scale} + {shift} +- {sd}", of_scores(with_means(scores))
    drawn = random.Random(3)
    for number in range(12):
        shift, sd = drawn.choice([0.0, 0.001, -0.005]), drawn.choice([0.0, 1e-5])
        mixed = {
            name: drawn_scores(drawn.randrange(3))[name] + shift + drawn.gauss(0, sd)
            for name in drawn_scores(0)
        }
        yield f"pieces {number}", of_scores(with_means(mixed))
        weights = [drawn.random() for _ in range(3)]
        blend = {
            name: sum(weight * drawn_scores(seed)[name] for seed, weight in enumerate(weights)) / sum(weights)
            for name in drawn_scores(0)
        }
        yield f"blend {number}", of_scores(with_means(blend))


def invented() -> Iterator[tuple[str, Change]]:
    """Values that cannot be, or are far from every seed."""
    for value in (0.99, 1.0, 0.0, -0.3, 0.3, 0.9):
        yield f"{value} everywhere", of_scores(with_means(dict.fromkeys(drawn_scores(7), value)))
    for shift in (0.2, -0.2, 0.3):
        moved = {name: min(value + shift, 0.999) for name, value in drawn_scores(7).items()}
        yield f"all + {shift}", of_scores(with_means(moved))
    good = with_means(drawn_scores(7))
    for at in (0, 1, 2, 9):
        for name, value in {"value": 0.99, "n": 12, "task": "STS99", "selection": "last"}.items():
            changed = [{**score, name: value} if index == at else score for index, score in enumerate(good)]
            yield f"score {at} with {name} {value}", of_scores(changed)
    yield "a score twice", of_scores([*good, good[0]])
    yield (
        "noise that moves the means",
        of_scores([{**score, "value": score["value"] + 1e-5 * index} for index, score in enumerate(good)]),
    )


def records() -> Iterator[tuple[str, Change]]:
    """A run that is not the declared one of its key, or not a run of its own."""
    zero = OURS[0]
    for name, values in {
        "id": ["pcl-small", "simcse-2"],
        "method": ["una", "pcl"],
        "variant": ["paper", ""],
        "backbone": ["bert-base-uncased"],
        "seed": [0, 8, 10**9],
        "key": [key_of(8), "simcse__tiny__s70", "other"],
        "recipe": ["0" * 64, ""],
        "identity": ["0" * 64, "", "i", "A" * 64, zero.run.identity, "0123" * 16, sha("invented")],
        "encoder_sha256": ["0" * 64, "e", "f" * 64, zero.provenance.encoder_sha256],
        "data_sha256": [{"sets": "0" * 64}],
        "git_dirty": [True],
        "git_commit": ["unknown", "", "g" * 40, None],
        "text": ["raw"],
        "arithmetic": [None, "", "none"],
    }.items():
        for value in values:
            yield f"{name} {value!r}"[:60], put(SCORES, as_json(a_result(**{name: value})))
    for seed in range(3):
        copy = a_result(scores=with_means(drawn_scores(seed)), encoder_sha256="1234567890abcdef" * 4)
        yield f"seed {seed} under another key", put(SCORES, as_json(copy))

    def renamed(contents: Contents) -> None:
        del contents[SCORES]
        taken = a_result(1, encoder_sha256="12345678" * 8)
        contents[f"scores/{key_of(1)}.json"] = as_json(taken)

    yield "a key that is here", renamed


def files_of_json() -> Iterator[tuple[str, Change]]:
    """Every file of JSON with content that readers stumble over."""
    good = json.dumps(a_result().model_dump(mode="json", by_alias=True))
    for name in (SCORES, CURVE, META, MANIFEST):
        for what, content in {
            "deep": DEEP,
            "a long number": LONG,
            "a long number inside": b'{"step": ' + LONG + b', "score": 0.1, "schema": ' + LONG + b"}",
            "no UTF-8": b"\xff\xfe{}",
            "empty": b"",
            "a list": b"[1]",
            "cut": b'{"schema": 1, "run"',
            "nothing": b"null",
        }.items():
            yield f"{name[:8]} {what}", put(name, content)
    for value in ("1e999", "-1e999", "NaN", "Infinity", '"0.7"', "true", "null", "[0.7]", "{}", "1" * 4_000):
        for field in ("value", "best_dev", "n", "best_step", "seed"):
            text = re.sub(rf'"{field}": [^,}}]+', f'"{field}": {value}', good, count=1)
            yield f"{field} {value[:8]}", put(SCORES, text.encode())


CURVES = {
    "steps that are words": [{"step": "two", "score": 0.1}],
    "a score out of range": [{"step": 1, "score": 1.5}],
    "a score that is no number": [{"step": 1, "score": None}],
    "steps that go back": [{"step": 2, "score": 0.1}, {"step": 1, "score": 0.1}],
    "a step that is a share": [{"step": 0.5, "score": 0.1}],
    "a uniformity that cannot be": [{"step": 1, "score": 0.1, "uniformity": 3.0}],
    "no score": [{"step": 1}],
}


def curves() -> Iterator[tuple[str, Change]]:
    for name, lines in CURVES.items():
        yield f"curve: {name}", put(CURVE, json.dumps({"evaluations": lines}).encode())


def saved(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def vectors() -> Iterator[tuple[str, Change]]:
    """Files of vectors that are none, or whose scores are others; each is named by its bytes as ours are."""
    from hashlib import sha256

    record = [("digest", "S16"), ("vector", "f4", (8,))]
    arrays = {
        "plain numbers": saved(np.zeros((40, 48), dtype="f4")),
        "one axis": saved(np.zeros(40)),
        "other fields": saved(np.zeros(40, dtype=[("a", "S16"), ("vector", "f4", (8,))])),
        "whole numbers": saved(np.zeros(40, dtype=[("digest", "S16"), ("vector", "i4", (8,))])),
        "no rows": saved(np.zeros(0, dtype=record)),
        "equal digests": saved(np.zeros(40, dtype=record)),
        "objects": saved(np.array([{"a": 1}], dtype=object), allow_pickle=True),
        "pickle": pickle.dumps({"a": 1}),
        "empty": b"",
        "a head that nests": b"\x93NUMPY\x01\x00\xf0\x1f" + b"(" * 8_176,
        "a head of a huge shape": saved(np.zeros(1, dtype="f4")).replace(b"(1,)", b"(9" + b"9" * 30 + b",)"),
        "cut": saved(np.zeros(400, dtype=record))[:-64],
        "not a number": b"nan",
    }

    def change(contents: Contents, content: bytes) -> None:
        old = next(name for name in contents if name.endswith(".npy"))
        if content == b"nan":
            array = np.load(io.BytesIO(contents[old]))
            array["vector"][:] = np.nan
            content = saved(array)
        del contents[old]
        contents[f"{old[: old.rindex('-')]}-{sha256(content).hexdigest()}.npy"] = content

    for name, content in arrays.items():
        yield f"vectors: {name}", partial(change, content=content)
    moved = with_means({name: value + 2e-4 for name, value in drawn_scores(7).items()})
    yield "vectors of other scores", of_scores(moved)
    extra = [*with_means(drawn_scores(7)), {**moved[0], "setting": "extra"}]
    yield "a score that vectors do not give", of_scores(extra)
    yield "another format", put(META, b'{"format": 9, "encoder": "x", "precision": "float32"}')
    yield "no record of the vectors", lambda contents: contents.pop(META, None) and None
    yield "vectors of a run without a result", put(f"vectors/{key_of(8)}/meta.json", b"{}")
    yield "a curve of a run without a result", put(f"curves/{key_of(8)}.json", b"{}")
    yield "no result", lambda contents: contents.pop(SCORES, None) and None


def members() -> Iterator[tuple[str, Change]]:
    for name in (
        "../evil.json", "/etc/evil.json", "scores/../../evil.json", f"x/{SCORES}", f"../{SCORES}",
        "scores/run.py", "vectors/run/model.pkl", "acceptance.json", f"{SCORES}\n", f"scores\\{KEY}.json",
        "scores/", "scores/A.json",
        f"scores/{'a' * 200}.json", f"curves/{KEY}.jsonl", "manifest.json.bak", "__init__.py",
    ):  # fmt: skip
        yield f"member {name[:30]!r}", put(name, b"{}")
    yield "a member of too much", put(f"scores/{key_of(8)}.json", b"0" * (2**20 + 1))


def manifests() -> Iterator[tuple[str, Change]]:
    def edited(part: str, value: object) -> Change:
        return lambda contents: contents.__setitem__(
            MANIFEST, json.dumps({**json.loads(contents[MANIFEST]), part: value}).encode()
        )

    ok = {"name": "A", "link": "", "may_be_cited": True}
    for part, value in [
        ("code", {"simcse": "d" * 64}), ("code", {"una": CODE}), ("code", {}), ("code", [CODE]),
        ("code", {"simcse": 1}),
        ("format", 2), ("format", "1"), ("members", {}), ("members", []), ("level", "reproduced here"),
        ("members", {SCORES: {"bytes": -1, "sha256": "0" * 64}}),
        ("contributor", {**ok, "link": "javascript:alert(1)"}), ("contributor", {**ok, "name": "<b>"}),
        ("contributor", {**ok, "name": ""}), ("contributor", {**ok, "name": "a" * 100}),
        ("contributor", {**ok, "name": "a\nb"}), ("contributor", {**ok, "may_be_cited": "yes"}),
        ("contributor", None),
    ]:  # fmt: skip
        yield f"manifest {part} {str(value)[:40]}", edited(part, value)
    yield "no manifest", lambda contents: contents.pop(MANIFEST, None) and None


CHANGES: dict[str, Change] = {
    **{name: without_vectors(change) for name, change in (*copies(), *invented(), *records())},
    **dict(files_of_json()),
    **dict(curves()),
    **dict(vectors()),
    **dict(members()),
    **dict(manifests()),
}
EVERY = 6


def sampled(names: Mapping[str, object]) -> list[Any]:
    """Returns the names, of which all but every sixth are slow tests."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if index % EVERY else [], id=name.replace("/", "|"))
        for index, name in enumerate(names)
    ]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest bundle: what every manipulated one is made of."""
    path = bundle_of(tmp_path_factory.mktemp("campaign") / "good.zip", a_result())
    accept(path, path.parent / "accepted", CHECKOUT)
    return path


def refused(path: Path, folder: Path) -> str:
    """Returns the line that a bundle is refused with; nothing is left in `folder`."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(InputError) as caught:
        accept(path, folder / "contributed", CHECKOUT)
    assert sorted(folder.rglob("*")) == before
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text.removeprefix(str(path))
    return text


@pytest.mark.parametrize("name", sampled(CHANGES))
def test_a_manipulated_bundle_is_refused(name: str, good: Path, tmp_path: Path) -> None:
    before = good.read_bytes()
    refused(augmented(good, CHANGES[name]), tmp_path)
    assert good.read_bytes() == before


ZIPS = ("text", "cut", "bits", "empty", "twice", "link", "folder", "bzip2", "size", "sha256", "encrypted")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("how", ZIPS)
def test_a_file_that_is_no_whole_bundle_is_refused(how: str, good: Path, tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    content, damaged = good.read_bytes(), bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        damaged[archive.getinfo(SCORES).header_offset + 90] ^= 0xFF
        contents = {name: archive.read(name) for name in archive.namelist()}
    encrypted = bytearray(content)
    encrypted[content.rindex(b"PK\x01\x02") + 8] |= 1
    wrong = {"text": b"hello", "cut": content[:-30], "bits": damaged, "empty": b"", "encrypted": encrypted}
    kinds = {"link": stat.S_IFLNK | 0o777, "folder": stat.S_IFDIR | 0o777}
    changed = {"size": contents[SCORES] + b" ", "sha256": contents[SCORES].replace(b"cuda", b"cpuu")}
    if how in wrong:
        path.write_bytes(wrong[how])
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, member in contents.items():
                info = zipfile.ZipInfo(name)
                if name == SCORES:
                    info.compress_type = zipfile.ZIP_BZIP2 if how == "bzip2" else zipfile.ZIP_STORED
                    info.external_attr = kinds.get(how, 0) << 16
                    member = changed.get(how, member)
                archive.writestr(info, member)
            if how == "twice":
                archive.writestr(SCORES, b"{}")
    refused(path, tmp_path)


def test_pipes_devices_and_folders_are_refused_at_once(good: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "nothing"):
        refused(path, tmp_path)
        for read in (read_result, partial(read_curve, again="x")):
            with pytest.raises(InputError, match=r"not a regular file|no such file"):
                read(path)
        if path.name != "nothing":
            with pytest.raises(InputError, match=r"not (a regular file|signed)"):
                accept(good, tmp_path / "c", CHECKOUT, path)


def test_more_members_than_allowed_are_refused_before_one_is_unpacked(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.results.bundles.MOST_MEMBERS", 3)
    assert "5 members of" in refused(good, tmp_path)


def test_an_honest_seed_is_never_taken_for_a_copy() -> None:
    """Every seed of ten against all others, as its neighbours come in one after the other."""
    from harness.results.plausibility import copied_from

    seeds = [a_result(seed) for seed in range(30)]
    for count, seed in enumerate(seeds):
        assert copied_from(seed, seeds[:count]) == ""
