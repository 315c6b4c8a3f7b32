"""Keys of caches and identities: each field changed alone changes the key; what does not count does not."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import try_reuse
from harness.commands.mteb import mteb_identity
from harness.data import kept_texts, text
from harness.evidence.schema import Provenance, ResultFile
from harness.evidence.store import read_result
from harness.io.embeddings import ENDING, kept_name
from harness.io.files import write_record
from harness.plan.identity import encoder_hash, library_versions
from methods.core import corpus
from methods.core.folders import load_encoder
from methods.core.teachers import text_digests
from tests.support import tiny

ROOT = Path(__file__).parents[2]
TEXTS = ["a dog", "two cats"]


class Tokenizing:
    """A tokenizer with a state."""

    def __init__(self, state: str = "state") -> None:
        self.state = state

    def token_ids(self, texts: Any, *, max_length: int) -> list[list[int]]:
        return [[len(text)] for text in texts]

    def tokenizer_state(self, max_length: int) -> str:
        return f"{self.state} {max_length}"


@pytest.mark.parametrize(
    "change",
    [
        {"texts": ["a dog", "two Cats"]},
        {"texts": ["two cats", "a dog"]},
        {"texts": ["a dogt", "wo cats"]},
        {"texts": ["a dog", "two cats", ""]},
        {"max_length": 33},
        {"state": "another"},
        {"version": "0.0.0"},
    ],
)
def test_every_part_of_the_key_of_tokens_changes_it(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(texts: Any = TEXTS, max_length: int = 32, state: str = "state", version: str = "") -> str:
        if version:
            monkeypatch.setattr(corpus.tokenizers, "__version__", version)
        return corpus._key(Tokenizing(state), texts, max_length)  # type: ignore[arg-type]

    known = key()
    assert known == key()
    assert key(**change) != known


FILES = {
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "vocab.txt": b"words",
    "spiece.model": b"pieces",
    "1_Pooling/config.json": b'{"mean": true}',
    "2_Dense/model.safetensors": b"layer",
}
RECORD = {"id": "own", "backbone": "bert", "identity": "0" * 64, "seed": 3}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Returns the identity for mteb of a folder with changed files or a changed record."""

    def identity(files: dict[str, bytes] | None = None, pooling: str | None = None, **record: Any) -> Any:
        folder = tmp_path / f"folder{len(list(tmp_path.iterdir()))}" / "run"
        for name, content in {**FILES, **(files or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        write_record(folder / "run.json", RECORD | record)
        assert json.loads((folder / "run.json").read_text())
        return mteb_identity(folder, pooling=pooling)

    return identity


@pytest.mark.parametrize("file", [*FILES, "3_Dense/config.json"])
def test_every_file_of_an_encoder_changes_its_revision_for_mteb(run: Callable[..., Any], file: str) -> None:
    assert run({file: b"changed"}).revision != run().revision


def test_a_file_with_another_name_changes_the_revision_for_mteb(run: Callable[..., Any]) -> None:
    assert run({"a.json": b"x"}).revision != run({"b.json": b"x"}).revision


@pytest.mark.parametrize(
    "change", [{"id": "other"}, {"backbone": "other"}, {"identity": "1" * 64}, {"seed": 4}]
)
def test_every_field_of_a_run_changes_its_identity_for_mteb(
    run: Callable[..., Any], change: dict[str, Any]
) -> None:
    assert run(**change) != run()
    assert (run(**change).revision != run().revision) == ("identity" in change)


def test_pooling_belongs_to_the_experiment_and_copies_are_equal(run: Callable[..., Any]) -> None:
    assert run(pooling="mean") != run(pooling="cls") != run()
    assert run() == run({"README.md": b"card", "last/config.json": b"{}", "train.jsonl": b"1"})


@pytest.mark.parametrize("same", [True, False])
def test_scores_of_another_identity_are_not_those_of_a_tried_run(
    same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an edit of the tried file its old scores do not count."""
    from harness.commands import try_runs

    monkeypatch.chdir(tmp_path)
    key, session = "own__bert__s0", object.__new__(try_runs.Session)
    path = try_runs.SCORES / f"{key}.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    evaluated: list[str] = []
    result = SimpleNamespace(run=SimpleNamespace(identity="now" if same else "before"))
    monkeypatch.setattr(try_runs, "read_result", lambda path: result)
    monkeypatch.setattr(try_runs, "evaluate", lambda params, key, *given, **more: evaluated.append(key))
    monkeypatch.setattr(session, "_identity", lambda run: "now")
    monkeypatch.setattr(session, "_is_trained", lambda key, run: True)
    plan: Any = SimpleNamespace(runs={key: SimpleNamespace(id="own")})
    session.params, session.controls, session.untrained = plan, {}, []
    assert session.remaining() == ([] if same else [key])
    session.job(key)(print)
    assert evaluated == session.remaining()


def test_every_part_of_the_key_of_vectors_changes_it() -> None:
    """The encoder, the texts, their order and their number; the ending is that of every store."""
    changes: list[tuple[str, list[str]]] = [
        ("one", TEXTS),
        ("two", TEXTS),
        ("one", TEXTS[::-1]),
        ("one", TEXTS[:1]),
        ("one", [*TEXTS, ""]),
        ("one", ["a dogtwo", " cats"]),
        ("one", ["A dog", "two cats"]),
    ]
    names = [kept_name(encoder, texts) for encoder, texts in changes]
    assert len({*names}) == len(changes)
    assert all(name.endswith(ENDING) and len(name) == 32 + len(ENDING) for name in names)


@pytest.mark.parametrize(
    "change",
    [
        {"texts": ["A dog", "two cats"]},
        {"texts": ["two cats", "a dog"]},
        {"texts": ["a dogtwo", " cats"]},
        {"by": ["code", "version", "more"]},
        {"by": ["code", "other"]},
        {"by": ["other", "version"]},
        {"by": ["codeversion"]},
        {"by": []},
    ],
)
def test_every_part_of_the_key_of_derived_texts_changes_it(
    change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is named by the texts and all that decides their conversion; the same ones are read again."""
    monkeypatch.setattr(kept_texts, "made_texts", lambda: tmp_path)

    def made(answer: str, texts: Any = TEXTS, by: Any = ("code", "version")) -> set[str]:
        return {*kept_texts.kept(texts, lambda text: answer, by=by)}

    assert made("first") == made("again") == {"first"}
    assert made("again", **change) == {"again"}
    assert made("last", **change) == {"again"}


def test_sentevals_text_is_keyed_by_its_code_and_the_version_of_its_tokeniser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[list[str]] = []
    monkeypatch.setattr(text, "kept", lambda texts, make, *, by: keys.append(by))
    (tmp_path / "text.py").write_text("another")
    other = {"sacremoses": "0"}
    version = text.version
    changes: dict[str, Any] = {
        "": None,
        "version": lambda name: other.get(name) or version(name),
        "__file__": str(tmp_path / "text.py"),
    }
    for name, value in changes.items():
        with monkeypatch.context() as patch:
            if name:
                patch.setattr(text, name, value)
            text.senteval_texts(TEXTS)
    assert len({*map(tuple, keys)}) == 3


@pytest.mark.parametrize("versions", [("0.1.1", "0.1.2"), ("0.1.1", "0.1.1.post1"), ("0.1", "1.0")])
def test_any_other_release_of_the_tokeniser_is_another_key(
    versions: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[list[str]] = []
    monkeypatch.setattr(text, "kept", lambda texts, make, *, by: keys.append(by))
    for version in versions:
        monkeypatch.setattr(text, "version", lambda name, version=version: version)
        text.senteval_texts(TEXTS)
    assert keys[0] != keys[1]


def test_a_teachers_digest_of_a_text_depends_on_the_whole_text() -> None:
    texts = ["a dog", "a dog ", "A dog", "b dog", "a dot", ""]
    assert len({*text_digests(texts).tolist()}) == len(texts)
    assert text_digests(texts).tolist() == [int(text_digests([text])[0]) for text in texts]


@pytest.mark.parametrize(
    "name", ["model.safetensors", "transformer/model.safetensors", "vectors.safetensors"]
)
def test_the_hash_of_an_encoder_is_that_of_its_weights_wherever_they_are(name: str, tmp_path: Path) -> None:
    def hashed(weights: str, other: str = "") -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(weights)
        (tmp_path / "config.json").write_text(other)
        (tmp_path / "last").mkdir(exist_ok=True)
        (tmp_path / "last/model.safetensors").write_text(other)
        return encoder_hash(tmp_path)

    assert hashed("one") == hashed("one", "other") != hashed("two")


@pytest.fixture
def recorded() -> ResultFile:
    """A committed result."""
    return read_result(next((ROOT / "reports/scores").glob("simcse-small__words-50d__s0.json")))


REASONS: dict[str, str | None] = {
    "code_sha256": "the code has changed",
    "arithmetic": "arithmetic",
    "versions": "were computed with",
    "data_sha256": "the data of",
    "recipe": "settings have changed",
    "identity": "backbone or corpus differs",
    "git_commit": None,
    "git_dirty": None,
    "encoder_sha256": None,
    "device": None,
    "precision": None,
    "text": None,
}
"""Field of a result -> the reason against its reuse; those without one follow from others, or are of this
result alone."""


@pytest.mark.parametrize("field", [None, *REASONS])
def test_a_result_is_reused_only_if_every_field_that_decides_it_is_the_same(
    field: str | None, recorded: ResultFile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert {*Provenance.model_fields} <= {*REASONS}
    made, run = recorded.provenance, recorded.run
    entry: Any = SimpleNamespace(
        recipe_hash=lambda: run.recipe,
        method="simcse",
        tasks=[],
        text="raw",
        backbone=".",
        corpus=".",
        parent=".",
    )
    plan: Any = SimpleNamespace(runs={run.key: entry})
    stubs: dict[str, Any] = {
        "build_tasks": lambda names, *, text: [],
        "run_code": lambda method, tasks, code: made.code_sha256,
        "run_identity": lambda params, run_here, arithmetic: run.identity,
        "library_versions": lambda: {name: made.versions[name] for name in library_versions()},
        "arithmetic_used": lambda device: made.arithmetic,
        "sha256_of_folder": lambda folder: made.data_sha256[folder.name],
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(try_reuse, name, stub)
    folders = {name: tmp_path / name for name in made.data_sha256}
    monkeypatch.setattr("harness.data.download.folder_of", lambda name: folders[name])
    other: Any = "another"
    if field in ("recipe", "identity"):
        recorded = recorded.model_copy(update={"run": run.model_copy(update={field: other})})
    elif field is not None:
        if field in ("versions", "data_sha256"):
            fields = getattr(made, field)
            other = {
                **fields,
                [name for name in fields if field != "versions" or name in library_versions()][-1]: other,
            }
        recorded = recorded.model_copy(update={"provenance": made.model_copy(update={field: other})})
    blocked = try_reuse.reuse_blocker(recorded, plan, None)  # type: ignore[arg-type]
    reason = try_reuse.environment_differs(recorded, plan) or blocked
    assert bool(blocked) is (bool(reason) and field not in ("arithmetic", "versions")), "may be ranked"
    expected = None if field is None else REASONS[field]
    assert bool(reason) is (expected is not None)
    assert (expected or "") in reason


@pytest.mark.parametrize("name", library_versions())
def test_another_version_of_any_library_is_named(name: str, recorded: ResultFile) -> None:
    versions = {**recorded.provenance.versions, **library_versions(), name: "0"}
    arithmetic = try_reuse.arithmetic_used("cpu")
    changed = recorded.provenance.model_copy(update={"versions": versions, "arithmetic": arithmetic})
    differs = try_reuse.environment_differs(recorded.model_copy(update={"provenance": changed}))
    assert f"computed with {name} 0" in differs


def test_everything_that_decides_tokens_is_in_a_tokenizers_state(tmp_path: Path) -> None:
    """The length, the vocabulary, the case, the special tokens and the truncation's side."""
    folder = tiny.write_backbone(tmp_path / "bert")

    def encoder(change: Callable[[Any], object] = lambda tokenizer: None) -> Any:
        made: Any = load_encoder(folder, pooling="mean")
        change(made.tokenizer)
        return made

    changes: dict[str, Callable[[Any], object]] = {
        "case": lambda tokenizer: setattr(tokenizer.backend_tokenizer, "normalizer", None),
        "words": lambda tokenizer: tokenizer.add_tokens(["unheard"]),
        "ends": lambda tokenizer: setattr(tokenizer.backend_tokenizer, "post_processor", None),
    }
    states = [encoder(change).tokenizer_state(9) for change in changes.values()]
    states += [encoder().tokenizer_state(length) for length in (8, 9, 10)]
    assert len({*states}) == len(states)
    assert states[-2] == encoder().tokenizer_state(9)


def test_a_wheel_of_another_version_or_name_is_not_taken_for_the_one_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.data import providers

    monkeypatch.setattr(providers, "cache", lambda: tmp_path)
    (tmp_path / "wheels").mkdir()
    for name in ("some_words-1.0-py3-none-any.whl", "some_words-2.0-py3-none-any.whl", "some-1.0-py3.whl"):
        (tmp_path / "wheels" / name).write_bytes(b"x")
    for requirement in ("Some.Words==2.0", "some-words==1.0", "some_words==2.0"):
        name, version = requirement.split("==")
        asked = providers.wheel_file(requirement.lower())
        assert asked.name == f"some_words-{version}-py3-none-any.whl", name
    monkeypatch.setattr(
        providers.subprocess, "run", lambda *given, **options: SimpleNamespace(returncode=1, stderr="none")
    )
    with pytest.raises(providers.Unavailable, match=r"some-words==3\.0: none"):
        providers.wheel_file("some-words==3.0")


@pytest.mark.parametrize(
    ("revision", "asked"), [("a" * 40, []), ("main", ["main"]), ("refs/pr/4", ["refs/pr/4"])]
)
def test_a_file_of_a_commit_is_taken_from_the_cache_and_of_a_name_only_after_asking(
    revision: str, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may mean another commit by now."""
    import huggingface_hub

    from harness.models.hub import hub_file

    seen: list[str] = []
    old, new = (tmp_path / "snapshots" / commit / "in/file" for commit in ("old", "new"))
    for path in (old, new):
        path.parent.mkdir(parents=True)
        path.write_text("x")

    def download(repo: str, name: str, *, revision: str, **options: Any) -> str:
        seen.append(revision)
        return str(new)

    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *given, **options: str(old))
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    path, commit = hub_file("some/repo", "model", revision, "in/file")
    assert seen == asked
    assert (path, commit) == ((new, "new") if asked else (old, "old"))


def test_a_damaged_wheel_is_replaced_by_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.data import providers

    name = "some_words-1.0-py3-none-any.whl"
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / name).write_text("damaged")

    def pip(command: list[str], **options: Any) -> Any:
        Path(command[command.index("-d") + 1], name).write_text("whole")
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(providers, "cache", lambda: tmp_path)
    monkeypatch.setattr(providers.subprocess, "run", pip)
    assert providers.wheel_file("some-words==1.0").read_text() == "damaged"
    assert providers.wheel_file("some-words==1.0", again=True).read_text() == "whole"
    assert [path.name for path in (tmp_path / "wheels").iterdir()] == [name]


@pytest.mark.parametrize("mended", [True, False])
def test_a_damaged_file_of_the_hub_is_downloaded_by_force_once(
    mended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blobs are named by the hash of their content."""
    import huggingface_hub

    from harness.models import hub

    blob = tmp_path / hashlib.sha256(b"whole").hexdigest()
    blob.write_bytes(b"damaged")
    forced: list[bool] = []

    def download(repo: str, name: str, *, force_download: bool, **options: Any) -> str:
        forced.append(force_download)
        if force_download and mended:
            blob.write_bytes(b"whole")
        return str(blob)

    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *given, **options: str(blob))
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    monkeypatch.setattr(hub, "PAUSES", ())
    if mended:
        assert hub.hub_file("some/repo", "model", "a" * 40, "file")[0] == blob
    else:
        with pytest.raises(hub.Unreachable, match="its hash differs"):
            hub.hub_file("some/repo", "model", "a" * 40, "file")
        assert not blob.exists()
    assert forced == [False, True]
