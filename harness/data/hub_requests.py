"""Requests of the hub's client: they wait two minutes at most, and a failure is one line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache as once
from functools import partial
from typing import Any

MOST_WAIT = 120
"""Seconds of pauses that the hub may ask for, for all requests of one file."""

CONTINUE_COMMAND = "run the same command again: it continues where it stopped"
CONTINUE = f"check the network and {CONTINUE_COMMAND}"
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
PIN = "pin a commit with `sentbench data fetch NAME --revision HASH`"

_NO_ANSWER: ContextVar[list[Any] | None] = ContextVar("_NO_ANSWER", default=None)
_ASKED_WAITS: ContextVar[list[Any] | None] = ContextVar("_ASKED_WAITS", default=None)


class Unreachable(Exception):
    """The hub does not give a file; the message names file, repository, reason and what to do."""


class TooLong(Unreachable):
    """The hub asks for a longer pause than is left of MOST_WAIT: not worth a further attempt."""


class Absent(Unreachable):
    """The repository exists at that commit and has no such file."""


@contextmanager
def _noting(variable: ContextVar[list[Any] | None]) -> Iterator[None]:
    """In the block, requests note what happened in a list of this variable."""
    token = variable.set([])
    try:
        yield
    finally:
        variable.reset(token)


not_asked_again = partial(_noting, _NO_ANSWER)
"""In a block with this, an unreachable hub is asked once, not once per file."""
limited_waits = partial(_noting, _ASKED_WAITS)
"""In a block with this, the pauses that the hub asks for are at most MOST_WAIT in all."""


@once
def _limit_waits() -> None:
    """Makes the hub's client, which obeys any Retry-After, end a request that would wait too long."""
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils._http import default_client_factory

    def client() -> Any:
        made = default_client_factory()
        made.event_hooks["response"].append(_check_wait)
        return made

    set_client_factory(client)


def _check_wait(response: Any) -> None:
    """Errors: TooLong if a refusal asks for more than is left."""
    from huggingface_hub.utils import parse_ratelimit_headers

    asked, retry = _ASKED_WAITS.get(), response.headers.get("Retry-After", "")
    if asked is None or response.status_code < 400:
        return
    limit = parse_ratelimit_headers(response.headers)
    by_limit = limit.reset_in_seconds if limit and limit.remaining == 0 else 0
    seconds = max(by_limit, int(retry) if retry.isdecimal() else 0)
    asked.append(seconds)
    if sum(asked) > MOST_WAIT:
        raise TooLong(f"the hub asks to wait {seconds} s ({response.status_code})")


def asked(what: object, request: Callable[[], Any]) -> Any:
    """Returns what a request of the hub's client for `what` gives. Errors: Unreachable in words."""
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HTTPError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
    )

    no_answer = _NO_ANSWER.get()
    if no_answer:
        raise Unreachable(f"{what}: {no_answer[0]}")
    _limit_waits()
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)  # one line is said here, not one for each attempt
    try:
        return request()
    except TooLong as error:
        raise TooLong(f"{what}: {error}; run the same command again later") from None
    except OfflineModeIsEnabled:
        reason = "HF_HUB_OFFLINE is set; unset it, or name a copy of the hub by SENTBENCH_HUB"
    except RemoteEntryNotFoundError:
        raise Absent(f"{what}: the repository has no such file at that revision") from None
    except HfHubHTTPError as error:
        reason = _in_words(error)
    except HTTPError as error:
        reason = f"the connection failed ({' '.join(str(error).split()) or type(error).__name__}); {CONTINUE}"
        if no_answer is not None and type(error).__name__ in ("ConnectError", "ConnectTimeout"):
            no_answer.append(reason)
    except OSError as error:
        if error.errno is not None:  # a file of this machine, not the connection
            raise
        reason = f"another page came in its place; {CONTINUE}"
    finally:
        logger.setLevel(level)
    raise Unreachable(f"{what}: {reason}")


def _in_words(error: Any) -> str:
    """Returns why the hub refused a file, and what to do."""
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
