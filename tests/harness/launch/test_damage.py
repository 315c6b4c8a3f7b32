"""Every file that a launch reads, damaged in many ways: repaired, or reported without a traceback."""

import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from harness.cli import main
from tests.faults.corruptions import empty, make_folder, truncate
from tests.harness.launch.toy_pipeline import stage, write_pipeline

STAGES = {
    "a": {**stage("a"), "params": ["plan"]},
    "b": stage("b", ("a.txt",)),
    "c": stage("c", ("a.txt",), "test -e repaired"),
}
FILES = {
    **{name: name for name in ("dvc.yaml", "dvc.lock", "params.yaml", "source.txt", "a.txt")},
    "rwlock": ".dvc/tmp/rwlock",
    "rwlock.lock": ".dvc/tmp/rwlock.lock",
    "lock": ".dvc/tmp/lock",
    "config": ".dvc/config",
    "ignore": ".dvcignore",
    "cached": ".dvc/cache/files/md5/*/*",
    "run cache": ".dvc/cache/runs/*/*/*",
    "state": ".dvc/site/repo/*/*/cache.db",
    "log": ".cache/launch/b.log",
}
OTHER_TYPES = '{"write": 3, "read": {"x": 4}, "stages": [], "plan": {"x": 2}}\n'
RWLOCK = '{"write": {"b.txt": {"pid": 4194305, "cmd": "dvc repro"}}, "read": {}}'


def as_dangling_link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("nowhere/at-all")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": truncate,
    "empty": empty,
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00\x81" * 40),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size or 10)),
    "a list": lambda path: path.write_text("[1, {}]\n"),
    "other types": lambda path: path.write_text(OTHER_TYPES),
    "a folder": make_folder,
    "a dangling link": as_dangling_link,
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after a launch in which one of three stages failed."""
    folder = write_pipeline(tmp_path_factory.mktemp("damage") / "toy", STAGES)
    (folder / ".dvcignore").write_text("*.ignored\n")
    with (folder / ".dvc/config").open("a") as config:
        config.write("    site_cache_dir = .dvc/site\n")
    with chdir(folder):
        assert main(["launch"]) == 1
    (folder / "repaired").touch()
    (folder / ".dvc/tmp/rwlock").write_text(RWLOCK)
    return folder


CASES = [
    pytest.param(file, damage, marks=[] if (row - number) % 4 == 0 else [pytest.mark.slow])
    for row, file in enumerate(FILES)
    for number, damage in enumerate(DAMAGES)
]
"""Every damage of every file, of which the default run tries each fourth: two or three a file."""


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "damage"), CASES)
def test_damage_is_reported_in_one_line_or_repaired(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    file: str,
    damage: str,
) -> None:
    folder = tmp_path / "toy"
    shutil.copytree(finished, folder)
    monkeypatch.chdir(folder)
    paths = sorted(folder.glob(FILES[file]))
    assert paths, file
    for path in paths:
        path.chmod(0o644)
        DAMAGES[damage](path)
    (folder / "b.txt").unlink()
    code = main(["launch"])
    out, err = capfd.readouterr()
    output = f"{code}\n{err}"
    assert "Traceback" not in out + err, output
    assert "Errno" not in out + err, output
    if code == 2:
        assert err.startswith("sentbench: "), output
        assert err.count("\n") == 1, output
    else:
        assert code == (1 if "failed: " in err else 0), output
    assert not list(folder.rglob("*.part"))


def test_partial_files_of_a_killed_launch_are_removed(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished, tmp_path / "toy")
    monkeypatch.chdir(tmp_path / "toy")
    left = [Path(".dvc.lock.ab12.part"), Path(".dvc.lock.cd34.part")]
    others = [Path(".results.json.ab12.part"), Path("dvc.lock.part")]
    for path in (*left, *others):
        path.write_text("schema: '2.0'\nstag")
    assert main(["launch"]) == 0
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)
