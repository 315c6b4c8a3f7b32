"""A small server that speaks the part of the hub's file interface that this project uses, with faults.

Files are served as the hub serves them: `resolve` answers with the commit and an ETag; a large file lies
behind a redirect to another host, its ETag is the sha256 of its bytes, and its parts can be requested by
range.
"""

import hashlib
import json
import re
import socket
import struct
import threading
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Literal
from urllib.parse import unquote

import pytest

LARGE = 4096
"""Files of this many bytes or more are stored as large files: behind a redirect, with a sha256."""

COMMIT = "c" * 40

Broken = Literal["status", "hang-up", "reset", "short", "damage", "slow", "no-commit"]
Refused = Literal["gated", "no-repository", "no-file", "no-revision"]
Captive = Literal["page", "login"]
"""A login page with status 200, or a redirect to one on another host."""
REFUSALS: dict[str, tuple[int, str, str]] = {
    "gated": (403, "GatedRepo", "Access to this model is restricted"),
    "no-repository": (401, "RepoNotFound", "Invalid username or password."),
    "no-file": (404, "EntryNotFound", "Entry not found"),
    "no-revision": (404, "RevisionNotFound", "Invalid rev id"),
}
"""Kind of fault -> status, error code and message of the answer."""

PAGE = b"<html><body><form>Log in to the network</form></body></html>\n" * 40
"""Answer of a captive network in place of the hub."""


@dataclass
class Fault:
    """A fault of the next `times` requests of one kind for a path."""

    kind: Broken | Refused | Captive
    times: int = 1
    status: int = 503
    after: int = 0  # bytes that arrive before a reset, a pause or the end of a short body
    seconds: float = 0.0  # pause of a slow answer; Retry-After of a status
    method: str = "GET"


@dataclass
class Repository:
    """The files of one commit, and the names under which that commit can be asked for."""

    commit: str
    files: dict[str, bytes]
    names: tuple[str, ...] = ("main",)


@dataclass
class Hub:
    """The server's files and its received requests."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)  # "GET path" -> how often
    sent: Counter[str] = field(default_factory=Counter)  # path -> bytes of its content that went out
    tokens: set[str] = field(default_factory=set)  # requests that came with a token
    closing: threading.Event = field(default_factory=threading.Event)  # ends the pauses of slow answers
    url: str = ""
    store: str = ""  # address of large files: another host, so that the client takes the hub's ETag

    def add(
        self,
        name: str,
        files: Mapping[str, bytes],
        *,
        commit: str = COMMIT,
        names: tuple[str, ...] = ("main",),
    ) -> None:
        """Adds a repository: `ORG/NAME` of a model, `datasets/ORG/NAME` of a data set."""
        self.repositories[name] = Repository(commit, dict(files), names)

    def fail(self, path: str, fault: Fault) -> None:
        """Orders a fault for the next requests for `path`, the name of a file inside its repository."""
        self.faults.setdefault(path, []).append(fault)

    def next_fault(self, path: str, method: str) -> Fault | None:
        """Returns the fault that this request meets, and counts it."""
        for fault in self.faults.get(path, []):
            if fault.method == method and fault.times > 0:
                fault.times -= 1
                return fault
        return None


@contextmanager
def serve() -> Iterator[Hub]:
    """Runs a hub on a free port of this machine until the block ends."""
    hub = Hub()
    handler = type("HubHandler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    hub.store = f"http://localhost:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Makes pauses between requests take no time, and returns the list to which they are added."""
    from huggingface_hub import file_download
    from huggingface_hub.utils import _http

    from harness.models import hub

    pauses: list[float] = []
    for module in (file_download, _http, hub):
        monkeypatch.setattr(module, "time", SimpleNamespace(sleep=pauses.append))
    return pauses


@contextmanager
def reached(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Hub]:
    """Runs a hub, the only one that clients reach, with a folder for their cache and without pauses."""
    from huggingface_hub import constants

    no_pauses(monkeypatch)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    with serve() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_POST(self) -> None:
        """Answers the requests of an upload: a new repository, the way to send each file, a commit."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._read_chunk, b""))
        path = self.path.split("?")[0]
        self._count(path)
        fault = self.hub.next_fault(path, self.command)
        if fault and self._refused_by(fault):
            return
        _, _, name = path.partition("/api/models/")
        name = "/".join(name.split("/")[:2])
        if path == "/api/validate-yaml":
            self._send_json({"errors": [], "warnings": []})
        elif path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.hub.repositories.setdefault(name, Repository(COMMIT, {}))
            self._send_json({"url": f"{self.hub.url}/{name}"})
        elif "/preupload/" in path:
            modes = {"uploadMode": "regular", "shouldIgnore": False}
            files = [{"path": file["path"], **modes} for file in json.loads(body)["files"]]
            self._send_json({"files": files})
        elif "/commit/" in path:
            lines = [json.loads(line) for line in body.splitlines()]
            sent = [line["value"] for line in lines if line["key"] == "file"]
            files = {file["path"]: b64decode(file["content"]) for file in sent}
            self.hub.repositories[name].files.update(files)
            self._send_json({"commitUrl": f"{self.hub.url}/{name}/commit/{'d' * 40}", "commitOid": "d" * 40})
        else:
            self._refuse(404, None, "no such page")

    def _read_chunk(self) -> bytes:
        content = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return content

    def _send_json(self, answer: object) -> None:
        self._send(json.dumps(answer).encode(), "application/json")

    def log_message(self, *arguments: object) -> None:
        """Writes no log: tests read `Hub.requests`."""

    def _answer(self, *, body: bool) -> None:
        path = unquote(self.path.split("?")[0]).lstrip("/")
        name, actual, rest = path.partition("/resolve/")
        if path.startswith("stored/"):
            name, _, file = path.removeprefix("stored/").partition("//")
            self._send_file(self.hub.repositories[name], file, body=body, redirected=True)
        elif path == "login":
            self._send(PAGE, "text/html")
        elif path.startswith("api/models/"):
            parts = re.fullmatch(r"api/models/([^/]+/[^/]+)/(revision|tree)/(.*)", path)
            self._list(*parts.groups()) if parts else self._refuse(404, None, "no such page")
        elif actual:
            self._resolve(name, rest, body=body)
        else:
            self._refuse(404, "RepoNotFound", "no such page")

    def _resolve(self, name: str, rest: str, *, body: bool) -> None:
        repository = self.hub.repositories.get(name)
        if repository is None:
            self._refuse(404, "RepoNotFound", "Repository not found")
            return
        known = (repository.commit, *repository.names)
        revision = next((name for name in known if rest.startswith(name + "/")), None)
        if revision is None:
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {rest.split('/')[0]}")
            return
        file = rest.removeprefix(revision + "/")
        large = len(repository.files.get(file, b"")) >= LARGE
        self._count(file)
        fault = None if large and body else self.hub.next_fault(file, self.command)
        if fault and self._refused_by(fault):
            return
        if file not in repository.files:
            self._refuse(404, "EntryNotFound", "Entry not found")
        elif large:
            self._redirect(name, repository, file, fault)
        else:
            self._send_file(repository, file, body=body, redirected=False, fault=fault)

    def _list(self, name: str, asked: str, revision: str) -> None:
        """Sends the commit of a model or the names of its files."""
        repository = self.hub.repositories.get(name)
        self._count("the list of files")
        fault = self.hub.next_fault("the list of files", self.command)
        if fault and self._refused_by(fault):
            return
        if repository is None:
            self._refuse(404, "RepoNotFound", "Repository not found")
        elif revision not in (repository.commit, *repository.names):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif asked == "revision":
            self._send_json({"id": name, "sha": repository.commit})
        else:
            files = repository.files.items()
            self._send_json(
                [{"type": "file", "path": name, "size": len(content), "oid": ""} for name, content in files]
            )

    def _count(self, what: str) -> None:
        self.hub.requests[f"{self.command} {what}"] += 1
        if self.headers.get("Authorization"):
            self.hub.tokens.add(f"{self.command} {what}")

    def _refused_by(self, fault: Fault) -> bool:
        """Sends the answer of a fault that has no body; returns whether it did."""
        if fault.kind in REFUSALS:
            self._refuse(*REFUSALS[fault.kind])
        elif fault.kind == "hang-up":
            self._hang_up()
        elif fault.kind == "status":
            self._refuse(fault.status, None, "try again later", retry_after=fault.seconds)
        elif fault.kind == "page":
            self._send(PAGE, "text/html")
        elif fault.kind == "login":
            self._send(b"", None, 302, {"Location": f"{self.hub.store}/login"})
        else:
            return False
        return True

    def _send(
        self, content: bytes, kind: str | None, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        kinds = {"Content-Type": kind} if kind else {}
        self._begin(status, {**kinds, **(headers or {}), "Content-Length": str(len(content))})
        if self.command != "HEAD":
            self.wfile.write(content)

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _hang_up(self) -> None:
        """Closes without an answer; without lingering the system tells the client of a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.rfile.close()
        self.connection.close()

    def _refuse(self, status: int, code: str | None, message: str, retry_after: float = 0.0) -> None:
        headers = {"X-Error-Message": message, "Retry-After": str(int(retry_after))}
        headers |= {"X-Error-Code": code} if code else {}
        self._send(json.dumps({"error": message}).encode(), None, status, headers)

    def _redirect(self, name: str, repository: Repository, file: str, fault: Fault | None) -> None:
        content = repository.files[file]
        digest = hashlib.sha256(content).hexdigest()
        headers = {
            "X-Linked-Etag": f'"{digest}"',
            "X-Linked-Size": str(len(content)),
            "Location": f"{self.hub.store}/stored/{name}//{file}",
        }
        self._send(b"", None, 302, {**headers, **_commit_of(repository, fault)})

    def _send_file(
        self, repository: Repository, file: str, *, body: bool, redirected: bool, fault: Fault | None = None
    ) -> None:
        content = repository.files[file]
        if redirected:
            self._count(f"stored {file}")
            fault = self.hub.next_fault(file, self.command)
            if fault and self._refused_by(fault):
                return
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        name = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # that git gives these bytes
        headers |= {"ETag": f'"{name}"', "Accept-Ranges": "bytes", **_commit_of(repository, fault)}
        self._begin(206 if start else 200, {**headers, "Content-Length": str(len(content) - start)})
        if body:
            self._send_body(file, content[start:], fault)

    def _send_body(self, file: str, content: bytes, fault: Fault | None) -> None:
        kind = fault.kind if fault else None
        if kind == "damage":
            content = bytes([content[0] ^ 1]) + content[1:]
        if kind == "slow" and fault:
            self.hub.sent[file] += fault.after
            self.wfile.write(content[: fault.after])
            content = content[fault.after :]
            if self.hub.closing.wait(fault.seconds):
                self.close_connection = True
                return
        if kind in ("reset", "short") and fault:
            content = content[: fault.after]
        self.hub.sent[file] += len(content)  # before the client has it and may look
        self.wfile.write(content)
        if kind in ("reset", "short"):
            self.wfile.flush()
            self.close_connection = True


def _commit_of(repository: Repository, fault: Fault | None) -> dict[str, str]:
    return {} if fault and fault.kind == "no-commit" else {"X-Repo-Commit": repository.commit}
