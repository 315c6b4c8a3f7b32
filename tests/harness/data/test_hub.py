"""Downloads from a hub: resolution, a single request, and bounded pauses; test_hub_faults has more."""

import random

import pytest

from harness.data.hub import commit_of, hub_file
from harness.data.hub_requests import Unreachable
from tests.support.hub_server import XET, Fault, Hub, no_pauses

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SMALL = b"one\ntwo\n"
LARGE = random.Random(0).randbytes(50_000)


@pytest.fixture
def hub(server: Hub) -> Hub:
    """A hub with one model of a small and a large file."""
    files = {"config.json": SMALL, "model.safetensors": LARGE}
    server.add("some/model", files, commit=COMMIT, names=("main", "refs/pr/4"))
    return server


def fetch(name: str, revision: str = COMMIT) -> bytes:
    commit = commit_of("some/model", "model", revision, name)
    return hub_file("some/model", "model", commit, name).read_bytes()


@pytest.mark.parametrize("revision", [COMMIT, "main", "refs/pr/4"])
def test_a_file_has_its_bytes_and_the_commit_that_a_revision_names(hub: Hub, revision: str) -> None:
    """The hub offers the large one by Xet, too; it comes through the plain interface."""
    assert fetch("config.json", revision) == SMALL
    assert fetch("model.safetensors", revision) == LARGE
    assert commit_of("some/model", "model", revision, "config.json") == COMMIT
    assert hub.requests[XET] == 0


@pytest.mark.parametrize(
    ("methods", "seconds", "times", "kept"),
    [
        (["HEAD"], 3600, 1, 0),
        (["GET"], 3600, 1, 0),
        (["HEAD"], 50, 99, 2),
        (["GET"], 50, 99, 2),
        (["HEAD", "GET"], 70, 1, 1),
    ],
)
def test_a_longer_pause_than_two_minutes_in_all_is_not_kept(
    hub: Hub, methods: list[str], seconds: int, times: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an hour at once nor fifty seconds each time; both requests for a file share the limit."""
    pauses = no_pauses(monkeypatch)
    for method in methods:
        fault = Fault("status", status=429, seconds=seconds, times=times, method=method)
        hub.fail("model.safetensors", fault)
    with pytest.raises(Unreachable, match=rf"asks to wait {seconds} s \(429\); .*again later$"):
        hub_file("some/model", "model", COMMIT, "model.safetensors")
    assert pauses == [seconds] * kept
    hub.faults.clear()
    assert fetch("model.safetensors") == LARGE


def test_a_file_of_the_hub_clients_cache_is_used(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import hf_hub_download

    theirs = hf_hub_download("some/model", "config.json", revision=COMMIT, endpoint=hub.url)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *given, **more: theirs)
    before = sum(hub.requests.values())
    assert fetch("config.json") == SMALL
    assert sum(hub.requests.values()) == before


def test_a_token_goes_to_the_hub_alone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert fetch("config.json") == SMALL
    assert fetch("model.safetensors") == LARGE
    assert hub.tokens == {"HEAD config.json", "GET config.json", "HEAD model.safetensors"}
