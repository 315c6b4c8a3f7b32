"""Fetching and checking: verification, atomic writes, and the order of providers."""

import json
from pathlib import Path

import pytest

from harness.data.download import _refused_writes_in_words, check, fetch, provider_order
from harness.errors import InputError
from tests.harness.data.small_sources import TEXT, Declare, sha256

MIRROR = {"mirror": {"folder": "words", "sha256": {"words.txt": sha256(TEXT)}}}


def test_fetched_folder_holds_file_and_record_and_is_fetched_again_only_if_damaged(
    mirrored: Path, declare: Declare
) -> None:
    """A provider with a row fewer than the table states; a complete source is not fetched again."""
    fewer = {"folder": "words", "rows": {"words.txt": 3}}
    declare({"mirror": fewer}, rows={"words.txt": 4})
    folder = fetch("tiny", Path("data"))
    assert folder == Path("data/tiny")
    assert json.loads((folder / "source.json").read_text()) == {
        "name": "tiny",
        "provider": "mirror",
        "text": "raw",
        "files": {"words.txt": {"rows": 3, "sha256": sha256(TEXT)}},
    }
    check("tiny", Path("data"))
    before = folder.stat().st_ino
    assert fetch("tiny", Path("data")).stat().st_ino == before
    (folder / "words.txt").write_bytes(b"one\ntwo\nfour!\n")
    fetch("tiny", Path("data"))
    assert (folder / "words.txt").read_bytes() == TEXT


@pytest.mark.parametrize(
    ("content", "provider", "rows", "message"),
    [
        (TEXT, {"sha256": {"words.txt": "0" * 64}}, 3, rf"sha256 {sha256(TEXT)}, expected 0{{64}}"),
        (TEXT, {}, 4, "ends after line 3, expected 4 lines"),
        (b"one\ntw\xe9\nthree\n", {}, 3, "line 2 is not utf-8"),
    ],
)
def test_a_file_that_differs_from_the_table_is_named_and_removed(
    content: bytes, provider: dict[str, object], rows: int, message: str, mirrored: Path, declare: Declare
) -> None:
    (mirrored / "words/words.txt").write_bytes(content)
    declare({"mirror": {"folder": "words", **provider}}, rows={"words.txt": rows})
    with pytest.raises(InputError, match=rf"words\.txt: {message}"):
        fetch("tiny", Path("data"))
    assert list(Path("data").iterdir()) == []


def test_without_a_provider_that_has_it_every_reason_is_given(workspace: Path, declare: Declare) -> None:
    declare({**MIRROR, "hub": {"repo": "some/words", "revision": None}})
    with pytest.raises(InputError) as caught:
        fetch("tiny", Path("data"))
    message = str(caught.value)
    assert "mirror: SENTBENCH_MIRROR is not set" in message
    assert "hub: some/words has no pinned revision" in message
    assert "\n" not in message


def test_order_of_providers_is_argument_then_environment_then_default(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert provider_order(None) == ["embedded", "system", "mirror", "hub"]
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "hub, mirror")
    monkeypatch.setenv("SENTBENCH_MIRROR", "nowhere")
    assert provider_order(["embedded"]) == ["embedded"]
    with pytest.raises(InputError, match="SENTBENCH_MIRROR=nowhere: no such folder"):
        provider_order(None)
    with pytest.raises(InputError, match=r"provider 'miror'.*did you mean mirror"):
        provider_order(["miror"])


def test_first_provider_that_has_the_file_is_used(
    mirrored: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = b"a\nb\nc\n"
    (mirrored.parent / "hub/some/words").mkdir(parents=True)
    (mirrored.parent / "hub/some/words/words.txt").write_bytes(other)
    monkeypatch.setenv("SENTBENCH_HUB", str(mirrored.parent / "hub"))
    declare({"mirror": {"folder": "words"}, "hub": {"repo": "some/words"}})

    def fetched(folder: str, *providers: str) -> bytes:
        return (fetch("tiny", Path(folder), providers=providers) / "words.txt").read_bytes()

    assert fetched("first", "mirror", "hub") == TEXT
    assert fetched("second", "hub", "mirror") == other
    (mirrored / "words/words.txt").unlink()
    assert fetched("third", "mirror", "hub") == other


def test_check_sees_a_changed_byte_even_where_no_hash_is_pinned(mirrored: Path, declare: Declare) -> None:
    declare({"mirror": {"folder": "words"}})
    folder = fetch("tiny", Path("data"))
    (folder / "words.txt").write_bytes(b"one\ntwo\nThree\n")
    with pytest.raises(InputError, match=r"words\.txt: sha256 .*, recorded"):
        check("tiny", Path("data"))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (None, "no such file"),
        ('{"name": "tiny", "provider": "mirror", "files": {"a": {"rows": "2"}}}', "must be a table of files"),
        ('{"name": "tiny", "provider": "moon", "files": {"words.txt": {"rows": 3}}}', "provider 'moon'"),
    ],
)
def test_check_needs_a_sound_record(
    mirrored: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch, record: str | None, message: str
) -> None:
    declare(MIRROR)
    path = fetch("tiny", Path("data")) / "source.json"
    path.unlink() if record is None else path.write_text(record)
    with pytest.raises(InputError, match=message):
        check("tiny", Path("data"))
    if record is None:
        monkeypatch.setattr("harness.data.download.bring", None)  # no provider is asked
        with pytest.raises(InputError, match=r"data/tiny: contains other files \(words\.txt\)"):
            fetch("tiny", Path("data"))
        return
    if "words.txt" not in record:  # somebody else's, or damaged
        with pytest.raises(InputError, match=r"contains other files \(words\.txt\) than source\.json lists"):
            fetch("tiny", Path("data"))
        return
    fetch("tiny", Path("data"))
    check("tiny", Path("data"))


@pytest.mark.parametrize(
    ("place", "remedy"),
    [("cache/data/other/file", ", or set SENTBENCH_DATA to another folder"), (".cache/locks/a", "")],
)
def test_another_folder_for_data_is_advised_where_it_would_help(
    place: str, remedy: str, tmp_path: Path
) -> None:
    with (
        pytest.raises(
            InputError,
            match=rf"cannot be written .*; free .* permissions{remedy}$",
        ),
        _refused_writes_in_words(tmp_path / "cache/data/stsb"),
    ):
        raise OSError(30, "Read-only file system", str(tmp_path / place))
