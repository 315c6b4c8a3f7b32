"""Bad days: failing modules from outside, folders without a model, permissions, misread friends."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sentbench
from harness import cli
from harness.commands.try_method import pair_of
from harness.errors import InputError
from tests.support import tiny

ROOT = Path(__file__).parents[2]
FAILING = {
    "raise RuntimeError('boom')": r"one\.py:1: RuntimeError: boom",
    "raise SystemExit(0)": r"one\.py:1: SystemExit: 0",
    "x = 1\nraise SystemExit('no')": r"one\.py:2: SystemExit: no",
    "import nowhere": r"one\.py:1: ModuleNotFoundError",
    "def f(:": r"one\.py:1: SyntaxError",
    "class Error(Exception): ...\nraise Error": r"one\.py:2: Error",
}
WRONG = {
    "x = 1": "missing TASKS, the list of its declarations",
    "TASKS = 3": "TASKS is 3, expected a list of Declaration",
    "TASKS = [1]": r"TASKS is \[1\], expected a list of Declaration",
    "TASKS = None": "TASKS is None, expected a list of Declaration",
}


def run(*words: str, folder: Path, mask: str = "022", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command under a umask."""
    command = f'umask {mask}; exec "{sys.executable}" -m harness.cli "$@"'
    return subprocess.run(
        ["sh", "-c", command, "sh", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("code", [*FAILING, *WRONG])
def test_a_task_from_outside_that_fails_or_has_no_declarations_is_one_line(tmp_path: Path, code: str) -> None:
    """In a process of its own: an included folder stays included."""
    (tmp_path / "more/tasks").mkdir(parents=True)
    (tmp_path / "more/tasks/one.py").write_text(f"{code}\n")
    done = run("--include", "more", "list", "tasks", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "Traceback" not in done.stderr
    assert sentbench_line(done.stderr, {**FAILING, **WRONG}[code])


def sentbench_line(text: str, pattern: str) -> bool:
    import re

    return bool(re.match(rf"sentbench: .*{pattern}", text))


@pytest.mark.parametrize("code", FAILING)
def test_a_method_from_outside_that_fails_is_one_line(tmp_path: Path, code: str) -> None:
    (tmp_path / "one.py").write_text(f"{code}\n")
    done = run("try", "one.py", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert sentbench_line(done.stderr, FAILING[code])


@pytest.mark.parametrize("name", ["/", "", ".", "empty", "pictures"])
def test_a_folder_without_a_model_is_refused_before_data_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.commands.vectors.fetch_data", lambda *given: pytest.fail("fetched data"))
    Path("empty").mkdir()
    Path("pictures").mkdir()
    Path("pictures/one.png").write_bytes(b"x")
    said = "no encoder, expected one of" if name else "is not a model"
    assert said in refused("evaluate", name, "--tasks", "STSB")
    assert not Path(".cache").exists()


@pytest.mark.parametrize(
    ("mask", "mode"),
    [
        ("077", 0o600),
        pytest.param("002", 0o664, marks=pytest.mark.thorough),
        pytest.param("022", 0o644, marks=pytest.mark.thorough),
        pytest.param("027", 0o640, marks=pytest.mark.thorough),
    ],
)
def test_outputs_have_the_permissions_of_the_users_umask(tmp_path: Path, mask: str, mode: int) -> None:
    """Files, folders, and weights, which libraries write for their owner only."""
    code = (
        "from pathlib import Path; from tests.support import tiny\n"
        "from harness.io.outputs import new_folder\n"
        "from harness.io.files import write_json\n"
        "tiny.sentence_encoder(tiny.write_backbone(Path('bert'))).save(Path('encoder'))\n"
        "with new_folder(Path('made'), 'files.json') as part:\n"
        "    (part / 'inner').mkdir()\n"
        "    for path in (part / 'weights', part / 'inner/weights'):\n"
        "        path.write_bytes(b'x'); path.chmod(0o600)\n"
        "write_json(Path('record.json'), {})\n"
    )
    command = f'umask {mask}; exec "{sys.executable}" -c "$0"'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        ["sh", "-c", command, code], cwd=tmp_path, env=environment, check=True, capture_output=True
    )
    written = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    files = {
        name: stat.S_IMODE(path.stat().st_mode)
        for name, path in written.items()
        if not name.startswith("bert/")
    }
    assert files == dict.fromkeys(files, mode)
    assert {"encoder/model.safetensors", "made/weights", "made/inner/weights", "record.json"} <= files.keys()
    folder = mode | (mode & 0o444) >> 2
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == folder


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(".1", 0.1), ("-.5", -0.5), ("+1", 1.0), ("1.", 1.0), ("1e-3", 1e-3), (".5e1", 5.0), ("2", 2)],
        *[("true", True), ("nan", "nan"), ("inf", "inf"), ("1_0", "1_0"), (".", "."), ("cls", "cls")],
    ],
)
def test_a_setting_is_a_number_as_python_writes_it(text: str, value: object) -> None:
    assert pair_of(f"temperature={text}", "--set") == ("temperature", value)


@pytest.mark.parametrize("size", [np.int64(4), np.uint8(4), 4])
def test_a_batch_size_may_be_an_integer_of_numpy(size: int) -> None:
    seen = []

    class Model:
        def encode(self, texts: list[str], batch_size: int) -> np.ndarray:
            seen.append(batch_size)
            return np.array([[len(text), text.count("a")] for text in texts], np.float32)

    pairs = sentbench.pairs([("a dog", "a", 1.0), ("two", "a a a", 2.0), ("b", "cat", 3.0)], name="own")
    sentbench.evaluate(Model(), [pairs], batch_size=size)
    assert seen == [4]
    assert type(seen[0]) is int
    with pytest.raises(InputError, match="expected an integer from 1"):
        sentbench.evaluate(Model(), [pairs], batch_size=np.float32(4))  # type: ignore[arg-type]


def test_an_included_file_of_pairs_may_have_capitals_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "more/pairs").mkdir(parents=True)
    (tmp_path / "more/pairs/News.tsv").write_text("a dog\ta cat\t1\ntwo dogs\ta house\t2\n")
    done = run("--include", "more", "list", "tasks", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "News" in done.stdout


def test_a_python_without_docstrings_is_named_and_not_the_folder(tmp_path: Path) -> None:
    """transformers cannot be imported without them."""
    tiny.write_backbone(tmp_path / "bert")
    words = ("evaluate", "bert", "--pooling", "cls", "--tasks", "STSB")
    done = run(*words, folder=tmp_path, PYTHONOPTIMIZE="2")
    assert done.returncode == 2
    assert (
        done.stderr
        == "sentbench: PYTHONOPTIMIZE=2 removes docstrings, which transformers reads; use 0 or 1\n"
    )


def test_a_full_disk_is_named_where_the_system_names_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def full(words: list[str]) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "run_command", full)
    monkeypatch.setattr(
        "harness.cli.shutil.disk_usage", lambda path: SimpleNamespace(free=0 if path == Path() else 2**30)
    )
    assert cli.main(["list"]) == 2
    line = f"sentbench: the current folder ({tmp_path}): No space left on device; free space"
    assert capsys.readouterr().err.startswith(line)


def test_a_second_training_of_a_run_names_the_run(refused: Callable[..., str]) -> None:
    from harness.io.locks import alone

    with (
        alone("training 0123"),
        pytest.raises(InputError, match=r"^training simcse: already running"),
        alone("training 0123", shown="training simcse"),
    ):
        pass


def test_blanks_around_a_name_do_not_count_and_a_wrong_name_is_a_short_line(
    capsys: pytest.CaptureFixture[str], refused: Callable[..., str]
) -> None:
    assert cli.main(["verify", " pcl/table2", "SimCSE ", " Avg "]) == 0
    padded = capsys.readouterr().out
    assert cli.main(["verify", "pcl/table2", "SimCSE", "Avg"]) == 0
    assert capsys.readouterr().out == padded
    assert len(refused("verify", "pcl/table2", "Nope", "Avg")) < 160
