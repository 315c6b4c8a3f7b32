"""The process of a command, part by part: streams, exit codes, memory, folders and included code."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import requires
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import cli, command_line, include, paths, process
from harness.errors import InputError
from harness.plan import method_class
from methods import registry

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("number", "name", "mode"), [(0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")]
)
def test_a_closed_stream_is_opened_with_its_own_number_which_it_does_not_close(
    number: int, name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    made: list[Any] = []

    def fstat(given: int) -> None:
        if given == number:
            raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(sys, name, None)
        patch.setattr(cli.os, "open", lambda path, flags: opened.append(flags) or 9)
        patch.setattr(cli.os, "fstat", fstat)
        patch.setattr("builtins.open", lambda *given, **options: made.append((given, options)) or "stream")
        cli.open_closed_streams()
        stream = getattr(sys, name)
    assert stream == "stream"
    assert made == [((number, mode), {"closefd": False})]
    assert opened == [os.O_RDWR]


@pytest.mark.parametrize(
    ("error", "free", "shown"),
    [
        (errno.ENOSPC, {"now": 2**20 - 1, "cache": 2**20, "tmp": 2**30}, ["the current folder"]),
        (errno.EDQUOT, {"now": 2**30, "cache": 0, "tmp": 9}, ["the cache", "temporary files"]),
        (errno.ENOSPC, {"now": 2**30, "cache": 2**30, "tmp": 2**20},
         ["the current folder", "the cache", "temporary files", "the output"]),
        (errno.EIO, {"now": 0, "cache": 0, "tmp": 0}, None),
    ],
)  # fmt: skip
def test_the_folders_on_full_disks_are_named(
    error: int, free: dict[str, int], shown: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them if none is full: the system may count otherwise."""
    for name in free:
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "now")
    monkeypatch.setattr(cli, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(cli.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    monkeypatch.setattr(
        cli.shutil, "disk_usage", lambda path: SimpleNamespace(free=free[Path(path).resolve().name])
    )
    place = cli.place_of(OSError(error, "full"))
    assert (
        place == "a file" if shown is None else [part.split(" (")[0] for part in place.split(" or ")] == shown
    )


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (InputError("a\nb\x1b[0m"), 2, "sentbench: a b\\x1b[0m\n"),
        (OSError(13, "Permission denied", "there"), 2,
         "sentbench: there: Permission denied; free space or correct the path\n"),
        (KeyboardInterrupt(), 130, "\nsentbench: interrupted; the same command downloads what is missing\n"),
        (None, 0, ""),
    ],
)  # fmt: skip
def test_a_command_ends_with_the_code_of_its_end(
    raised: BaseException | None, code: int, said: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def run(words: list[str]) -> int:
        if raised is not None:
            raise raised
        return 0

    monkeypatch.setattr(cli, "run_command", run)
    assert cli.main(["data", "fetch"]) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("package", cli.EXTRAS)
def test_the_extra_of_a_package_installs_it(package: str) -> None:
    extra = cli.EXTRAS[package]
    listed = [line for line in requires("sentbench") or () if f'extra == "{extra}"' in line.replace("'", '"')]
    assert any(line.startswith(package) for line in listed), extra
    assert package in cli.packages_of(extra)
    assert "torch" not in cli.packages_of(extra).split()


def test_a_stage_that_is_called_as_a_command_is_named_with_its_command(refused: Callable[..., str]) -> None:
    assert "did you mean stage train" in refused("trian")
    assert "did you mean report" in refused("reports")
    assert "stage report" not in refused("reports")
    assert [*command_line.public()] == [name for name in command_line.COMMANDS if name != "stage"]


@pytest.mark.parametrize(("level", "taken"), [(0, True), (1, True), (2, False), (3, False)])
def test_docstrings_are_removed_from_level_two_on(
    level: int, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process.sys, "flags", SimpleNamespace(optimize=level))
    if taken:
        process.check_docstrings()
    else:
        with pytest.raises(InputError, match="removes docstrings"):
            process.check_docstrings()


def test_freed_memory_is_given_back_every_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now, trims = [100.0], list[int]()
    monkeypatch.setattr(process, "_trimmed", 0.0)
    monkeypatch.setattr(process.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(process, "_of_glibc", lambda name: trims.append if name == "malloc_trim" else None)
    for now[0] in (100.0, 129.9, 130.0, 159.9, 160.0):
        process.give_back_freed_memory()
    assert trims == [0, 0, 0]


@pytest.mark.parametrize("name", process.PORTABLE)
def test_every_variable_of_portable_arithmetic_is_set_and_given_back(name: str) -> None:
    environment = {name: "own", "OTHER": "1"}
    process.set_portable(environment)
    assert environment[name] == process.PORTABLE[name]
    assert {**environment} == {**environment, **process.PORTABLE}
    process.set_native(environment)
    assert environment == {name: "own", "OTHER": "1"}
    process.set_native(environment)
    assert environment == {name: "own", "OTHER": "1"}


def test_a_processor_without_avx2_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy

    monkeypatch.setattr(process.platform, "machine", lambda: "x86_64")
    for found, said in ((["X86_V2"], "no AVX2"), (["X86_V3", "X86_V4"], None)):
        features = {"SIMD Extensions": {"found": found}}
        monkeypatch.setattr(numpy, "show_config", lambda mode, features=features: features)
        line = process.limitation()
        assert (line is None) if said is None else said in str(line)


@pytest.mark.parametrize(
    ("line", "is_one"), [("plan: [small]", True), ("plan:", True), (" plan: x", False), ("plans: x", False)]
)
def test_a_folder_is_a_project_if_its_parameters_have_a_plan(
    line: str, is_one: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "params.yaml").write_text(f"# plan:\n{line}\n")
    assert paths.is_project(tmp_path) is is_one
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths.platformdirs, "user_cache_path", lambda name, *, appauthor: tmp_path / name)
    own = tmp_path / "sentbench"
    assert paths.cache() == (Path(".cache") if is_one else own)
    assert paths.made_texts() == paths.cache() / "texts"
    monkeypatch.setenv("SENTBENCH_DATA", "")
    assert paths.data_roots() == ([Path("data")] if is_one else [Path("data"), own / "data"])
    assert paths.is_checkout() is is_one
    declared = Path("leaderboards/tables")
    assert paths.declared(declared) == (declared if is_one else paths.INSTALLED / declared)
    assert paths.declared(Path("docs/speed.md")) == Path("docs/speed.md")
    (tmp_path / "leaderboards").mkdir()
    assert paths.is_checkout() is is_one
    (tmp_path / "recipes").mkdir()
    assert paths.is_checkout()
    paths.need_checkout("it")


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restores all that including changes."""
    import methods
    from harness.data import sources
    from harness.tasks import declared

    for owner, name in ((include, "FOLDERS"), (include, "TASK_MODULES")):
        value = getattr(owner, name)
        copy = type(value)(value)
        monkeypatch.setattr(owner, name, copy)
    included = dict(include.MODULES)
    for module in (include, method_class):
        monkeypatch.setattr(module, "MODULES", included)
    known = dict(registry.METHODS)
    for module in (include, registry, method_class):
        monkeypatch.setattr(module, "METHODS", known)
    monkeypatch.setattr(sources, "SOURCES", dict(sources.SOURCES))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(methods, "__path__", [*methods.__path__])
    monkeypatch.setattr(declared, "__path__", [*declared.__path__])
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        del sys.modules[name]


@pytest.mark.parametrize("part", ["methods", "tasks", "pairs", "recipes", "published", "tables", "models"])
def test_a_folder_with_any_part_is_included_and_one_without_is_not(
    part: str, tmp_path: Path, clean: None
) -> None:
    with pytest.raises(InputError, match="no folder with any of methods, tasks, pairs, recipes, published"):
        include.include(tmp_path)
    (tmp_path / part).mkdir()
    include.include(tmp_path)
    include.include(tmp_path)
    assert include.FOLDERS.count(tmp_path) == 1
    assert str(tmp_path) in sys.path


METHOD = """
import {helper}
from methods.core.method import Method

class Own(Method):
    width = {helper}.WIDTH
"""


def test_a_method_imports_the_modules_next_to_it_which_are_part_of_its_identity(
    tmp_path: Path, clean: None
) -> None:
    """A package of the standard library is no helper."""
    for name in ("helper_of_own.py", "json.py", "not-a-name.py"):
        (tmp_path / name).write_text("WIDTH = 7\n")
    (tmp_path / "package_of_own").mkdir()
    (tmp_path / "package_of_own/part.py").touch()
    (tmp_path / "my_own.py").write_text(METHOD.format(helper="helper_of_own"))
    assert include.include_method(tmp_path / "my_own.py") == "my-own"
    made = registry.load_method("my-own")
    assert made.width == 7  # type: ignore[attr-defined]
    helpers = {name: path for name, path in include.MODULES.items() if path.parent == tmp_path}
    assert helpers == {
        name: tmp_path / name.removeprefix("methods.")
        for name in ("helper_of_own", "package_of_own", "methods.my_own")
    }
    (tmp_path / "my_own.py").write_text(METHOD.format(helper="json"))
    with pytest.raises(InputError, match=r"my_own\.py:6: AttributeError: module 'json' has no"):
        include.include_method(tmp_path / "my_own.py")
    (tmp_path / "my_own.py").write_text("x = 1\n")
    with pytest.raises(InputError, match="must define exactly one subclass of Method"):
        include.include_method(tmp_path / "my_own.py")
    for name in ("simcse.py", "Own.py"):
        (tmp_path / name).touch()
        with pytest.raises(InputError, match=r"exists already; rename it|expected a name of lower-case"):
            include.include_method(tmp_path / name)


def test_a_source_of_an_included_folder_has_a_new_name(tmp_path: Path, clean: None) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs/News.tsv").touch()
    (tmp_path / "pairs/_old.tsv").touch()
    (tmp_path / "pairs/.hidden").touch()
    include.include(tmp_path)
    from harness.data import sources

    assert [name for name in sources.SOURCES if name.endswith("-pairs")] == ["news-pairs"]
    other = tmp_path / "other"
    (other / "pairs").mkdir(parents=True)
    (other / "pairs/news.csv").touch()
    with pytest.raises(InputError, match="source 'news-pairs' exists already; rename it"):
        include.include(other)


def test_included_folders_are_told_to_child_processes(
    tmp_path: Path, clean: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the variable come first, each once."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        (folder / "recipes").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(include, "_entry_points", lambda places: [])
    monkeypatch.setenv("SENTBENCH_INCLUDE", f"{os.pathsep}{one}")
    include.include_all(["two", "one"])
    assert os.environ["SENTBENCH_INCLUDE"] == f"{one}{os.pathsep}{two}"
    assert include.FOLDERS[-2:] == [one, two]
    (one / "recipes/b.yaml").touch()
    (two / "recipes/a.yaml").touch()
    monkeypatch.setattr(paths, "FOLDERS", [one, two])
    assert paths.own_files("recipes", "*.yaml") == [one / "recipes/b.yaml", two / "recipes/a.yaml"]
