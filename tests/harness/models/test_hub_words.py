"""Which files of a repository are fetched, what a failure is called, how long is waited, and who is asked."""

import json
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import errors

from harness.errors import InputError
from harness.models import hub
from harness.models.hub import Absent, Unreachable, asked, model_folder, not_asked_again, wanted_files
from harness.paths import ARTEFACTS, BACKBONES, DATA
from tests.support.hub_server import no_pauses


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["config.json", "1_Pooling/config.json"], ["1_Pooling/config.json", "config.json"]),
        (["vocab.txt", "merges.txt", "spiece.model", "chat_template.jinja"], None),
        (["a.safetensors", "2_Dense/model.safetensors"], ["2_Dense/model.safetensors", "a.safetensors"]),
        (["pytorch_model.bin", "pytorch_model-00001-of-00002.bin"], None),
        (["0_Transformer/pytorch_model.bin"], None),
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (["model.safetensors", "2_Dense/pytorch_model.bin"], None),
        (["2_Dense/model.safetensors", "2_Dense/pytorch_model.bin", "pytorch_model.bin"], 2),
        (["training_args.bin", "optimizer.pt", "model.h5", "README.md", "own.py", "model.onnx"], []),
        (["onnx/config.json", "openvino/config.json", "coreml/config.json"], []),
        (["0_T/onnx/config.json", "0_T/openvino/config.json"], []),
        (["runs/a.json", "eval/a.json", "checkpoint-500/model.safetensors"], []),
        (["../config.json", "a/../../config.json", "/config.json", "a\\config.json"], []),
    ],
)
def test_settings_tokenizers_and_weights_of_one_format_are_fetched(names: list[str], wanted: Any) -> None:
    """None: all of them; 2: the last two of three."""
    if wanted == 2:
        wanted = [names[0], names[2]]
    assert wanted_files(names) == sorted(names if wanted is None else wanted)


def response(status: int, **headers: str) -> Any:
    return SimpleNamespace(status_code=status, headers=headers, request=None)


def answer(kind: Any, status: int, **headers: str) -> Exception:
    error: Exception = kind("an answer", response=response(status, **headers))
    return error


def silent(status: int) -> Exception:
    return errors.HfHubHTTPError("", response=response(status))


class TimedOut(errors.HTTPError):
    """A failure of the connection without words."""

    def __init__(self) -> None:
        super().__init__("")


LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
NOT_THE_HUB = "may be a login page; log in to the network or correct HF_ENDPOINT"
AGAIN = "run the same command again"
ACCEPT = (
    "accept the terms on the repository's page, for an upload use a token that may write there, and " + LOG_IN
)
WORDS: list[tuple[Exception, str, bool]] = [
    (
        errors.OfflineModeIsEnabled("x"),
        "HF_HUB_OFFLINE is set; unset it, or name a copy of the hub by SENTBENCH_HUB",
        False,
    ),
    (answer(errors.RemoteEntryNotFoundError, 404), "the repository has no such file at that revision", False),
    (
        answer(errors.RevisionNotFoundError, 404),
        "no such revision; pin a commit with `sentbench data fetch NAME --revision HASH`",
        False,
    ),
    (
        answer(errors.RepositoryNotFoundError, 401),
        f"no such repository, or a private one; correct its name or {LOG_IN}",
        False,
    ),
    (
        answer(errors.GatedRepoError, 403),
        f"access is refused (403): {ACCEPT}",
        False,
    ),
    (
        answer(errors.HfHubHTTPError, 401),
        f"access is refused (401): {ACCEPT}",
        False,
    ),
    (
        answer(errors.HfHubHTTPError, 429),
        "the hub limits requests (429); wait some minutes and run the same command again",
        True,
    ),
    (answer(errors.HfHubHTTPError, 500), "the hub answers 500; run the same command again later", True),
    (answer(errors.HfHubHTTPError, 404), "the hub refuses the request (404): an answer", False),
    (silent(413), "the hub refuses the request (413): without a reason", False),
    (
        errors.HTTPError("no\n route"),
        f"the connection failed (no route); check the network and {AGAIN}",
        True,
    ),
    (TimedOut(), f"the connection failed (TimedOut); check the network and {AGAIN}", True),
    (
        errors.FileMetadataError("x"),
        f"the answer has no commit or no hash of the file and {NOT_THE_HUB}",
        False,
    ),
    (
        UnicodeEncodeError("ascii", "é", 0, 1, "x"),
        "the token has a character outside ASCII; correct HF_TOKEN",
        False,
    ),
    (errors.HFValidationError("a name\nand more"), "a name", False),
    (ValueError("of a\n card"), "of a card", False),
    (json.JSONDecodeError("x", "y", 0), f"the answer is not the hub's and {NOT_THE_HUB}", False),
    (KeyError("id"), f"the answer is not the hub's and {NOT_THE_HUB}", False),
    (OSError("short\nby 3"), f"damaged or another page came in its place (short); {AGAIN}", True),
]


@pytest.mark.parametrize(("error", "words", "temporary"), WORDS, ids=lambda given: type(given).__name__)
def test_every_failure_has_its_words_and_a_temporary_one_is_tried_again(
    error: Exception, words: str, temporary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses, requests = no_pauses(monkeypatch), []

    def request() -> None:
        requests.append(1)
        raise error

    with pytest.raises(Unreachable) as caught:
        asked("a.json of b at c", request)
    assert str(caught.value) == f"a.json of b at c: {words}"
    assert isinstance(caught.value, Absent) is isinstance(error, errors.RemoteEntryNotFoundError)
    assert pauses == ([1, 2, 4, 8] if temporary else [])
    assert len(requests) == (5 if temporary else 1)


def test_a_file_that_could_not_be_replaced_names_the_reason() -> None:
    error = ValueError("force_download")
    error.__cause__ = errors.OfflineModeIsEnabled("x")
    words, temporary = hub._in_words(error)
    assert words.startswith("the file is damaged in the cache, and HF_HUB_OFFLINE is set; ")
    assert not temporary


def test_a_disk_without_a_name_of_a_file_is_the_cache() -> None:
    with pytest.raises(InputError, match=r"^the cache of the hub: cannot be written \(Full\); free space or"):
        hub._in_words(OSError(28, "Full"))


def missing_here(cause: Exception | None) -> Exception:
    error = errors.LocalEntryNotFoundError("not here")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("repeated", "tries"), [(True, 1), (False, 5)])
def test_a_failure_behind_a_missing_file_is_told_and_not_repeated_after_the_client(
    repeated: bool, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses, requests = no_pauses(monkeypatch), []

    def request() -> None:
        requests.append(1)
        raise missing_here(answer(errors.HfHubHTTPError, 503))

    with pytest.raises(Unreachable, match=r"^a file: the hub answers 503; run the same command again later$"):
        asked("a file", request, repeated=repeated)
    assert (len(requests), len(pauses)) == (tries, tries - 1)


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({}, 1),
        ({"Retry-After": "3"}, 3),
        ({"Retry-After": "0"}, 1),
        ({"Retry-After": "Wed, 21 Oct"}, 1),
        ({"ratelimit": '"api";r=0;t=55'}, 55),
        ({"ratelimit": '"api";r=1;t=55'}, 1),
        ({"ratelimit": '"api";r=0;t=55', "Retry-After": "60"}, 60),
        ({"ratelimit": '"api";r=0;t=70', "Retry-After": "60"}, 70),
    ],
)
def test_the_longest_pause_that_the_hub_asks_for_is_kept(headers: dict[str, str], waited: int) -> None:
    error = answer(errors.HfHubHTTPError, 429, **headers)
    assert hub._pause("a file", error, 1) == waited
    assert hub._pause("a file", missing_here(error), 1) == waited


@pytest.mark.parametrize(
    ("error", "asks"),
    [(errors.HTTPError("no route"), 1), (answer(errors.HfHubHTTPError, 404), 3)],
    ids=["no connection", "an answer"],
)
def test_a_hub_without_a_connection_is_asked_once_and_one_that_answers_for_each_file(
    error: Exception, asks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_pauses(monkeypatch)
    monkeypatch.setattr(hub, "PAUSES", ())
    requests = []

    def request() -> None:
        requests.append(1)
        raise error

    with not_asked_again():
        for name in ("one", "two", "three"):
            with pytest.raises(Unreachable, match=f"^{name}: "):
                asked(name, request)
    assert len(requests) == asks
    with pytest.raises(Unreachable):
        asked("later", request)
    assert len(requests) == asks + 1, "outside of the block it is asked again"


@pytest.mark.parametrize("end", [KeyboardInterrupt, InputError, Unreachable, None])
def test_a_hub_is_asked_again_after_a_block_that_ended_in_any_way(
    end: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_pauses(monkeypatch)
    requests = []

    def request() -> None:
        requests.append(1)
        raise errors.HTTPError("no route")

    def block() -> None:
        with not_asked_again():
            with suppress(Unreachable):
                asked("one", request)
            if end:
                raise end("ended")

    with pytest.raises(end) if end else nullcontext():
        block()
    for _ in range(2):
        before = len(requests)
        with pytest.raises(Unreachable):
            asked("later", request)
        assert len(requests) > before


def test_a_failed_request_leaves_the_clients_settings_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants
    from huggingface_hub.utils import logging

    before = constants.DOWNLOAD_CHUNK_SIZE, logging.get_verbosity()
    with pytest.raises(Unreachable):
        asked("a file", lambda: (_ for _ in ()).throw(KeyError("x")))
    assert (constants.DOWNLOAD_CHUNK_SIZE, logging.get_verbosity()) == before


@pytest.mark.parametrize("folder", [DATA, BACKBONES, ARTEFACTS])
def test_a_folder_of_the_pipeline_is_no_name_of_the_hub(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "asked", lambda *given, **options: pytest.fail("the hub is asked"))
    assert model_folder(folder / "not-there") == folder / "not-there"
    assert model_folder("one/two/three") == Path("one/two/three")
    assert model_folder(f"{'a' * 97}/b") == Path(f"{'a' * 97}/b")


@pytest.mark.parametrize(
    ("named", "repo", "revision"),
    [
        ("lab/model", "lab/model", "main"),
        ("lab/model@v1.0", "lab/model", "v1.0"),
        ("l.a-b_/m", "l.a-b_/m", "main"),
        (f"lab/model@{'0' * 40}", "lab/model", "0" * 40),
        ("lab/model@refs/pr/12", "lab/model", "refs/pr/12"),
        (f"{'a' * 96}/{'b' * 96}", f"{'a' * 96}/{'b' * 96}", "main"),
    ],
)
def test_a_name_has_a_repository_and_perhaps_a_revision(
    named: str, repo: str, revision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[Any] = []

    def asking(what: str, request: Callable[[], Any]) -> Any:
        told.append(what)
        return request()

    monkeypatch.setattr(hub, "asked", asking)
    monkeypatch.setattr(hub, "_snapshot", lambda *given: given)
    assert model_folder(named) == (repo, revision)
    assert told == [f"{repo} at {revision}"]


@pytest.mark.parametrize(("given", "endpoint"), [("", None), ("http://a", "http://a"), (None, None)])
def test_an_empty_endpoint_is_none(
    given: str | None, endpoint: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    if given is not None:
        monkeypatch.setenv("HF_ENDPOINT", given)
    assert hub._endpoint() == endpoint
