"""Files of the hub: their bytes and commit, cut and damaged downloads, tokens; one line for a failure."""

import random

import pytest

from harness.errors import InputError
from harness.models.hub import CUT_LOSS, MOST_WAIT, Unreachable, asked, hub_file, model_folder
from tests.support.hub_server import Fault, Hub, no_pauses

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SMALL = b"one\ntwo\n"
LARGE = random.Random(0).randbytes(1_000_000)


@pytest.fixture
def hub(server: Hub) -> Hub:
    """A hub with one model of a small and a large file."""
    files = {"config.json": SMALL, "model.safetensors": LARGE}
    server.add("some/model", files, commit=COMMIT, names=("main", "refs/pr/4"))
    return server


def fetch(name: str, revision: str = COMMIT) -> bytes:
    path, commit = hub_file("some/model", "model", revision, name)
    assert commit == COMMIT
    return path.read_bytes()


@pytest.mark.parametrize("revision", [COMMIT, "main", "refs/pr/4"])
def test_a_file_has_its_bytes_and_the_commit_that_a_revision_names(hub: Hub, revision: str) -> None:
    assert fetch("config.json", revision) == SMALL
    assert fetch("model.safetensors", revision) == LARGE


def test_a_request_leaves_the_clients_settings_as_they_were() -> None:
    """They are of the whole process, which another program may share."""
    from huggingface_hub import constants
    from huggingface_hub.utils import logging

    before = constants.DOWNLOAD_CHUNK_SIZE, logging.get_verbosity()
    seen = asked("a file", lambda: (constants.DOWNLOAD_CHUNK_SIZE, logging.get_verbosity()))
    assert seen == (CUT_LOSS, logging.ERROR)
    assert (constants.DOWNLOAD_CHUNK_SIZE, logging.get_verbosity()) == before


@pytest.mark.parametrize("after", [CUT_LOSS, 300_000])
def test_a_download_that_is_cut_everywhere_arrives(hub: Hub, after: int) -> None:
    """Every connection ends after the same number of bytes, far from the end of the file."""
    hub.fail("model.safetensors", Fault("short", times=99, after=after))
    assert fetch("model.safetensors") == LARGE
    assert hub.sent["model.safetensors"] < 2 * len(LARGE)


def test_a_damaged_file_of_the_cache_is_downloaded_again_or_named(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = hub_file("some/model", "model", COMMIT, "config.json")
    path.resolve().write_bytes(b"one\ntwO\n")
    assert fetch("config.json") == SMALL
    path.resolve().write_bytes(b"one\ntwO\n")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        Unreachable, match=r"^config\.json of some/model .* damaged in the cache, and HF_HUB_OFF"
    ):
        fetch("config.json")


def test_a_download_that_is_damaged_each_time_leaves_no_file(hub: Hub) -> None:
    from huggingface_hub import try_to_load_from_cache

    hub.fail("config.json", Fault("damage", times=99))
    with pytest.raises(Unreachable, match="its hash differs from the one that the hub states"):
        fetch("config.json")
    cached = try_to_load_from_cache("some/model", "config.json", revision=COMMIT)
    assert not isinstance(cached, str)


def test_a_file_of_the_hub_clients_cache_is_not_requested(hub: Hub) -> None:
    from huggingface_hub import hf_hub_download

    hf_hub_download("some/model", "config.json", revision=COMMIT, endpoint=hub.url)
    before = sum(hub.requests.values())
    assert fetch("config.json") == SMALL
    assert sum(hub.requests.values()) == before


def test_a_token_goes_to_the_hub_alone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch("config.json")
    fetch("model.safetensors")
    assert hub.tokens == {"HEAD config.json", "GET config.json", "HEAD model.safetensors"}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("page"), "the answer is not the hub's and may be a login page; log in to the network"),
        (Fault("login"), "the answer is not the hub's and may be a login page; log in to the network"),
        (
            Fault("gated", 9),
            r"access is refused \(403\): accept the terms .* `hf auth login` or set HF_TOKEN$",
        ),
        (Fault("no-repository", 9), "no such repository, or a private one; correct its name or log in"),
        (Fault("status", 99, status=503), "the hub answers 503; run the same command again later$"),
        (
            Fault("hang-up", 99),
            r"the connection failed \(.*\); check the network and run the same command again",
        ),
    ],
)
def test_a_list_of_files_that_does_not_arrive_is_one_line(hub: Hub, fault: Fault, words: str) -> None:
    hub.fail("the list of files", fault)
    with pytest.raises(InputError, match=rf"^some/model: [^\n]*: some/model at main: {words}[^\n]*"):
        model_folder("some/model")


@pytest.mark.parametrize(
    "fault", [Fault("status", 2, status=503), Fault("status", 3, status=429, seconds=50)]
)
def test_a_list_of_files_is_requested_again_after_the_pauses_that_the_hub_asks_for(
    hub: Hub, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = no_pauses(monkeypatch)
    asked_pause, times = fault.seconds, fault.times
    hub.fail("the list of files", fault)
    assert (model_folder("some/model") / "config.json").read_bytes() == SMALL
    assert pauses == [max(pause, asked_pause) for pause in (1, 2, 4)][:times]


@pytest.mark.parametrize(("seconds", "kept"), [(MOST_WAIT, 1), (MOST_WAIT + 1, 0)])
def test_a_pause_of_more_than_two_minutes_is_not_kept(
    hub: Hub, seconds: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = no_pauses(monkeypatch)
    hub.fail("the list of files", Fault("status", status=429, seconds=seconds))
    if kept:
        model_folder("some/model")
    else:
        with pytest.raises(InputError, match="limits requests"):
            model_folder("some/model")
    assert pauses == [seconds] * kept


def test_a_failure_of_the_disk_names_the_place() -> None:
    def full() -> None:
        raise OSError(28, "No space left on device", "/cache/blob")

    with pytest.raises(
        InputError, match=r"^/cache/blob: cannot be written \(No space left on device\); free space"
    ):
        asked("a file", full)


@pytest.mark.parametrize("uploads", [False, True])
def test_the_client_says_how_long_it_waits_during_an_upload(uploads: bool) -> None:
    from huggingface_hub.utils import logging

    logging.set_verbosity(before := logging.INFO)
    inside = asked("a file", logging.get_verbosity, uploads=uploads)
    assert (inside == before) == uploads
    assert logging.get_verbosity() == before
    logging.set_verbosity_warning()


@pytest.mark.parametrize("answer", [{}, [], {"id": "some/model"}, "words", None])
def test_an_answer_that_is_json_of_another_server_is_one_line(
    hub: Hub, answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.hub_server import _Handler

    monkeypatch.setattr(_Handler, "_list", lambda self, *given: self._send_json(answer))
    with pytest.raises(InputError, match=r"the answer is not the hub's"):
        model_folder("some/model")
