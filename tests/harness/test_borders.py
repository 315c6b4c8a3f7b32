"""Values at the borders of data, files and plans: the last that is taken, and the first that is not."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

from harness.data.augmentation.augmenters import column_of
from harness.data.augmentation.edits import delete_words
from harness.data.augmentation.models import by_length
from harness.data.own_pairs import shortened
from harness.data.wikipedia import is_prose
from harness.errors import InputError
from harness.io import outputs
from harness.io.embeddings import EmbeddingStore, keep
from harness.io.names import LONGEST_NAME, check_name, check_table_key
from harness.io.outputs import check_addition, room_of
from harness.models import hub
from harness.plan import resolve, stale
from harness.plan.recipes import load_recipes
from harness.tasks.interface import check_names
from harness.tasks.own_pairs import _columns_of

GIGABYTE = 2**30


def disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """A disk with so many free bytes."""
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))


@pytest.mark.parametrize(("seeds", "taken"), [(0, False), (1, True), (3, True), (4, False)])
def test_a_plan_has_from_one_to_the_most_seeds(
    monkeypatch: pytest.MonkeyPatch, seeds: int, taken: bool
) -> None:
    monkeypatch.setattr(resolve, "MOST_SEEDS", 3)
    recipes = load_recipes()
    if taken:
        assert len(resolve.resolve(recipes, ["baselines/simcse"], seeds=seeds).runs) == seeds
    else:
        with pytest.raises(InputError, match=f"--seeds {seeds}: expected a number from 1 to 3"):
            resolve.resolve(recipes, ["baselines/simcse"], seeds=seeds)


@pytest.mark.parametrize(("count", "end"), [(8, "s7; "), (9, "s7 and 1 more systems; ")])
def test_eight_systems_of_other_settings_are_named(count: int, end: str) -> None:
    runs = {str(number): SimpleNamespace(id=f"s{number}") for number in range(count)}
    line = stale.outdated_line(cast("Any", SimpleNamespace(runs=runs)), [*runs])
    assert line is not None
    assert end in line


def test_a_column_after_the_last_view_is_refused() -> None:
    rows = [("a", "b"), ("c", "d")]
    assert column_of(rows, 1, where="w") == ["b", "d"]
    with pytest.raises(InputError, match="column 2 of a corpus with 1 views; use a number from 0 to 1"):
        column_of(rows, 2, where="w")


def test_a_word_stays_on_a_draw_of_exactly_the_probability() -> None:
    draws: Any = SimpleNamespace(random=lambda size: np.array([0.25, np.nextafter(0.25, 0), 0.9]))
    assert delete_words(["one", "two", "three"], draws, probability=0.25) == ["one", "three"]


@pytest.mark.parametrize(
    ("tokens", "batches"),
    [(12, [[1, 2, 0]]), (11, [[1, 2], [0]]), (8, [[1, 2], [0]]), (7, [[1], [2], [0]]), (1, [[1], [2], [0]])],
)
def test_a_batch_of_augmentations_may_fill_its_tokens(tokens: int, batches: list[list[int]]) -> None:
    """Texts of 3, 4 and 4 tokens, longest first; a longer one than the limit is alone."""
    assert [*by_length([[0] * 3, [0] * 4, [0] * 4], tokens=tokens)] == batches


def test_eight_names_and_thirty_characters_are_shown_whole() -> None:
    names = [*map(str, range(8))]
    assert shortened(names) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert shortened([*names, "8"]) == "0, 1, 2, 3, 4, 5, 6, 7, ..."
    assert shortened(["a" * 30, "b" * 31]) == f"{'a' * 30}, {'b' * 30}"


@pytest.mark.parametrize(("lower", "kept"), [(3, True), (2, False)])
def test_prose_has_half_of_its_words_in_lower_case(lower: int, kept: bool) -> None:
    words = [*["Town"] * (5 - lower), *["word"] * lower, "End."]
    assert len(words) == 6
    assert is_prose(" ".join(words)) is kept


def test_a_name_may_have_its_longest_length_and_a_key_two_names() -> None:
    check_name("a" * LONGEST_NAME)
    with pytest.raises(ValueError, match="at most 160 characters"):
        check_name("a" * (LONGEST_NAME + 1))
    check_table_key("paper/table2")
    check_table_key("alone")
    with pytest.raises(ValueError, match="one name, or two"):
        check_table_key("paper/table2/row")


@pytest.mark.parametrize(("free", "taken"), [(GIGABYTE, True), (GIGABYTE - 1, False)])
def test_an_output_may_take_all_free_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, taken: bool
) -> None:
    disk(monkeypatch, free)
    if taken:
        check_addition(tmp_path, room=GIGABYTE)
    else:
        with pytest.raises(InputError, match=r"1,074 MB are free there, expected 1,074 MB"):
            check_addition(tmp_path, room=GIGABYTE)
    assert outputs.LEAST_ROOM == 2**20


@pytest.mark.parametrize(
    ("room", "free", "kept"), [(0, 1, True), (-1, 1, False), (0, 0, False)], ids=["fits", "large", "full"]
)
def test_a_store_is_kept_if_it_fits_and_leaves_as_much_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, free: int, kept: bool
) -> None:
    """room: in addition to the store's size; free: bytes of the disk in addition to twice its size."""
    store = EmbeddingStore.write(tmp_path / "s", ["a"], lambda _: np.ones((1, 2)), encoder="e")
    size = room_of(store.path)
    disk(monkeypatch, 2 * size + free)
    keep(store, tmp_path / "kept/one", room=size + room)
    assert (tmp_path / "kept/one").is_file() is kept
    assert os.listdir(tmp_path / "kept") == (["one"] if kept else [])


@pytest.mark.parametrize(("status", "repeated"), [(499, False), (500, True), (429, True), (404, False)])
def test_an_answer_from_500_on_may_pass(status: int, repeated: bool) -> None:
    from huggingface_hub import errors

    response: Any = SimpleNamespace(status_code=status, headers={}, request=None)
    assert hub._in_words(errors.HfHubHTTPError("an answer", response=response))[1] is repeated


def test_two_tasks_have_two_names() -> None:
    one, two = (cast("Any", SimpleNamespace(name=name)) for name in ("one", "two"))
    check_names([one, two])
    with pytest.raises(InputError, match="two tasks are called 'two'"):
        check_names([one, two, two])


def test_a_row_of_three_fields_has_no_names_unless_they_are_known() -> None:
    class Plain(NamedTuple):
        a: str
        b: str
        c: float

    class Named(NamedTuple):
        score: float
        sentence2: str
        sentence1: str

    assert _columns_of(Plain("x", "y", 1.0)) == (None, ["x", "y", 1.0])
    assert _columns_of(Named(1.0, "y", "x")) == (("score", "sentence2", "sentence1"), [1.0, "y", "x"])
