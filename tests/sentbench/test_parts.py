"""Python's interface, part by part: kinds of tasks, averages, batches, and calls of a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sentbench
from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.tasks.sts import StsTask
from sentbench.answers import array_of, function_of
from sentbench.encoders import _function_of, folder_of, include_folders, suites_of, tasks_of, texts_of


def task(name: str, pairs: int = 40) -> StsTask:
    made = [ScoredPair(f"{name} {n}", f"{name} {n + 1}", float(n * 7 % 5)) for n in range(pairs)]
    return StsTask(name, "stsb", lambda folder: {"all": made}, folder=Path())


def encode(texts: Sequence[str]) -> np.ndarray:
    return np.array([[len(text), sum(map(ord, text)) % 97, 1.0] for text in texts])


def test_an_average_has_an_interval_over_the_draws_of_its_tasks() -> None:
    frame = sentbench.evaluate(encode, [task("One"), task("Two")], intervals=True, averages=True)
    average = frame[frame.setting == "average"]
    assert len(average) > 0
    spearman = average[average.metric == "spearman"].iloc[0]
    assert spearman.low < spearman.value < spearman.high
    assert spearman.n == 2
    assert [*frame.columns] == ["task", "metric", "setting", "value", "n", "low", "high"]
    plain = sentbench.evaluate(encode, [task("One"), task("Two")])
    assert [*plain.columns] == ["task", "metric", "setting", "value", "n"]
    assert "average" not in {*plain.setting}


@pytest.mark.parametrize(
    ("tasks", "names"),
    [
        ("STSB", ["STSB"]),
        (" STSB , STSB-dev,", ["STSB", "STSB-dev"]),
        (["STSB", " STSB-dev "], ["STSB", "STSB-dev"]),
        (("STSB",), ["STSB"]),
        (iter(["STSB"]), ["STSB"]),
        (task("Own"), ["Own"]),
        ([task("Own")], ["Own"]),
        ([task("Own"), "STSB"], ["STSB", "Own"]),
    ],
)
def test_tasks_are_names_and_objects_in_any_list(tasks: Any, names: list[str]) -> None:
    assert [made.name for made in tasks_of(tasks, "senteval")] == names


@pytest.mark.parametrize("tasks", [{"STSB": 1}, {"STSB"}, 7, None, b"STSB", [7], [task("Own"), 7], [None]])
def test_other_tasks_are_refused_by_their_place(tasks: Any) -> None:
    with pytest.raises(InputError, match=r"tasks(\[\d\])? is .*, expected (a list of texts|text)"):
        tasks_of(tasks, "senteval")
    with pytest.raises(InputError, match="two tasks are called 'Own'"):
        tasks_of([task("Own"), task("Own")], "senteval")


def test_own_tasks_are_a_suite() -> None:
    suites = suites_of([task("Own"), *tasks_of("STSB", "raw"), task("Mine:part")])
    assert suites["pairs"] == ["Own", "Mine:part"]
    assert "sts" in suites


@pytest.mark.parametrize(("size", "calls"), [(None, [5]), (1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (9, [5])])
def test_a_function_without_the_option_gets_at_most_a_batch_a_call(size: Any, calls: list[int]) -> None:
    seen: list[int] = []

    def model(texts: Sequence[str]) -> np.ndarray:
        seen.append(len(texts))
        return encode(texts)

    texts = ["a", "bb", "ccc", "dd", "e"]
    got = _function_of(model, False, size)(texts)
    assert seen == calls
    assert got.tolist() == encode(texts).tolist()
    assert _function_of(model, False, 2)([]).shape[0] == 0


@pytest.mark.parametrize("size", [0, -1, 1.0, "2", True and 2.5])
def test_a_batch_size_is_a_whole_number_from_one(size: Any) -> None:
    with pytest.raises(InputError, match=r"batch_size is .*, expected an integer from 1"):
        _function_of(encode, False, size)


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("progress", [True, False])
def test_a_bar_is_asked_for_with_and_without_a_batch_size(progress: bool, size: int | None) -> None:
    seen: list[dict[str, Any]] = []

    class Plain:
        def encode(self, texts: list[str], show_progress_bar: bool = False) -> np.ndarray:
            seen.append({"bar": show_progress_bar})
            return encode(texts)

    class Sized:
        def encode(
            self, texts: list[str], show_progress_bar: bool = False, batch_size: int = 9
        ) -> np.ndarray:
            seen.append({"bar": show_progress_bar, "size": batch_size})
            return encode(texts)

    for model in (Plain(), Sized()):
        _function_of(model, progress, size)(["a"])
    assert seen == [{"bar": progress}, {"bar": progress, "size": size or 9}]


def test_options_arrive_at_every_call_and_the_first_bar_that_is_known() -> None:
    seen: list[dict[str, Any]] = []

    class Both:
        def encode(self, texts: list[str], progress: bool = False, show_progress_bar: bool = False,
                   **more: Any) -> np.ndarray:  # fmt: skip
            seen.append({"progress": progress, "bar": show_progress_bar, **more})
            return encode(texts)

    class Other(Both):
        def encode(self, texts: list[str], show_progress_bar: bool = False, **more: Any) -> np.ndarray:  # type: ignore[override]
            return super().encode(texts, show_progress_bar=show_progress_bar, **more)

    for model in (Both(), Other()):
        function_of(model, "m", progress=True, batch_size=3)(["a"])
        function_of(model, "m")(["a"])
    assert seen == [
        {"progress": True, "bar": False, "batch_size": 3},
        {"progress": False, "bar": False},
        {"progress": False, "bar": True, "batch_size": 3},
        {"progress": False, "bar": False},
    ]


@pytest.mark.parametrize("method", ["get_embedding_dimension", "get_sentence_embedding_dimension"])
@pytest.mark.parametrize(("width", "packed"), [(24, True), (23, False), (25, False), (3, False)])
def test_bytes_of_an_eighth_of_a_models_width_are_packed_bits(method: str, width: int, packed: bool) -> None:
    model = type("Model", (), {"encode": lambda self, texts: np.ones((len(texts), 3), np.int8)})()
    setattr(model, method, lambda: width)
    if packed:
        with pytest.raises(InputError, match="returned 3 bytes for vectors of width 24: packed bits"):
            function_of(model, "m")(["a", "b"])
    else:
        with pytest.warns(UserWarning, match="8-bit integers, scored as numbers"):
            assert function_of(model, "m")(["a", "b"]).shape == (2, 3)


@pytest.mark.parametrize("kind", ["int16", "uint32", "float16", "float32", "float64"])
def test_numbers_of_more_than_a_byte_keep_their_kind(kind: str) -> None:
    assert array_of(np.ones((2, 3), kind)).dtype == kind
    assert array_of(iter([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for other in (np.array([["a"]]), np.ones((1, 2), complex), np.ones((1, 2), bool)):
        with pytest.raises(InputError, match="expected an array of numbers"):
            array_of(other)


def test_declarations_are_read_again_after_folders_are_included(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks may have been read before."""
    done: list[Any] = []
    monkeypatch.setattr("harness.include.include_all", done.append)
    monkeypatch.setattr("harness.tasks.registry.reread", lambda: done.append("read"))
    include_folders(())
    assert done == []
    include_folders([tmp_path])
    include_folders(str(tmp_path))
    assert done == [[str(tmp_path)], "read"] * 2


def test_paths_begin_at_home_and_a_text_of_a_list_is_named_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    (tmp_path / "file").touch()
    assert folder_of("~/model", "x") == folder_of(tmp_path / "model", "x") == tmp_path / "model"
    for value, said in (("~/file", "is a file"), ("~/none", "no such folder"), ("", "is not a path"),
                        (7, "is not a path")):  # fmt: skip
        with pytest.raises(InputError, match=f"{said}, expected the folder of an encoder"):
            folder_of(value, "an encoder")
    with pytest.raises(InputError, match=r"texts\[2\] is 7, expected text"):
        texts_of(["a", "b", 7], "texts")
    with pytest.raises(InputError, match=r"texts\[1\] is .*lone surrogates"):
        texts_of(["a", "\ud800"], "texts")
