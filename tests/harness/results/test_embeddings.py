"""The store of embeddings: bytes, precision, memory, two writers, a killed writer, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.disk.files import write_json
from harness.errors import InputError
from harness.results import embeddings
from harness.results.embeddings import EmbeddingStore
from methods.core import encoder

TEXTS = ["a dog", "zwei H\u00fcnde", "line\nbreak", "\u2028 separator"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 8


def opened(folder: Path, encoder: str = "ours", **options: str) -> EmbeddingStore:
    return EmbeddingStore.open_or_create(folder, encoder=encoder, **options)


def store(folder: Path, **options: str) -> EmbeddingStore:
    made = opened(folder, **options)
    made.add(TEXTS, VECTORS)
    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Counting:
    """Encodes a text as (its length, its first character's code point, 1) and keeps what it was asked."""

    def __init__(self, fail_at: int = -1) -> None:
        self.asked: list[list[str]] = []
        self.fail_at = fail_at

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        if len(self.asked) == self.fail_at:
            raise KeyboardInterrupt
        self.asked.append(list(texts))
        return np.array([[len(text), ord(text[0]) / 1024, 1] for text in texts], dtype=np.float32)


@pytest.fixture
def two_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "SHARD_TEXTS", 2)


def test_a_shard_holds_as_many_texts_as_an_encoder_sorts_together() -> None:
    """Else the cut would change an encoder's batches, and with them the last digits of vectors."""
    assert embeddings.SHARD_TEXTS == encoder.SHARD


def test_a_store_read_back_gives_its_vectors_in_any_order(tmp_path: Path) -> None:
    store(tmp_path / "s")
    kept = EmbeddingStore.load(tmp_path / "s")
    np.testing.assert_array_equal(kept.encode([TEXTS[3], TEXTS[0], TEXTS[3]]), VECTORS[[3, 0, 3]])
    assert kept.encode([]).shape == (0, 3)


@pytest.mark.parametrize("seed", range(3))
def test_a_store_of_many_shards_equals_a_dictionary_in_memory(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shards of 7 texts, filled in three goes that overlap, asked for texts drawn with repeats."""
    monkeypatch.setattr(embeddings, "SHARD_TEXTS", 7)
    rng = np.random.default_rng(seed)
    memory = {f"text {n}": rng.normal(size=5).astype(np.float16) for n in range(100)}

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.stack([memory[text] for text in texts])

    kept = opened(tmp_path / "s")
    for chosen in (rng.permutation(100)[:40], rng.permutation(100)[:50], rng.permutation(100)):
        kept.complete([f"text {n}" for n in chosen], encode)
    assert len(list((tmp_path / "s").glob("*.npy"))) >= 15
    asked = [f"text {n}" for n in rng.integers(100, size=300)]
    for reader in (kept, EmbeddingStore.load(tmp_path / "s")):
        np.testing.assert_array_equal(reader.encode(asked), encode(asked))


def test_equal_stores_have_equal_bytes_whatever_the_order_of_their_texts(tmp_path: Path) -> None:
    store(tmp_path / "a")
    opened(tmp_path / "b").add(TEXTS[::-1], VECTORS[::-1])
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert sorted(Path(name).suffix for name in contents(tmp_path / "a")) == [".json", ".npy"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_digest_is_the_same_on_every_machine() -> None:
    """BLAKE2b-128 of the empty message, as `b2sum -l 128 /dev/null` prints it."""
    (digest,) = embeddings.digests_of([""])
    assert digest.hex() == "cae66941d9efbd404e4d88758ea67670"


@pytest.mark.usefixtures("two_a_shard")
def test_what_is_there_is_not_encoded_again(tmp_path: Path) -> None:
    """Five texts of which two are new: they go to one shard, and those before keep their bytes."""
    first, second, third = Counting(), Counting(), Counting()
    assert opened(tmp_path / "s").complete(["a", "b", "c"], first) == 3
    before = contents(tmp_path / "s")
    assert opened(tmp_path / "s").complete(["x", "a", "b", "y", "c"], second) == 2
    assert opened(tmp_path / "s").complete(["c", "y", "x", "a", "b"], third) == 0
    assert (first.asked, second.asked, third.asked) == ([["a", "b"], ["c"]], [["x", "y"]], [])
    after = contents(tmp_path / "s")
    assert len(after) == len(before) + 1
    assert {name: after[name] for name in before} == before


@pytest.mark.usefixtures("two_a_shard")
def test_an_interrupted_writer_leaves_whole_shards_and_is_continued_to_the_same_bytes(tmp_path: Path) -> None:
    texts = list("abcdefg")
    opened(tmp_path / "whole").complete(texts, Counting())
    with pytest.raises(KeyboardInterrupt):
        opened(tmp_path / "cut").complete(texts, Counting(fail_at=2))
    again = Counting()
    continued = opened(tmp_path / "cut")
    assert continued.damaged == ()
    assert continued.complete(texts, again) == 3
    assert again.asked == [["e", "f"], ["g"]]
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from harness.results import embeddings, shards
done = shards.write_by_hash
def die_in_the_second(folder, name, write):
    def half(part):
        part.write_bytes(b"half a shard")
        os.kill(os.getpid(), signal.SIGKILL)
    return done(folder, name, half if list(folder.glob("*.npy")) else write)
shards.write_by_hash = die_in_the_second
embeddings.SHARD_TEXTS = 2
store = embeddings.EmbeddingStore.open_or_create(Path(sys.argv[1]), encoder="ours")
store.complete(list("abcd"), lambda texts: np.array([[ord(text), 0.5] for text in texts]))
"""


def test_a_writer_killed_within_a_shard_leaves_nothing_half_written_in_the_folder(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "s")], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    kept = EmbeddingStore.load(tmp_path / "s")
    assert kept.missing(list("abcd")) == ["c", "d"]
    np.testing.assert_array_equal(kept.encode(["b", "a"]), [[98, 0.5], [97, 0.5]])
    assert len(contents(tmp_path / "s")) == 2


GROWTH = """
import sys
from pathlib import Path
import numpy as np
from harness.results import embeddings
embeddings.SHARD_TEXTS = int(sys.argv[2])
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
texts = [str(n) for n in range(20_000)]
store = embeddings.EmbeddingStore.open_or_create(Path(sys.argv[1]), encoder="ours")
before = peak()
store.complete(texts, lambda some: np.full((len(some), 1024), int(some[-1]) / 1024, dtype=np.float32))
for start in range(0, len(texts), 500):
    store.encode(texts[start : start + 500])
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak where Linux keeps it")
def test_memory_grows_with_a_shard_and_not_with_the_vectors(tmp_path: Path) -> None:
    """20,000 vectors of width 1024 take 41 MB in half precision, a shard of 500 and its fp32 form 3 MB."""

    def growth(shard_texts: int) -> int:
        command = [sys.executable, "-c", GROWTH, str(tmp_path / str(shard_texts)), str(shard_texts)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    assert growth(500) < 20e6
    assert growth(20_000) > 41e6  # what the same figure says if all is one shard
    assert sum(path.stat().st_size for path in (tmp_path / "500").iterdir()) > 41e6


TWO_AT_ONCE = """
import sys, time
from pathlib import Path
import numpy as np
from harness.results import embeddings
embeddings.SHARD_TEXTS = 50
folder, own = Path(sys.argv[1]), sys.argv[2]
(folder.parent / f"ready-{own}").touch()
while len(list(folder.parent.glob("ready-*"))) < 2:
    time.sleep(0.001)
store = embeddings.EmbeddingStore.open_or_create(folder, encoder="ours")
texts = [f"both {n}" for n in range(500)] + [f"{own} {n}" for n in range(500)]
store.complete(texts, lambda some: np.array([[len(text), int(text.split()[1])] for text in some]))
"""


def test_two_writers_at_once_leave_one_whole_store(tmp_path: Path) -> None:
    """Each needs 500 texts of both and 500 of its own; the shared ones are the same ten files."""
    command = [sys.executable, "-c", TWO_AT_ONCE, str(tmp_path / "s")]
    running = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in "ab"]
    for process in running:
        _, told = process.communicate(timeout=60)
        assert process.returncode == 0, told
    texts = [f"{name} {n}" for name in ("both", "a", "b") for n in range(500)]
    expected = [[len(text), int(text.split()[1])] for text in texts]
    np.testing.assert_array_equal(EmbeddingStore.load(tmp_path / "s").encode(texts), expected)
    assert opened(tmp_path / "s").damaged == ()
    assert len(contents(tmp_path / "s")) == 1 + 10 + 10 + 10


def test_another_encoder_never_reads_vectors_that_are_not_its_own(tmp_path: Path) -> None:
    """One that was opened before and writes after leaves a shard that the newer store does not see."""
    full = store(tmp_path / "s")
    empty = opened(tmp_path / "s", encoder="older")
    newer = opened(tmp_path / "s", encoder="theirs")
    assert newer.missing(TEXTS) == TEXTS
    assert list(contents(tmp_path / "s")) == ["meta.json"]
    with pytest.raises(InputError, match="gone: another encoder"):
        full.encode(TEXTS)
    empty.add(["late"], np.ones((1, 3)))
    newer.add(["early"], np.zeros((1, 3)))
    kept = EmbeddingStore.load(tmp_path / "s")
    assert kept.missing(["late", "early"]) == ["late"]


def test_half_precision_is_the_default_and_single_an_option(tmp_path: Path) -> None:
    assert store(tmp_path / "a").encode(TEXTS).dtype == np.float16
    assert store(tmp_path / "b", precision="float32").encode(TEXTS).dtype == np.float32
    assert opened(tmp_path / "b").missing(TEXTS) == TEXTS


def test_scores_from_half_precision_are_equal_to_a_thousandth_of_a_point(tmp_path: Path) -> None:
    """A narrow cone, as an untrained encoder has it, is the hard case: cosines near 1."""
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=384) + 0.3 * rng.normal(size=(6000, 384))).astype(np.float32)
    texts = [str(number) for number in range(6000)]
    opened(tmp_path / "s").add(texts, vectors)
    kept = EmbeddingStore.load(tmp_path / "s").encode(texts)
    assert kept.dtype == np.float16

    def cosines(rows: np.ndarray) -> np.ndarray:
        wide = rows.astype(np.float64)
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
        return (wide[:3000] * wide[3000:]).sum(axis=1)

    gold = cosines(vectors) + 0.001 * rng.normal(size=3000)
    exact, stored = (100 * spearmanr(gold, cosines(rows)).statistic for rows in (vectors, kept))
    assert exact != stored
    assert stored == pytest.approx(exact, abs=1e-3)


def test_a_text_that_is_not_kept_asks_for_the_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"1 of 2 texts .* 'a cat'.*with the model"):
        store(tmp_path / "s").encode(["a dog", "a cat"])
    with pytest.raises(InputError, match=r"1 of 1 texts .*with the model"):
        opened(tmp_path / "empty").encode(["a dog"])


BAD = {
    "texts occur twice": (["a", "a"], np.ones((2, 3))),
    "expected \\[2, 3\\]": (["a", "b"], np.ones((3, 3))),
    "expected \\[1, 3\\]": (["a"], np.ones((1, 4))),
    "not finite in float16": (["a"], np.array([[1, 1e6, 1]])),
    "not finite": (["a", "b"], np.array([[1, 1, 1], [1, np.nan, 1]])),
}


@pytest.mark.parametrize("said", BAD)
def test_what_cannot_be_kept_is_refused_and_leaves_the_store_as_it_was(said: str, tmp_path: Path) -> None:
    assert len(BAD) == 5
    kept = store(tmp_path / "s")
    before = contents(tmp_path / "s")
    with pytest.raises(InputError, match=said):
        kept.add(*BAD[said])
    assert contents(tmp_path / "s") == before
    assert kept.missing(["a"]) == ["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_an_unknown_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="float16 or float32"):
        opened(tmp_path / "s", precision="int8")


def damage(path: Path, how: str) -> None:
    held = bytearray(path.read_bytes())
    if how == "cut":
        del held[-5:]
    else:
        held[-5] ^= 1
    path.write_bytes(held)


@pytest.mark.parametrize("how", ["cut", "one bit"])
def test_a_damaged_shard_is_refused_by_a_reader_and_encoded_again_by_a_writer(
    how: str, tmp_path: Path
) -> None:
    first, second = TEXTS[:2], TEXTS[2:]
    made = opened(tmp_path / "s")
    made.add(first, VECTORS[:2])
    (kept,) = (tmp_path / "s").glob("*.npy")
    made.add(second, VECTORS[2:])
    (other,) = set((tmp_path / "s").glob("*.npy")) - {kept}
    before = contents(tmp_path / "s")
    damage(other, how)
    with pytest.raises(InputError, match=rf"{other.name}: damaged.*evaluate the model again"):
        EmbeddingStore.load(tmp_path / "s")
    mended = opened(tmp_path / "s")
    assert mended.damaged == (other,)
    assert mended.missing(TEXTS) == second
    assert mended.complete(TEXTS, lambda _: VECTORS[2:]) == 2
    assert contents(tmp_path / "s") == before


@pytest.mark.parametrize("how", ["missing", "cut", "of a later format"])
def test_a_store_that_does_not_say_what_it_holds_is_refused(how: str, tmp_path: Path) -> None:
    store(tmp_path / "s")
    meta = tmp_path / "s/meta.json"
    if how == "missing":
        meta.unlink()
    elif how == "cut":
        damage(meta, how)
    else:
        write_json(meta, {**json.loads(meta.read_text()), "format": 3})
    with pytest.raises(InputError, match="evaluate the model"):
        EmbeddingStore.load(tmp_path / "s")


def test_a_file_that_no_store_wrote_is_never_removed(tmp_path: Path) -> None:
    for name in ("mine.npy", "notes.json", "0123456789abcdef-mine.npy"):
        (tmp_path / name).write_text("mine")
    EmbeddingStore.open_or_create(tmp_path, encoder="other")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "0123456789abcdef-mine.npy", "meta.json", "mine.npy", "notes.json",
    ]  # fmt: skip
