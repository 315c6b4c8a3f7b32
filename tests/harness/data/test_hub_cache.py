"""The hub cache: damaged files are detected and fetched again; complete ones suffice without a network.

Each combination of a kind of source, a cached file and a damage is tested twice: with the hub, and without a
network but with a copy of the cache.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main
from harness.data.sources import PROVIDERS, SOURCES
from tests.faults.corruptions import flip, truncate
from tests.harness.data.small_sources import TEXT, WHEEL, write_wheel
from tests.harness.data.test_hub_sources import COMMIT, MODEL
from tests.harness.data.test_shared_folder import PLAN
from tests.support.checkpoints import pickled
from tests.support.hub_server import Hub, no_pauses
from tests.support.sources import made_up_source, packed
from tests.support.yaml_files import dump_yaml

pytestmark = pytest.mark.usefixtures("pickles_read_here")
WEIGHTS = random.Random(0).randbytes(9000)
NAME = "refs/pr/4"


class Kind(NamedTuple):
    """A kind of source: its provider, the rest of its entry, and its cached files."""

    providers: dict[str, Any]
    entry: dict[str, Any]
    cached: dict[str, str]  # name in tests -> glob


def hub_provider(repo: str, **rest: str) -> dict[str, Any]:
    return {"hub": {"repo": repo, "revision": COMMIT, **rest}}


FILES = {"small": "client/*/snapshots/*/config.json", "large": "client/*/snapshots/*/model.safetensors"}
PICKLED = {"small": FILES["small"], "pickle": "client/*/snapshots/*/pytorch_model.bin"}
PACKED = hub_provider("some/packed", archive="all.tar", folder="in")
WHEELS = {"embedded": {"wheel": "tiny-words==1.0", "folder": "in"}}
KINDS = {
    "model": Kind(hub_provider("some/model", repo_type="model"), MODEL, FILES),
    "named-model": Kind(hub_provider("some/model", repo_type="model", revision=NAME), MODEL, FILES),
    "pickle": Kind(hub_provider("some/pickled", repo_type="model"), MODEL, PICKLED),
    "dataset": Kind(hub_provider("some/words"), {}, {"text": "client/*/snapshots/*/words.txt"}),
    "archive": Kind(PACKED, {}, {"tar": "client/*/snapshots/*/all.tar"}),
    "registry": Kind(WHEELS, {}, {"wheel": ".cache/wheels/*.whl"}),
}


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": truncate,
    "a flipped bit": flip(0),
    "deleted": Path.unlink,
}
QUICK = ("a flipped bit", "deleted")
"""Damages of the default tests for every kind of source; the others are for one kind with the hub there."""
CASES = [
    pytest.param(
        kind,
        file,
        damage,
        network,
        marks=[] if damage in QUICK or (kind == "model" and network) else [pytest.mark.slow],
        id=f"{kind}-{file}-{damage}-{'with the hub' if network else 'without a network'}",
    )
    for network in (True, False)
    for kind in KINDS
    for file in KINDS[kind].cached
    for damage in DAMAGES
]


@pytest.fixture
def hub(server: Hub, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub and a registry that have a source of each kind."""
    import torch

    Path("params.yaml").write_text(dump_yaml(PLAN | {"providers": list(PROVIDERS)}))
    monkeypatch.setenv("PIP_FIND_LINKS", str(workspace / "registry"))
    write_wheel(workspace / "registry" / WHEEL, {"in/words.txt": TEXT})
    for name, kind in KINDS.items():
        monkeypatch.setitem(SOURCES, name, made_up_source(kind.providers, name=name, **kind.entry))
    model = {"config.json": b"{}\n", "model.safetensors": WEIGHTS}
    pickle = {"config.json": b"{}\n", "pytorch_model.bin": pickled({"a": torch.arange(6.0)})}
    server.add("some/model", model, commit=COMMIT, names=(NAME,))
    server.add("some/pickled", pickle, commit=COMMIT)
    server.add("datasets/some/words", {"words.txt": TEXT}, commit=COMMIT)
    server.add("datasets/some/packed", {"all.tar": packed({"./in/words.txt": TEXT})}, commit=COMMIT)
    return server


def fetch(kind: str) -> int:
    return main(["data", "fetch", kind])


def content(kind: str) -> dict[str, bytes]:
    """Returns the files of a fetched source, without its record."""
    paths = Path("data", kind).glob("*")
    return {path.name: path.read_bytes() for path in paths if path.name != "source.json"}


def fetch_first(kind: str) -> dict[str, bytes]:
    """Fills the cache and returns the files; data/NAME is gone afterwards, as before a stage runs again."""
    assert fetch(kind) == 0
    whole = content(kind)
    assert whole
    shutil.rmtree("data")
    return whole


def cut_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.delenv("PIP_FIND_LINKS")


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_the_cache_is_enough_on_a_machine_without_a_network(
    hub: Hub, kind: str, workspace: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = fetch_first(kind)
    shutil.copytree(workspace, workspace.parent / "second", dirs_exist_ok=True)
    monkeypatch.chdir(workspace.parent / "second")
    cut_network(monkeypatch)
    before = sum(hub.requests.values())
    assert fetch(kind) == 0
    assert content(kind) == whole
    assert sum(hub.requests.values()) == before
    assert capfd.readouterr().err == ""


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "file", "damage", "network"), CASES)
def test_damage_in_the_cache_is_repaired_by_a_new_fetch_or_is_one_line(
    hub: Hub,
    kind: str,
    file: str,
    damage: str,
    network: bool,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    whole = fetch_first(kind)
    path = next(Path().glob(KINDS[kind].cached[file]))
    DAMAGES[damage](path.resolve())
    capfd.readouterr()
    if not network:
        cut_network(monkeypatch)
    code, lines = fetch(kind), capfd.readouterr().err.splitlines()
    if network:
        assert (code, lines, content(kind)) == (0, [], whole)
        shutil.rmtree("data")
        cut_network(monkeypatch)
        assert fetch(kind) == 0  # the repaired file is in the cache again
        assert content(kind) == whole
        return
    if kind == "registry" and code == 0:  # the damage is next to the member that is read
        assert content(kind) == whole
        return
    assert (code, len(lines), content(kind)) == (2, 1, {})
    assert path.name in lines[0] or "pip download tiny-words==1.0" in lines[0]


def test_a_hub_that_cannot_be_reached_is_asked_once_for_all_sources_and_the_rest_arrives(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    pauses = no_pauses(monkeypatch)
    assert main(["data", "fetch", "model", "dataset", "registry", "archive"]) == 2
    *missing, last = capfd.readouterr().err.splitlines()
    assert [line.split(": not in")[0] for line in missing] == [
        f"missing source {name}" for name in ("model", "dataset", "archive")
    ]
    assert last == "sentbench: 3 of 4 sources are missing: model, dataset, archive"
    assert [path.name for path in Path("data").iterdir()] == ["registry"]
    assert len(pauses) < 7  # the patience of one request
