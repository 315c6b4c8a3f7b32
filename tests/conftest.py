"""Shared fixtures and the environment of all tests: portable arithmetic, no hub."""

import atexit
import gc
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.io import declarations
from harness.process import in_effect, prepare
from tests.support.yaml_files import remembering

prepare()  # before NumPy and torch load
declarations.read_yaml = remembering(declarations.read_yaml)

HOME_OF_TESTS = "SENTBENCH_TESTS_HOME"
"""Names the folder that tests have in place of the user's caches and settings."""


def pytest_configure() -> None:
    assert in_effect() == "portable", "NumPy or torch has loaded before the tests set their environment"
    # what a shell's background or nohup ignores, launches of the tests would ignore too
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ.pop("PYTHONUNBUFFERED", None)  # output is buffered, as where nothing is set
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if HOME_OF_TESTS not in os.environ:  # the workers of a run share the folder of their parent
        home = tempfile.TemporaryDirectory(prefix="sentbench-tests-")
        os.environ[HOME_OF_TESTS] = home.name
        atexit.register(home.cleanup)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HF_HOME"):
        os.environ[name] = os.environ[HOME_OF_TESTS]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = os.environ.get("SENTBENCH_MIRROR")
    if not (folder and Path(folder).is_dir()):
        skip(items, "mirror", "SENTBENCH_MIRROR does not name a folder of evaluation data")
    if any(item.get_closest_marker("gpu") for item in items):
        import torch

        if not torch.cuda.is_available():
            skip(items, "gpu", "no CUDA device here")


def pytest_collection_finish() -> None:
    """Leaves what imports and collection made out of later collections of garbage, and makes those rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def skip(items: list[pytest.Item], marker: str, reason: str) -> None:
    """Skips the tests with a marker."""
    for item in items:
        if item.get_closest_marker(marker):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def providers_as_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allows every provider: a pipeline command restricts them for its process, which later tests share."""
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "")
    monkeypatch.delenv("SENTBENCH_PROVIDERS")


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that succeeds, and returns its output."""

    def text_of(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 0
        return capsys.readouterr().out

    return text_of


@pytest.fixture(autouse=True)
def portable() -> Iterator[None]:
    """A test leaves the arithmetic of the process as it was, for the tests after it."""
    yield
    assert in_effect() == "portable", "the test has changed the environment"


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test sets of a few pairs have intervals."""
    monkeypatch.setattr("harness.report.assembly.pairs.FEWEST_PAIRS", 2)


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command that must be refused, and returns its only line; the exit code must be 2."""
    monkeypatch.setattr("harness.commands.waiting.FIRST", 60.0)  # no progress on a busy machine

    def line_of(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith("sentbench: ")
        assert output.err.count("\n") == 1
        return output.err.rstrip("\n")

    return line_of


@pytest.fixture
def mirror() -> Path:
    """The mirror folder; only for tests marked `mirror`."""
    return Path(os.environ["SENTBENCH_MIRROR"]).resolve()
