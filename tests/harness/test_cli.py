"""The command line: bad input is one line and exit code 2; --json prints only one JSON object."""

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sentbench
from harness.cli import EXTRAS, main
from harness.command_line import COMMAND_GROUPS, COMMANDS, module_of, parser_of, public
from harness.tasks.registry import SUITES
from tests.faults.small_project import write_stsb
from tests.support import tiny

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with the code, the committed plan, STS-B of eight pairs a split and a tiny encoder."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    for package in ("methods", "harness", "recipes"):
        (tmp_path / package).symlink_to(ROOT / package)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(tmp_path)
    write_stsb(tmp_path / "data/stsb")
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    encoder.save(tmp_path / "encoder")
    return tmp_path


RUN = "simcse-small__words-50d__s0"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["stage", "train", "simcse-smal__words-50d__s0", "--out", "a"], f"did you mean {RUN}"),
        (["stage", "train", RUN, "--out", "a", "--device", "cpu"], "data/wiki-small|backbones/words-50d"),
        (["evaluate", "encoder", "--tasks", "STSBB"], "did you mean STSB"),
        (["evaluate", "encodr", "--tasks", "STSB"], "did you mean encoder"),
        (["evaluate", "bert", "--tasks", "STSB"], "give --pooling"),
        (["report"], "no scores of the plan"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    project: Path, refused: Callable[..., str], command: list[str], message: str
) -> None:
    line = refused(*command)
    assert any(part in line for part in message.split("|")), line


@pytest.mark.usefixtures("few_pairs")
def test_evaluate_prints_points_with_heads_and_intervals(project: Path, printed: Callable[..., str]) -> None:
    command = ["evaluate", "encoder", "--tasks", "STSB", "--text", "raw", "--interval"]
    heads, spearman, *_ = printed(*command).splitlines()
    assert heads.split() == ["task", "metric", "over", "score", "95", "%", "interval", "n"]
    task, metric, setting, score, low, _, high, n = spearman.split()
    assert (task, metric, setting, n) == ("STSB", "spearman", "all", "8")
    assert float(low) <= float(score) <= float(high)
    raw = json.loads(printed(*command, "--json"))["scores"][0]
    points = [f"{100 * value:.2f}" for value in (raw["value"], *raw["interval"])]
    assert points == [score, low, high]


@pytest.mark.usefixtures("few_pairs")
def test_evaluate_writes_each_file_that_is_named_by_its_ending(
    project: Path, printed: Callable[..., str]
) -> None:
    printed("evaluate", "encoder", "--tasks", "STSB", "--out", "two.csv", "--out", "two.md")
    assert Path("two.csv").read_text().startswith("model,task,")
    assert "| encoder |" in Path("two.md").read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_module_with_a_function_help_and_an_example_that_it_takes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = module_of(name)
    command, *words = shlex.split(COMMANDS[name].example)
    assert command == name
    parser_of(name).parse_args(words)
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: sentbench {name} ")
    assert COMMANDS[name].summary.split()[-1] in shown
    assert "".join(shown.split()).endswith("".join(f"example: sentbench {COMMANDS[name].example}".split()))
    assert callable(module.execute)


def test_the_version_names_the_package_the_commit_and_the_arithmetic(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.process.in_effect", lambda: "portable")
    assert main(["--version"]) == 0
    output = capsys.readouterr().out
    commit = r"( \(commit [0-9a-f]{7,}(, changed)?\))?"
    assert re.fullmatch(f"sentbench {sentbench.__version__}{commit}, portable arithmetic\n", output)
    assert ("commit" in output) is (ROOT / ".git").exists()


@pytest.mark.parametrize(("package", "extra"), EXTRAS.items())
def test_a_package_that_is_not_installed_is_one_line_that_names_its_extra(
    package: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(words: object) -> int:
        raise ModuleNotFoundError(f"No module named '{package}.models'", name=f"{package}.models")

    monkeypatch.setattr("harness.cli.run_command", lacking)
    assert main(["mteb"]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"sentbench: {package} is not installed; ")
    package_of_extra = {"pipeline": "dvc", "mteb": "mteb", "launch-ray": "ray", "launch-slurm": "submitit"}
    assert re.search(f" -m pip install '{package_of_extra[extra]}[<>]", line)
    assert "sentbench[" not in line
    package = "torch"
    with pytest.raises(ModuleNotFoundError, match="torch"):
        main(["list"])


def test_outside_of_a_checkout_no_line_installs_dvc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(words: object) -> int:
        raise ModuleNotFoundError("No module named 'dvc'", name="dvc")

    monkeypatch.setattr("harness.cli.run_command", lacking)
    monkeypatch.chdir(tmp_path)
    assert main(["launch"]) == 2
    assert capsys.readouterr().err == "sentbench: launch: run this in a checkout of the project\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "x", "--jsn"], "did you mean --json"),
        (["evaluate", "x", "--pooling", "men"], "did you mean mean"),
        (["plan", "small", "--seeds", "few"], "argument --seeds: invalid int value: 'few'"),
        (["--vrsion"], "did you mean --version"),
    ],
)
def test_wrong_arguments_are_one_line_with_near_matches(
    words: list[str], message: str, refused: Callable[..., str]
) -> None:
    line = refused(*words)
    assert message in line
    assert "--help` shows what is expected" in line


@pytest.mark.parametrize(
    ("words", "continues"),
    [
        (f"stage train {RUN} --out a", "with --resume"),
        ("verify una/table1 UNA Avg", "incomplete outputs are removed"),
    ],
)
def test_an_interrupt_names_the_continuation_if_there_is_one(
    words: str, continues: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module_of(words.split()[0]), "execute", interrupted)
    assert main(words.split()) == 130
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert continues in line


def processor_seconds(*words: str) -> tuple[float, str]:
    """Returns the processor time of a command, interpreter included, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def test_help_starts_at_once_and_a_list_soon() -> None:
    """The best of three, in processor time, which other work on the machine does not lengthen."""
    actual = [processor_seconds("--help") for _ in range(3)]
    assert min(actual)[0] < 0.3
    assert all(f"\n  {name} " in actual[0][1] for name in public())
    assert min(processor_seconds("list", "tables") for _ in range(3))[0] < 1


def test_the_help_is_a_screen_of_commands_by_who_uses_them_and_names_no_stage() -> None:
    shown = processor_seconds("--help")[1].splitlines()
    assert len(shown) <= 40
    assert max(map(len, shown)) <= 80
    listed = [line.split()[0] for line in shown if line.startswith("  ") and not line.startswith("   ")]
    assert listed[1:] == public()  # after -h
    assert sorted(public()) == sorted({*COMMANDS} - {"stage"})
    assert len(public()) <= 14
    assert not [line for line in shown if " stage " in line]
    assert [line for line in shown if line in {f"{group}:" for group in COMMAND_GROUPS}] == [
        f"{g}:" for g in COMMAND_GROUPS
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("trian x --out y", "'trian' is not a command, expected one of verify, list,"),
        ("trian x --out y", "did you mean stage train"),
        ("stage trian x", "argument stage: invalid choice: 'trian' (choose from 'entries', 'data',"),
        ("stage trian x", "did you mean train"),
        ("stage", "the following arguments are required: stage"),
        ("stage verify", "invalid choice: 'verify'"),
        ("stage train x", "stage train: missing --out"),
        ("stage evaluate", "stage evaluate: missing name"),
        ("stage evaluate x --out y", "stage evaluate takes no --out"),
        ("stage backbone x --device cpu", "stage backbone takes no --device"),
        ("stage entries --data x", "stage entries takes no --data"),
        ("stage teacher x --resume", "stage teacher takes no --resume"),
        ("stage fingerprint x", "stage fingerprint takes no name"),
    ],
)
def test_a_stage_takes_its_own_arguments_alone(words: str, message: str, refused: Callable[..., str]) -> None:
    assert message in refused(*words.split())


def test_a_checkout_with_other_code_than_runs_is_refused_and_a_copy_of_it_is_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[..., str],
    printed: Callable[..., str],
) -> None:
    """Data and results would be hashed with the code of the folder, which does not run."""
    for package in ("harness", "methods", "leaderboards", "recipes"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert "simcse" in printed("list", "methods")
    with (tmp_path / "methods/simcse/method.py").open("a") as file:
        file.write("CHANGED = 1\n")
    line = refused("list", "methods")
    assert f"checkout {tmp_path}, and the command runs the other code of {ROOT};" in line
    assert f"use {tmp_path}/.venv, or run `python -m pip install -e .` here" in line
    (tmp_path / "params.yaml").unlink()  # the layout of this repository without a plan: a folder of one's own
    assert "simcse" in printed("list", "methods")


def test_tasks_are_listed_with_their_suite_and_suites_with_their_tasks(printed: Callable[..., str]) -> None:
    listed = {entry["name"]: entry for entry in json.loads(printed("list", "tasks", "--json"))}
    assert listed["SICK-E"] == {"name": "SICK-E", "suite": "nli", "tasks": None}
    assert listed["nli"] == {"name": "nli", "suite": None, "tasks": ["SICK-E", "SNLI"]}
    assert listed["SICKR-mteb"] == {"name": "SICKR-mteb", "suite": None, "tasks": None}
    assert [name for name in SUITES["sts"] if listed[name]["suite"] != "sts"] == []
    lines = {line.split()[0]: line.split(maxsplit=2)[1:] for line in printed("list", "tasks").splitlines()}
    assert (lines["SNLI"], lines["nli"]) == (["nli", "-"], ["-", "SICK-E, SNLI"])


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_lacks_a_character_shows_its_code(encoding: str, tmp_path: Path) -> None:
    """A path may hold bytes that are no characters, and any terminal lacks some characters."""
    code = "from harness.cli import main; main(['list', 'tables']); print('caf\\xe9 \\u2192 a\\udcff')"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    words = {"ascii": r"caf\xe9 \u2192", "latin-1": r"café \u2192", "utf-8": "café →"}
    assert ended.stdout.decode(encoding).splitlines()[-1] == words[encoding] + r" a\udcff"
