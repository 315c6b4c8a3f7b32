"""Sources of a hub: pinned, locked, unpacked from one archive, and the tensors of pickles."""

import json
import os
import shutil
from pathlib import Path

import pytest

from harness.data import download
from harness.data.download import fetch, read_source_record
from harness.data.sources import Lock, lock_sources
from harness.errors import InputError
from harness.io.declarations import read_declarations
from tests.harness.data.small_sources import TEXT, Declare
from tests.support.checkpoints import pickled
from tests.support.hub_server import Hub

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_given_revision_replaces_the_pinned_revision(server: Hub, declare: Declare) -> None:
    server.add("datasets/some/words", {"words.txt": b"a\nb\nc\n"}, commit=COMMIT)
    declare({"hub": {"repo": "some/words", "revision": COMMIT}})
    fetch("tiny", Path("data"))
    server.add("datasets/some/words", {"words.txt": TEXT}, commit=COMMIT[::-1])
    folder = fetch("tiny", Path("data"), revision=COMMIT[::-1])
    assert (folder / "words.txt").read_bytes() == TEXT


def test_a_change_of_fetched_data_does_not_reach_the_cache(server: Hub, declare: Declare) -> None:
    server.add("datasets/some/words", {"words.txt": TEXT}, commit=COMMIT)
    declare({"hub": {"repo": "some/words", "revision": COMMIT}})
    with (fetch("tiny", Path("data")) / "words.txt").open("ab") as file:
        file.write(b"mine")
    assert (fetch("tiny", Path("other")) / "words.txt").read_bytes() == TEXT


def test_a_locked_source_is_fetched_at_its_commit_with_its_hashes(
    server: Hub, declare: Declare, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("datasets/some/words", {"words.txt": TEXT}, commit=COMMIT)
    declare({"hub": {"repo": "some/words", "revision": "main"}})
    lock = workspace / "lock.yaml"
    lock.write_text("# head\n{}\n")
    lock_sources({"tiny": read_source_record(fetch("tiny", Path("data")))}, lock)
    kept = read_declarations(lock, Lock)
    assert kept["tiny"].commit == COMMIT

    monkeypatch.setattr(download, "LOCKS", kept)
    server.add("datasets/some/words", {"words.txt": b"x\ny\nz\n"}, commit="f" * 40)
    shutil.rmtree("client")
    with pytest.raises(InputError, match="no such revision"):  # the name moved on; the lock did not
        fetch("tiny", Path("later"))
    monkeypatch.setattr(download, "LOCKS", {"tiny": Lock(commit="f" * 40, files=kept["tiny"].files)})
    with pytest.raises(InputError, match=r"words.txt: sha256 \w+, expected \w+"):
        fetch("tiny", Path("later"))
    assert not Path("later/tiny").exists()


MODEL = {"kind": "backbone", "text": None, "rows": {"config.json": None, "model.safetensors": None}}


@pytest.mark.thorough
def test_of_pickled_weights_the_tensors_are_fetched(server: Hub, declare: Declare) -> None:
    """Two names of one tensor, as old checkpoints have them, become two separate tensors."""
    import torch
    from safetensors.torch import load_file

    shared = torch.arange(6.0).reshape(2, 3)
    state = {"bert.b": shared, "bert.a.gamma": shared[0], "bert.c": shared.T}
    server.add("some/model", {"config.json": b"{}", "pytorch_model.bin": pickled(state)}, commit=COMMIT)
    declare({"hub": {"repo": "some/model", "repo_type": "model", "revision": "main"}}, **MODEL)
    folder = fetch("tiny", Path("data"))
    tensors = load_file(folder / "model.safetensors")
    torch.testing.assert_close(tensors, state, rtol=0, atol=0)
    assert not (folder / "pytorch_model.bin").exists()
    assert read_source_record(folder)["revision"] == COMMIT


@pytest.mark.usefixtures("pickles_read_here")
def test_of_pickled_weights_in_a_folder_the_tensors_are_fetched(server: Hub, declare: Declare) -> None:
    """As GloVe is on the hub: a module's folder, no config.json next to the pickle."""
    import torch
    from safetensors.numpy import load_file

    vocabulary = "whitespacetokenizer_config.json"
    files = {
        "0_Words/pytorch_model.bin": pickled({"emb_layer.weight": torch.eye(2)}),
        f"0_Words/{vocabulary}": json.dumps({"vocab": ["a", "b"]}).encode(),
    }
    server.add("some/vectors", files, commit=COMMIT)
    inputs = {"model.safetensors": None, vocabulary: None}
    location = {"repo": "some/vectors", "repo_type": "model", "revision": "main", "folder": "0_Words"}
    rows = {"vectors.safetensors": None, "vocab.txt": 2}
    hub = {**location, "make": "glove-module", "inputs": inputs}
    declare({"hub": hub}, kind="vectors", text=None, rows=rows)
    tensors = load_file(fetch("tiny", Path("data")) / "vectors.safetensors")["vectors"]
    assert tensors.tolist() == [[1, 0], [0, 1]]


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch opened",)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(Evil(), id="object", marks=pytest.mark.thorough),
        pytest.param({"a": Evil()}, id="inside"),
        pytest.param({"a": [1, 2]}, id="list"),
    ],
)
def test_a_pickle_with_objects_other_than_tensors_is_refused_and_not_opened(
    server: Hub, declare: Declare, workspace: Path, value: object, request: pytest.FixtureRequest
) -> None:
    """The first in a separate process, as commands read a pickle; the others in the process of the tests."""
    if not isinstance(value, Evil):
        request.getfixturevalue("pickles_read_here")
    server.add("some/model", {"config.json": b"{}", "pytorch_model.bin": pickled(value)}, commit=COMMIT)
    declare({"hub": {"repo": "some/model", "repo_type": "model", "revision": "main"}}, **MODEL)
    with pytest.raises(InputError, match=rf"{COMMIT}/pytorch_model\.bin: .* pin a revision") as error:
        fetch("tiny", Path("data"))
    assert "contains objects other than" in str(error.value)
    assert "weights_only" not in str(error.value)
    assert not (workspace / "opened").exists()
    assert not list(workspace.rglob("model.safetensors"))


@pytest.mark.usefixtures("pickles_read_here")
def test_a_copy_of_the_hub_may_have_a_pickle_alone(
    workspace: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from safetensors.torch import load_file

    copy = workspace / "copy/some/model"
    copy.mkdir(parents=True)
    (copy / "config.json").write_text("{}")
    (copy / "pytorch_model.bin").write_bytes(pickled({"a": torch.eye(2)}))
    monkeypatch.setenv("SENTBENCH_HUB", str(workspace / "copy"))
    declare({"hub": {"repo": "some/model", "repo_type": "model", "revision": "main"}}, **MODEL)
    assert load_file(fetch("tiny", Path("data")) / "model.safetensors")["a"].tolist() == [[1, 0], [0, 1]]
