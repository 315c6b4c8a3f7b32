"""Requests to the hub, repeated after pauses; errors are one line."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
PAUSES = (1, 2, 4, 8)
"""Seconds before each retry of a failed request, unless the hub asks for more."""
MOST_WAIT = 120
"""Most seconds of pauses that the hub may request per file."""

CONTINUE_COMMAND = "run the same command again: it continues where it stopped"
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
PIN = "pin a commit with `sentbench data fetch NAME --revision HASH`"

_NO_ANSWER: ContextVar[list[str] | None] = ContextVar("_NO_ANSWER", default=None)


class Unreachable(Exception):
    """Raised if the hub does not deliver a file; the message names file, repository, reason and remedy."""


class Absent(Unreachable):
    """Raised if the repository has no such file at that commit."""


@contextmanager
def not_asked_again() -> Iterator[None]:
    """Inside the context an unreachable hub is asked once, not once per file."""
    token = _NO_ANSWER.set([])
    try:
        yield
    finally:
        _NO_ANSWER.reset(token)


@dataclass
class HubFile:
    """A requested file. waited: seconds of pauses that the hub requested."""

    repo: str
    repo_type: str
    revision: str
    name: str
    waited: int = 0

    def metadata(self) -> Any:
        """Returns the file's current commit, ETag, size and location on the hub."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        endpoint = os.environ.get("HF_ENDPOINT") or None
        which = {"repo_type": self.repo_type, "revision": self.revision, "endpoint": endpoint}
        url = hf_hub_url(self.repo, self.name, **which)
        stated = self.asked(lambda: get_hf_file_metadata(url, endpoint=endpoint))
        if not ETAG.fullmatch(stated.etag or ""):
            raise Unreachable(
                f"{self}: the answer has no hash of the file and may be a login page; log in to the "
                f"network or correct HF_ENDPOINT"
            )
        return stated

    def asked(self, request: Callable[[], Any], part: Path = Path()) -> Any:
        """Returns the result of a request; repeats it after pauses if the failure may be temporary.

        part: the file that requests append to; progress resets the pauses.
        Errors: Unreachable.
        """
        from huggingface_hub.errors import HTTPError

        no_answer = _NO_ANSWER.get()
        if no_answer:
            raise Unreachable(f"{self}: {no_answer[0]}")
        pauses, before = iter(PAUSES), size_of(part)
        while True:
            try:
                return request()
            except (HTTPError, OSError) as error:
                reason, asked = self._reason(error)
                unanswered = type(error).__name__ in ("ConnectError", "ConnectTimeout")
            if size_of(part) > before:
                pauses, before = iter(PAUSES), size_of(part)
            pause = next(pauses, None)
            if pause is None:
                if no_answer is not None and unanswered:
                    no_answer.append(reason)
                raise Unreachable(f"{self}: {reason}")
            time.sleep(max(pause, asked))

    def _reason(self, error: Exception) -> tuple[str, int]:
        """Returns the reason of a failed request, and the pause that the hub requested.

        Errors: Unreachable for a permanent failure; OSError of a local file.
        """
        from huggingface_hub import errors

        if isinstance(error, errors.OfflineModeIsEnabled):
            offline = "HF_HUB_OFFLINE is set; unset it, or name a copy of the hub by SENTBENCH_HUB"
            raise Unreachable(f"{self}: {offline}") from None
        if isinstance(error, errors.RemoteEntryNotFoundError):
            raise Absent(f"{self}: the repository has no such file at that revision") from None
        if isinstance(error, errors.HfHubHTTPError):
            reason, status = _in_words(error), error.response.status_code
            if status == 429 or status >= 500:
                return reason, self._asked_pause(error.response)
            raise Unreachable(f"{self}: {reason}") from None
        if isinstance(error, errors.HTTPError):
            message = " ".join(str(error).split()) or type(error).__name__
            return f"the connection failed ({message}); check the network and {CONTINUE_COMMAND}", 0
        if isinstance(error, OSError) and error.errno is not None:
            raise error
        return str(error), 0

    def _asked_pause(self, response: Any) -> int:
        from huggingface_hub.utils import parse_ratelimit_headers

        limit, retry = parse_ratelimit_headers(response.headers), response.headers.get("Retry-After", "")
        by_limit = limit.reset_in_seconds if limit and limit.remaining == 0 else 0
        seconds = max(by_limit, int(retry) if retry.isdecimal() else 0)
        self.waited += seconds
        if self.waited > MOST_WAIT:
            raise Unreachable(
                f"{self}: the hub asks to wait {seconds} s ({response.status_code}); "
                "run the same command again later"
            ) from None
        return seconds

    def __str__(self) -> str:
        return f"{self.name} of {self.repo} at {self.revision}"


def size_of(file: Path) -> int:
    """Returns the bytes of a file, 0 if there is none."""
    return file.stat().st_size if file.is_file() else 0


def _in_words(error: Any) -> str:
    """Returns the reason of the hub's refusal, and a remedy."""
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    status = error.response.status_code
    if isinstance(error, RevisionNotFoundError):
        return f"no such revision; {PIN}"
    if isinstance(error, RepositoryNotFoundError) and not isinstance(error, GatedRepoError):
        return f"no such repository, or a private one; correct its name or {LOG_IN}"
    if status in (401, 403):
        return (
            f"access is refused ({status}): the repository is private or gated; accept its terms on its page "
            f"and {LOG_IN}"
        )
    if status == 429:
        return "the hub limits requests (429); wait some minutes and run the same command again"
    return f"the hub answers {status}; run the same command again later"
