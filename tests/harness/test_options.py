"""Options arrive or are refused: an empty value is refused by every option that takes one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import COMMANDS, main, parser_of
from harness.data import providers
from harness.data.download import NotFetched
from harness.data.sources import SOURCES
from harness.models.hub import Unreachable

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
        assert f"argument {option}: expected one argument" in refused(*command.split(), *words)


def test_options_of_many_commands_are_tried() -> None:
    assert len(OPTIONS) > 40
    assert {"report --print", "try --backbone", "stage --data"} <= {" ".join(o) for o in OPTIONS}


@pytest.mark.parametrize(
    ("words", "arrives"),
    [
        (["--providers", "mirror,hub"], {"providers": ["mirror", "hub"], "revision": None}),
        (["--revision", "refs/pr/9"], {"providers": None, "revision": "refs/pr/9"}),
        ([], {"providers": None, "revision": None}),
    ],
)
def test_the_options_of_data_fetch_arrive_at_the_download_of_every_source(
    words: list[str], arrives: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def fetch(name: str, directory: Path, **options: Any) -> Path:
        seen.append(options)
        raise NotFetched("here")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.commands.data.fetch", fetch)
    assert main(["data", "fetch", "stsb", "sickr", *words]) == 2
    assert seen == [arrives, arrives]


@pytest.mark.parametrize("action", ["check", "lock"])
@pytest.mark.parametrize("option", ["--providers", "--revision"])
def test_options_that_an_action_ignores_are_refused(
    action: str, option: str, refused: Callable[..., str]
) -> None:
    assert f"data {action} does not take {option}" in refused("data", action, "stsb", option, "hub")


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
