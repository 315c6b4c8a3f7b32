"""`sentbench mteb` without the library: waiting for the hub, copies of the mirror, and what mteb is given."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from harness.commands import mteb
from harness.errors import InputError
from tests.support.recording import Calls


@pytest.mark.parametrize(
    ("fault", "answers"),
    [
        (None, True),
        (HTTPError("a", 503, "b", {}, None), True),  # type: ignore[arg-type]
        (URLError("no network"), False),
        (TimeoutError(), False),
        (ValueError("unknown url type"), False),
    ],
)
def test_a_hub_that_answers_anything_is_there(
    fault: Exception | None, answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def open_(request: Any, *, timeout: float) -> Any:
        asked.append((request.full_url, request.get_method(), timeout))
        if fault is not None:
            raise fault
        return nullcontext()

    monkeypatch.setattr(mteb, "urlopen", open_)
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    assert mteb.hub_answers(2.0) is answers
    monkeypatch.delenv("HF_ENDPOINT")
    assert mteb.hub_answers() is answers
    assert asked == [
        ("https://mirror.example", "HEAD", 2.0),
        ("https://huggingface.co", "HEAD", 5.0),
    ]


@pytest.mark.parametrize(
    ("copies", "answers", "offline"), [(1, False, True), (1, True, False), (2, False, False)]
)
def test_the_hub_is_waited_for_only_if_it_answers(
    copies: int, answers: bool, offline: bool, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    """Not at all if the mirror has all tasks; the line of a score has its four decimals and its data."""
    score = SimpleNamespace(task="STS12", metric="m", value=0.123456, data_revision="local", file="f.json",
                            _asdict=dict)  # fmt: skip
    ran: list[Any] = []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    for name, answer in (
        ("compute_with", lambda arithmetic: ran.append(arithmetic)),
        ("check_encoder_folder", lambda folder: ran.append(folder)),
        ("check_addition", lambda folder: ran.append(folder)),
        ("_copies", lambda tasks: tasks[:copies]),
        ("hub_answers", lambda: answers),
        ("run_folder", lambda folder, tasks, **more: (mteb.Identity("n", "r", {}), [score])),
    ):
        monkeypatch.setattr(mteb, name, answer)
    shown = printed("mteb", "there", "--tasks", "STS12,STS13")
    assert os.environ.get("HF_HUB_OFFLINE") == ("1" if offline else None)
    assert ran == ["native", Path("there"), mteb.cache() / "mteb"]
    assert shown.splitlines()[0] == "n revision r"
    assert shown.splitlines()[1].split() == ["STS12", "m", "0.1235", "data", "local", "f.json"]


def test_tasks_of_the_mirror_are_scored_there_and_all_scores_are_in_the_given_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = Calls(monkeypatch)
    placed: list[str] = []
    encoder = SimpleNamespace(to=placed.append)
    adapter = "harness.tasks.mteb_adapter"
    identity = mteb.Identity("name", "revision", {"seed": 3})
    calls.replace("harness.models.read:read_encoder", lambda folder, **more: encoder)
    calls.replace("harness.commands.mteb:resolve_device", lambda wanted: f"device {wanted}")
    calls.replace("harness.commands.mteb:mteb_identity", lambda folder, **more: identity)
    calls.replace(f"{adapter}:count_parameters", lambda encoder: 7)
    calls.replace(f"{adapter}:MtebModel", lambda encoder, **more: "model")
    calls.replace(
        f"{adapter}:run_mteb", lambda model, tasks, **more: [SimpleNamespace(task=name) for name in tasks]
    )
    monkeypatch.setattr("harness.data.providers.mirror_folder", lambda: Path("mirror"))
    monkeypatch.setattr(mteb, "_copies", lambda tasks: ["STS16", "STS12"])
    monkeypatch.setattr(mteb, "quiet", lambda: placed.append("quiet"))
    monkeypatch.setattr(mteb.sys.stderr, "isatty", lambda: True, raising=False)
    tasks = ["STS16", "BIOSSES", "STS12", "AskUbuntu"]
    got, scores = mteb.run_folder(Path("there"), tasks, out=Path("out"), pooling="cls", device="cpu")
    assert got == identity
    assert [score.task for score in scores] == tasks
    assert placed == ["quiet", "device cpu"]
    (model,) = (arguments for name, arguments in calls.seen if name == "MtebModel")
    assert {name: model[name] for name in ("name", "revision", "experiment", "parameters")} == {
        "name": "name",
        "revision": "revision",
        "experiment": {"seed": 3},
        "parameters": 7,
    }
    assert calls.values("run_mteb.tasks") == [["BIOSSES", "AskUbuntu"], ["STS16", "STS12"]]
    assert calls.values("run_mteb.out") == [Path("out")] * 2
    assert calls.values("run_mteb.local") == [None, Path("mirror/mteb")]
    assert calls.values("run_mteb.progress") == [True, True]
    with pytest.raises(InputError, match="name at least one mteb task"):
        mteb.run_folder(Path("there"), [], out=Path("out"))


@pytest.mark.parametrize(
    ("order", "used"),
    [
        ("mirror", True),
        ("mirror,hub", True),
        ("embedded,mirror", True),
        ("hub,mirror", False),
        ("embedded,hub", False),
    ],
)
def test_a_copy_of_the_mirror_is_used_unless_the_hub_comes_first(
    order: str, used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.tasks.mteb_adapter import LOCAL_STS

    first, second, *_ = LOCAL_STS
    path = tmp_path / "mteb" / LOCAL_STS[second] / "test.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setenv("SENTBENCH_MIRROR", str(tmp_path))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", order)
    assert mteb._copies([first, second, "BIOSSES"]) == [second] * used
    monkeypatch.delenv("SENTBENCH_MIRROR")
    assert mteb._copies([first, second]) == []
