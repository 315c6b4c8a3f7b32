"""Ways to data: which files a provider is asked for, what an error advises, and what a record states."""

import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.data import download, providers, sources
from harness.data.providers import Unavailable, bring
from harness.data.sources import Provider, lock_sources
from harness.errors import InputError
from harness.models.hub import Absent, Unreachable
from tests.harness.data.small_sources import TEXT, Declare, sha256


def provider(**values: Any) -> Provider:
    return Provider.model_validate(values)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("mirror", {"folder": "in", "obtain": "copy it"}, "^SENTBENCH_MIRROR is not set; copy it$"),
        ("mirror", {"folder": "in"}, "^SENTBENCH_MIRROR is not set$"),
        (
            "system",
            {"folder": "/none", "package": "words"},
            "^/none/a does not exist; `apt-get install words`",
        ),
        ("folder", {"folder": "/none", "obtain": "no"}, "^/none/a does not exist$"),
    ],
)
def test_a_provider_without_the_files_says_how_to_get_them(
    name: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTBENCH_MIRROR", "")
    with pytest.raises(Unavailable, match=said):
        bring(name, provider(**values), ["a"], tmp_path, None)


@pytest.mark.parametrize("name", ["mirror", "system", "folder"])
def test_files_of_a_folder_are_copied_to_their_paths(
    name: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them, or none: a missing one is found before the first is copied."""
    there, here = tmp_path / "there", tmp_path / "here"
    (there / "in/deep").mkdir(parents=True)
    (there / "in/deep/a").write_text("x")
    monkeypatch.setenv("SENTBENCH_MIRROR", str(there))
    folder = "in" if name == "mirror" else str(there / "in")
    with pytest.raises(Unavailable, match="deep/b does not exist"):
        bring(name, provider(folder=folder), ["deep/a", "deep/b"], here, None)
    assert not here.exists()
    assert bring(name, provider(folder=folder), ["deep/a"], here, None) is None
    assert (here / "deep/a").read_text() == "x"
    assert not (here / "deep/a").is_symlink()
    monkeypatch.setenv("SENTBENCH_MIRROR", str(there / "none"))
    with pytest.raises(InputError, match="no such folder; correct or unset SENTBENCH_MIRROR"):
        providers.mirror_folder()


def test_a_copy_of_the_hub_may_have_the_archive_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "org/own").mkdir(parents=True)
    (tmp_path / "file").write_bytes(TEXT)
    monkeypatch.setenv("SENTBENCH_HUB", str(tmp_path))
    packed = provider(repo="org/own", archive="all.tar", folder="in")
    with pytest.raises(Unavailable, match=r"org/own/all\.tar does not exist"):
        bring("hub", packed, ["a.txt"], tmp_path / "out", None)
    with tarfile.open(tmp_path / "org/own/all.tar", "w") as archive:
        archive.add(tmp_path / "file", "./in/a.txt")
    assert bring("hub", packed, ["a.txt"], tmp_path / "out", None) is None
    assert (tmp_path / "out/a.txt").read_bytes() == TEXT


def test_all_files_of_the_hub_are_of_the_commit_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights may be a pickle; a file that is absent is told unless the hub could not be reached."""
    monkeypatch.setenv("SENTBENCH_HUB", "")
    (tmp_path / "x").write_text("x")
    asked: list[tuple[str, ...]] = []
    faults: dict[str, Exception] = {"in/model.safetensors": Absent("no weights")}

    def hub_file(*words: str) -> tuple[Path, str]:
        asked.append(words)
        if words[-1] in faults:
            raise faults[words[-1]]
        return tmp_path / "x", "c" * 40

    monkeypatch.setattr(providers, "hub_file", hub_file)
    monkeypatch.setattr(providers, "_take", lambda files, folder: None)
    own = provider(repo="org/own", repo_type="model", revision="refs/pr/1", folder="in")
    commit = bring("hub", own, ["a", "model.safetensors"], tmp_path, None)
    assert commit == "c" * 40
    common = ("org/own", "model")
    assert asked == [
        (*common, "refs/pr/1", "in/a"),
        (*common, "c" * 40, "in/model.safetensors"),
        (*common, "c" * 40, "in/pytorch_model.bin"),
    ]
    faults["in/pytorch_model.bin"] = Absent("no pickle")
    with pytest.raises(Unavailable, match=r"^no weights$"):
        bring("hub", own, ["model.safetensors"], tmp_path, None)
    faults["in/pytorch_model.bin"] = Unreachable("no network")
    with pytest.raises(Unavailable, match=r"^no network$"):
        bring("hub", own, ["model.safetensors"], tmp_path, None)
    with pytest.raises(Unavailable, match="org/own has no pinned revision; give one"):
        bring("hub", provider(repo="org/own"), ["a"], tmp_path, None)


@pytest.mark.parametrize("again", [True, False])
def test_pip_downloads_one_wheel_without_its_dependencies(
    again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "cache", lambda: tmp_path)
    old = tmp_path / "wheels/own_words-1.0-old.whl"
    new = "own_words-1.0-old.whl" if again else "own_words-1.0-new.whl"
    if again:
        old.parent.mkdir()
        old.write_text("old")
    ran: list[list[str]] = []

    def run(command: list[str], **options: Any) -> Any:
        ran.append(command)
        Path(command[command.index("-d") + 1], new).write_text("new")
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(providers.subprocess, "run", run)
    assert providers.wheel_file("own-words==1.0", again=again).read_text() == "new"
    assert [path.name for path in (tmp_path / "wheels").iterdir()] == [new]
    (command,) = ran
    assert {"-P", "--no-deps", "--only-binary", ":all:", "own-words==1.0"} <= {*command}
    assert command[1:5] == ["-P", "-m", "pip", "download"]
    assert providers.wheel_file("own-words==1.0").read_text() == "new"
    assert len(ran) == 1


@pytest.mark.parametrize(
    "line",
    ["pip found no wheel of that name", "ERROR: last"],
)
def test_the_last_line_of_pip_is_the_reason(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "cache", lambda: tmp_path)
    found = SimpleNamespace(returncode=0, stderr="" if line[0] == "p" else "first\nERROR: last\n")
    monkeypatch.setattr(providers.subprocess, "run", lambda *given, **options: found)
    with pytest.raises(Unavailable, match=f"^pip download own==1: {line}$"):
        providers.wheel_file("own==1")
    assert [*(tmp_path / "wheels").iterdir()] == []


def test_the_record_of_a_source_states_all_that_is_known(
    workspace: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub's files have a commit; a locked source is fetched at its own, if no revision is given."""
    asked: list[Any] = []

    def bring_(name: str, provider: Any, paths: Any, folder: Path, revision: str | None) -> str:
        asked.append((name, [*paths], revision))
        (folder / "words.txt").write_bytes(TEXT)
        return "d" * 40

    monkeypatch.setattr(download, "bring", bring_)
    declare({"hub": {"repo": "org/own"}})
    record = {
        "name": "tiny", "provider": "hub", "text": "raw", "revision": "d" * 40,
        "files": {"words.txt": {"rows": 3, "sha256": sha256(TEXT)}},
    }  # fmt: skip
    folder = download.fetch("tiny", Path("data"))
    written = json.loads((folder / "source.json").read_text())
    assert {name: written[name] for name in record} == record
    assert asked == [("hub", ["words.txt"], None)]
    download.fetch("tiny", Path("data"), revision="d" * 40)
    assert len(asked) == 1, "it is there, of this commit"
    monkeypatch.setitem(sources.LOCKS, "tiny", sources.Lock(commit="e" * 40, files={}))
    download.fetch("tiny", Path("data"), revision="refs/pr/2")
    declare({"hub": {"repo": "org/own", "make": "gunzip", "inputs": {"x.gz": "0" * 64}}})
    (folder / "words.txt").unlink()
    with pytest.raises(InputError, match=r"no such file|x\.gz"):
        download.fetch("tiny", Path("data"))
    assert asked[1:] == [("hub", ["words.txt"], "refs/pr/2"), ("hub", ["x.gz"], "e" * 40)]


@pytest.mark.parametrize("name", download.REMEDY)
def test_files_that_differ_from_the_table_have_the_advice_of_their_provider(
    name: str, workspace: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {"embedded": {"wheel": "a==1"}, "system": {"package": "a"}, "hub": {"repo": "a/b"}}
    words = {"embedded": "version of the package", "system": "install the package", "mirror": "in the mirror",
             "folder": "in the included folder", "hub": "another --revision"}[name]  # fmt: skip
    declare({name: {**named.get(name, {}), "sha256": {"words.txt": "0" * 64}}})
    monkeypatch.setattr(
        download,
        "bring",
        lambda name, entry, paths, folder, revision: (folder / "words.txt").write_bytes(TEXT),
    )
    with pytest.raises(InputError, match=f"^source tiny from provider {name}: words.txt: sha256 .*{words}"):
        download.fetch("tiny", Path("data"), providers=None if name == "folder" else [name])
    assert not Path("data/tiny").exists()


def test_a_lock_keeps_its_head_and_others_and_is_sorted(tmp_path: Path) -> None:
    path = tmp_path / "lock.yaml"
    path.write_text(f"# head\n# more\nzoo:\n  commit: {'a' * 40}\n  files: {{x: '1'}}\n")
    record = {"provider": "hub", "revision": "b" * 40, "files": {"y": {"sha256": "2", "rows": 3}}}
    lock_sources({"own": record}, path)
    lines = path.read_text().splitlines()
    assert lines == [
        "# head", "# more", "own:", f"  commit: {'b' * 40}", "  files:", "    y: '2'",
        "zoo:", f"  commit: {'a' * 40}", "  files:", "    x: '1'",
    ]  # fmt: skip
    for change in ({"provider": "mirror"}, {"revision": None}):
        with pytest.raises(InputError, match="only sources of the hub can be locked"):
            lock_sources({"own": {**record, **change}}, path)
    assert path.read_text().splitlines() == lines
