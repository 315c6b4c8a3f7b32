"""Options arrive or are refused, on every way through a command; an empty value is refused."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import main
from harness.command_line import COMMANDS, parser_of
from harness.commands import stage
from harness.data import providers
from harness.data.sources import SOURCES
from harness.models.hub import Unreachable
from tests.harness.option_rows import WAYS as ROWS
from tests.harness.option_rows import Arrives, Given, InTurn, Refused, Shows, Way
from tests.harness.option_rows_of_models import WAYS as ROWS_OF_MODELS
from tests.support.recording import Calls, Reached

ROOT = Path(__file__).parents[2]

OPTIONS = [
    (name, option)
    for name in COMMANDS
    for action in parser_of(name)._actions
    if action.nargs != 0
    for option in action.option_strings
    if option.startswith("--")
]


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_an_empty_value_of_an_option_is_refused(
    command: str, option: str, refused: Callable[..., str]
) -> None:
    for words in ([option, ""], [f"{option}="]):
        assert f"argument {option}: its value is empty" in refused(*command.split(), *words)


def test_options_of_many_commands_are_tried() -> None:
    assert len(OPTIONS) > 40
    assert {"report --print", "try --backbone", "stage --data"} <= {" ".join(o) for o in OPTIONS}


def cases() -> Iterator[Any]:
    """Yields each argument of each command, from its table of arguments, on each way."""
    for name, command in COMMANDS.items():
        for way, steps in (ROWS | ROWS_OF_MODELS)[name]():
            for argument in import_module(command.module).ARGUMENTS:
                kept = steps._replace(stubs=dict(steps.stubs))
                yield pytest.param(kept, argument, id=f"{name}, {way}: {argument}")


WAY = {
    ("data", "action"),
    ("compare", "before"),
    ("compare", "after"),
    ("stage", "stage"),
    ("launch", "--on"),
}
"""Arguments that choose the way through their command."""
ELSEWHERE = {("check", "--format")}
"""Has an effect only next to a problem: tests/harness/check/test_check.py."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_arrives_on_some_way(name: str) -> None:
    """A row that only refuses an argument, or says that it has no effect, needs a row that it arrives by."""
    ways = [steps.rows for _, steps in (ROWS | ROWS_OF_MODELS)[name]()]
    for argument in import_module(COMMANDS[name].module).ARGUMENTS:
        arrives = any(isinstance(rows[argument], Arrives | Given | Shows) for rows in ways)
        assert arrives or (name, argument) in WAY | ELSEWHERE, argument


@pytest.mark.parametrize(("way", "argument"), [*cases()])
def test_an_argument_arrives_or_is_refused(
    way: Way,
    argument: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A new argument without a row fails here."""
    for name in ("recipes", "leaderboards"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    row = way.rows[argument]

    def run(more: list[str]) -> tuple[int, str, Calls]:
        with monkeypatch.context() as patch:
            calls, code = Calls(patch), 0
            for target, answer in way.stubs.items():
                calls.replace(target, answer)
            capsys.readouterr()
            with suppress(Reached):
                code = main([*way.words, *more])
            return code, "".join(capsys.readouterr()), calls

    if isinstance(row, Refused):
        code, output, _ = run(row.words)
        assert (code, output.count("\n")) == (2, 1)
        assert argument in output
    elif isinstance(row, Shows):
        assert [row.check(run(more)[1]) for more in (row.words, [])] == [True, False]
    elif isinstance(row, Arrives | Given):
        more = row.words if isinstance(row, Arrives) else []
        code, _, calls = run(more)
        assert code == 0
        for where, value in row.at.items():
            assert calls.values(where)
            found = calls.values(where)
            expected = [*value] if isinstance(value, InTurn) else [value] * len(found)
            assert found == expected, where
            if more:
                usual = run([])[2].values(where)
                assert not usual or all(other != found[0] for other in usual), where


@pytest.mark.parametrize("revision", [None, "refs/pr/9"])
def test_a_revision_arrives_at_the_hub(revision: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The given one, or the one that the table of sources names."""
    asked: list[str] = []

    def file(repo: str, repo_type: str, asked_for: str, name: str) -> None:
        asked.append(asked_for)
        raise Unreachable("here")

    monkeypatch.setattr(providers, "hub_file", file)
    provider = SOURCES["unsup-simcse-bert-base-uncased"].providers["hub"]
    with pytest.raises(providers.Unavailable):
        providers.bring("hub", provider, ["config.json"], Path(), revision)
    assert asked == [revision or provider.revision]


@pytest.mark.parametrize("device", ["cpu", "cuda", "auto"])
@pytest.mark.parametrize(("name", "decides"), [("teacher", "compute_on"), ("corpus", "device_for")])
def test_the_device_of_a_stage_arrives_where_it_is_chosen(
    name: str, decides: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch)
    calls.replace(f"harness.commands.stage:{decides}", None)
    for step in ("check_present", "check_folder", "compute_with", "room_of"):
        monkeypatch.setattr(stage, step, lambda *given, **options: 1)
    entry = SimpleNamespace(arithmetic="native", views=[], origin="data/a", tool="data/a")
    params: Any = SimpleNamespace(teacher=lambda name: entry, corpora={"a": entry})
    with pytest.raises(Reached):
        getattr(stage, f"make_{name}")(params, "a", device=device)
    (seen,) = (arguments for called, arguments in calls.seen if called == decides)
    assert [*seen.values()] == ["native", device]
