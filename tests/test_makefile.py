"""The Makefile in folders whose names a shell may split. Python and uv are stubs: nothing is installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("Makefile", "requirements.lock", "requirements-torch.lock", "pyproject.toml")
STUB = '#!/bin/sh\necho "$0|$*" >> "{log}"\ncase "$*" in *version_info*) exit {code};; esac\nexit 0\n'


def made(folder: Path, *targets: str, code: int = 0) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Returns the outcome of make in a folder with stubs, and the calls of these, as PROGRAM|WORDS."""
    log = folder.parent / "log"
    for stub in (
        folder / ".venv/bin/python",
        folder / ".venv/bin/uv",
        folder / ".venv/bin/sentbench",
        folder / "bin/python3.11",
    ):
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(STUB.format(log=log, code=code))
        stub.chmod(0o755)
    for name in FILES:
        shutil.copyfile(ROOT / name, folder / name)
    command = ["make", f"PYTHON={folder}/bin/python3.11", *targets]
    environment = {**os.environ, "MAKEFLAGS": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done, log.read_text().splitlines()


@pytest.mark.parametrize("name", ["plain", "My Projects", "O'Brien (work) & more"])
def test_the_environment_is_made_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "sentbench"
    done, calls = made(folder, ".venv/.ready")
    assert done.returncode == 0, done.stderr
    assert (folder / ".venv/.ready").is_file()
    installed = [call for call in calls if call.startswith(f"{folder}/.venv/bin/uv|pip install")]
    assert [f"--python {folder}/.venv/bin/python" in call for call in installed] == [True, True]
    assert calls[-1] == (
        f"{folder}/.venv/bin/python|-m pip install --quiet --disable-pip-version-check --no-deps "
        "--no-build-isolation --editable ."
    )


def test_another_python_is_refused_by_its_version_in_a_folder_with_a_blank(tmp_path: Path) -> None:
    done, _ = made(tmp_path / "My Projects", ".venv/.ready", code=1)
    assert done.returncode == 2
    assert "expected Python 3.11" in done.stderr
    assert "not found" not in done.stderr


def test_without_git_the_committed_results_are_kept_before_the_first_run_and_not_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "My Projects"
    score, kept = folder / "reports/scores/a.json", folder / ".cache/committed/scores/a.json"
    score.parent.mkdir(parents=True)
    for text in ("committed", "made here"):
        score.write_text(text)
        done, calls = made(folder, "reproduce")
        assert done.returncode == 0, done.stderr
        assert calls[-1] == f"{folder}/.venv/bin/sentbench|check --only results"
        assert kept.read_text() == "committed"
        assert [path.name for path in kept.parent.iterdir()] == ["a.json"]


def test_with_git_no_copy_of_the_committed_results_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "cloned"
    (folder / ".git").mkdir(parents=True)
    done, _ = made(folder, "reproduce")
    assert done.returncode == 0, done.stderr
    assert not (folder / ".cache/committed").exists()


@pytest.mark.parametrize(("types", "tests"), [(0, 0), (1, 0), (0, 1)])
def test_a_wrong_type_or_a_failed_test_fails_make_test(tmp_path: Path, types: int, tests: int) -> None:
    """mypy ends while the tests run, and what it says comes after them."""
    folder, python = tmp_path / "My Projects", f'case "$*" in "-m pytest"*) sleep 0.1; exit {tests};; esac'
    says = {"mypy": f"echo checked; exit {types}", "python": python, "ruff": "", "codespell": "", "uv": ""}
    for name, does in says.items():
        stub = folder / ".venv/bin" / name
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(f"#!/bin/sh\n{does}\n")
        stub.chmod(0o755)
    for name in FILES:
        shutil.copyfile(ROOT / name, folder / name)
    command, settings = ["make", "PYTHON=true", "test"], {**os.environ, "MAKEFLAGS": ""}
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if types or tests else 0), done.stderr
    assert "checked" in done.stdout
    assert ("test results: " in done.stdout) is (types == tests)


def test_every_kind_of_test_that_the_default_leaves_out_has_a_target() -> None:
    """And CI runs those that need neither hours nor a GPU."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^(test[\w-]*): \$\(READY\)\n((?:\t.*\n)+)", makefile, flags=re.M))
    left_out = re.findall(r"not (\w+)", recipes["test"])
    markers = re.findall(r'^  "(\w+): ', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.M)
    assert set(left_out) == set(markers) - {"network"}
    steps = (ROOT / ".ci/run").read_text(encoding="utf-8")
    for kind in left_out:
        command = f"make test-{kind}" if f"test-{kind}" in recipes else f"pytest -m {kind}"
        assert kind in ("slow", "gpu") or command in steps
        assert command.startswith("make") or kind == "cluster"
        assert kind == "cluster" or f'"make test-{kind} ' in makefile, "make help"
