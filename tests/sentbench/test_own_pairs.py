"""Custom pairs: from Python, on the command line and in an included folder, with equal scores."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sentbench
from harness.tasks.sts import spearman
from methods.core.encoder import SentenceEncoder
from tests.sentbench.test_encoders import folder, letters  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[2]
ROWS = [
    ("a man plays", "the man runs", 40),
    ("a dog sleeps", "the cat", -3.5),
    ("abc", "aab", 70),
    ("hij", "abc", 0),
    ("a tree", "an old tree", 55),
]
OTHERS = [("a cab", "a bag", 1), ("head", "bead", 3), ("dig", "big", 2), ("jade", "fig", 0)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tsv"
    path.write_text("".join(f"{first}\t{second}\t{score}\n" for first, second, score in ROWS))
    return path


@pytest.mark.usefixtures("few_pairs")
def test_the_score_is_the_rank_correlation_of_cosines_with_scores_of_any_scale(file: Path) -> None:
    frame = sentbench.evaluate(letters, sentbench.pairs(file), intervals=True)
    vectors = [[letters([text])[0] for text in row[:2]] for row in ROWS]
    cosines = [float(a @ b / np.sqrt((a @ a) * (b @ b))) for a, b in vectors]
    expected = spearman(np.array([row[2] for row in ROWS]), np.array(cosines))
    (row,) = frame[frame["metric"] == "spearman"].to_dict("records")
    assert (row["task"], row["setting"], row["n"]) == ("mine", "all", 5)
    assert row["value"] == pytest.approx(expected)
    assert row["low"] <= row["value"] <= row["high"]


def test_rows_and_a_file_of_them_are_one_task(file: Path) -> None:
    by_file, by_rows = (
        sentbench.evaluate(letters, sentbench.pairs(source, name="x")) for source in (file, ROWS)
    )
    assert by_file.equals(by_rows)


class Example:
    """As sentence-transformers has it."""

    def __init__(self, texts: list[str], label: float) -> None:
        self.texts, self.label = texts, label


class Columns:
    """A table of polars, by the method that gives its rows; iterated, it gives its columns."""

    def iter_rows(self, *, named: bool) -> list[dict[str, Any]]:
        assert named
        return DICTS


KEYS = ("sentence1", "sentence2", "score")
DICTS = [dict(zip(KEYS, row, strict=True)) for row in ROWS]
FRAME = pd.DataFrame(DICTS)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [list(row) for row in ROWS],
        zip(*zip(*ROWS, strict=True), strict=True),
        DICTS,
        {key: [row[key] for row in DICTS] for key in reversed(KEYS)},
        FRAME,
        FRAME[["score", "sentence2", "sentence1"]],
        FRAME.to_numpy(),
        pd.DataFrame(ROWS),
        FRAME.itertuples(),
        FRAME[["score", "sentence1", "sentence2"]].itertuples(index=False),
        pa.Table.from_pylist(DICTS),
        Columns(),
        [Example([first, second], score) for first, second, score in ROWS],
    ],
)
def test_rows_in_memory_of_any_usual_kind_are_one_task(rows: Any) -> None:
    (pairs,) = sentbench.pairs(rows).subsets.values()  # type: ignore[attr-defined]
    assert [tuple(pair) for pair in pairs] == ROWS


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (3, "pairs: expected a file or rows"),
        (["abc", "abd"], "pairs: expected a file or rows"),
        ([1, 2], "pairs: expected a file or rows"),
        ([("a", "b")], "row 1 has 2 values"),
        (pd.DataFrame(ROWS, columns=["abc", "abd", "abe"]), "row 1 has abc, abd, abe; expected columns"),
        ({"train": DICTS, "test": DICTS}, "row 1 has train, test; expected columns sentence1"),
    ],
)
def test_rows_of_another_kind_are_refused(rows: Any, said: str) -> None:
    with pytest.raises(sentbench.InputError, match=said):
        sentbench.pairs(rows)


def test_named_tasks_and_own_pairs_are_scored_together(folder: Path) -> None:  # noqa: F811
    scores = sentbench.evaluate(letters, ["STSB", sentbench.pairs(ROWS)], text="raw")
    alone = sentbench.evaluate(letters, "STSB", text="raw")
    assert scores[scores["task"] == "STSB"].reset_index(drop=True).equals(alone)
    assert set(scores["task"]) == {"STSB", "pairs"}


@pytest.mark.usefixtures("few_pairs")
def test_an_average_is_over_scores_and_its_interval_over_means_of_draws() -> None:
    tasks = [sentbench.pairs(ROWS, name="a"), sentbench.pairs(OTHERS, name="b")]
    frame = sentbench.evaluate(letters, tasks, averages=True, intervals=True)
    single = frame[(frame["metric"] == "spearman") & (frame["setting"] == "all")]
    (average,) = frame[frame["setting"] == "average"].to_dict("records")
    assert (average["task"], average["metric"], average["n"]) == ("Avg. pairs", "spearman", 2)
    assert 100 * average["value"] == pytest.approx((100 * single["value"]).mean(), abs=1e-9)
    from harness.evidence.resampling import percentile_interval
    from harness.report.assembly.pairs import _draws

    draws = [_draws(task, [letters])[0] for task in tasks]
    interval = percentile_interval((draws[0] + draws[1]) / 2)
    assert interval is not None
    assert (average["low"], average["high"]) == pytest.approx((interval.low, interval.high))
    alone = percentile_interval(draws[0])
    assert alone is not None
    assert average["high"] - average["low"] < alone.high - alone.low


def test_one_task_or_an_incomplete_suite_has_no_average(folder: Path) -> None:  # noqa: F811
    frame = sentbench.evaluate(letters, ["STSB", sentbench.pairs(ROWS)], text="raw", averages=True)
    assert "average" not in set(frame["setting"])


@pytest.mark.usefixtures("few_pairs")
def test_averages_and_intervals_of_tasks_without_custom_pairs(folder: Path) -> None:  # noqa: F811
    """The suite of custom pairs is empty then, and has no mean."""
    given = {"text": "raw", "intervals": True}
    frame = sentbench.evaluate(letters, "STSB", averages=True, **given)
    assert frame.equals(sentbench.evaluate(letters, "STSB", **given))
    assert frame["low"].notna().any()


@pytest.mark.usefixtures("few_pairs")
def test_the_command_scores_a_file_as_python_does(
    folder: Path,  # noqa: F811
    file: Path,
    printed: Callable[..., str],
) -> None:
    other = file.with_name("other.jsonl")
    keys = ("sentence1", "sentence2", "score")
    other.write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in OTHERS))
    files = ["--pairs", str(file), "--pairs", str(other)]
    said = printed("evaluate", str(folder), *files, "--interval", "--device", "cpu")
    output = json.loads(printed("evaluate", str(folder), *files, "--interval", "--json", "--device", "cpu"))
    tasks = [sentbench.pairs(file), sentbench.pairs(other)]
    frame = sentbench.evaluate(str(folder), tasks, intervals=True, averages=True)
    *scores, average = frame.to_dict("records")
    close = partial(pytest.approx, abs=1e-3)  # batches differ, and cosines of untrained vectors lie near 1
    assert [score["value"] for score in output["scores"][:-1]] == close([score["value"] for score in scores])
    assert output["scores"][-1]["task"] == "Avg. pairs"
    assert output["scores"][-1]["interval"] == close([average["low"], average["high"]])
    (line,) = [line for line in said.splitlines() if line.startswith("Avg. pairs")]
    assert f"{100 * average['value']:.2f}" in line
    assert f"{100 * average['low']:.2f} to {100 * average['high']:.2f}" in line
    assert "STSB" not in said
    assert "as it is" in said


def test_a_few_pairs_have_a_sentence_in_place_of_an_interval(
    folder: Path,  # noqa: F811
    file: Path,
    printed: Callable[..., str],
) -> None:
    """Five pairs; thirty have an interval."""
    words = ["evaluate", str(folder), "--pairs", str(file), "--device", "cpu", "--interval"]
    said = printed(*words)
    assert "no interval over fewer than 30 pairs: mine (5 pairs)" in said
    assert " to " not in said
    assert sentbench.evaluate(letters, sentbench.pairs(file), intervals=True)["low"].isna().all()
    for count, without in ((29, True), (30, False)):
        rows = sentbench.pairs([("a" * number, "b", number) for number in range(1, count + 1)])
        assert sentbench.evaluate(letters, rows, intervals=True)["low"].isna().all() == without


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pairs", "none.tsv"], "none.tsv: no such file"),
        (["--pairs", "mine.tsv", "--pairs", "mine.tsv"], "two tasks are called 'mine'"),
    ],
)
def test_wrong_files_are_refused_in_one_line(
    folder: Path,  # noqa: F811
    file: Path,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(file.parent)
    assert said in refused("evaluate", str(folder), *words)


@pytest.mark.thorough
def test_a_file_of_an_included_folder_is_a_source_and_a_task(tmp_path: Path, file: Path) -> None:
    """In a separate process, because included folders stay; before and after the tasks were first read."""
    top, empty = tmp_path / "own", tmp_path / "empty"
    (top / "pairs").mkdir(parents=True)
    empty.mkdir()
    file.rename(top / "pairs/Mine.tsv")
    program = f"""
import json, sentbench
from harness.data.sources import SOURCES
from tests.sentbench.test_encoders import letters
def value(tasks, **options):
    frame = sentbench.evaluate(letters, tasks, **options)
    return float(frame[frame["metric"] == "spearman"]["value"].iloc[0])
try:
    value("Mine")
except sentbench.InputError as error:
    assert "'Mine' is not known" in str(error), error
found = [value("Mine", include={str(top)!r}), value(["Mine"]), value("Mine", include=[{str(top)!r}])]
print(json.dumps([*found, value(sentbench.pairs({str(top / "pairs/Mine.tsv")!r})), "mine-pairs" in SOURCES]))
"""
    environment = {"PYTHONPATH": str(ROOT), "SENTBENCH_DATA": str(tmp_path / "data"), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=empty, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    *values, is_source = json.loads(done.stdout)
    assert len(set(values)) == 1
    assert is_source
    record = json.loads((tmp_path / "data/mine-pairs/source.json").read_text())
    assert record["provider"] == "folder"


def test_a_batch_size_reaches_the_models_encode_and_changes_no_score() -> None:
    sizes = []

    class Model:
        def encode(
            self, texts: list[str], batch_size: int = 32, show_progress_bar: bool = False
        ) -> np.ndarray:
            sizes.append(batch_size)
            return letters(texts)

    task = sentbench.pairs(ROWS)
    first, second = (sentbench.evaluate(Model(), task, batch_size=size) for size in (None, np.int64(7)))
    assert sizes == [32, 7]
    assert first.equals(second)


def test_a_function_gets_at_most_a_batch_of_texts_a_call_and_no_score_changes() -> None:
    sizes = []

    def service(texts: list[str]) -> np.ndarray:
        sizes.append(len(texts))
        return letters(texts)

    task = sentbench.pairs(ROWS)
    whole, cut = (sentbench.evaluate(service, task, batch_size=size) for size in (None, 2))
    assert whole.equals(cut)
    first, *others = sizes
    assert sum(others) == first
    assert others[:-1] == [2] * (len(others) - 1)
    assert others[-1] in (1, 2)


def test_vectors_of_two_widths_in_two_calls_are_refused() -> None:
    widths = iter([3, 4, *[3] * 100])
    with pytest.raises(sentbench.InputError, match="returns vectors of different widths"):
        sentbench.evaluate(
            lambda texts: np.ones((len(texts), next(widths))), sentbench.pairs(ROWS), batch_size=2
        )


def test_the_command_has_a_batch_size_and_changes_no_score(
    folder: Path,  # noqa: F811
    file: Path,
    printed: Callable[..., str],
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from methods.core.words import WordAverageEncoder

    words = ["evaluate", str(folder), "--pairs", str(file), "--device", "cpu"]
    expected, sizes = printed(*words), []
    for kind in (SentenceEncoder, WordAverageEncoder):
        plain = kind.encode

        def seen(self: Any, texts: Any, *, plain: Any = plain, **options: Any) -> Any:
            sizes.append(options.get("batch_size"))
            return plain(self, texts, **options)

        monkeypatch.setattr(kind, "encode", seen)
    assert printed(*words, "--batch-size", "2") == expected
    assert sizes[-1] == 2
    assert "--batch-size 0: expected an integer" in refused(*words, "--batch-size", "0")


def test_the_note_names_own_pairs_however_they_are_given() -> None:
    from harness.commands.evaluate import text_note
    from harness.tasks.sts import StsTask

    included, given = StsTask("mine", "mine-pairs", dict), sentbench.pairs(ROWS, name="rows")
    named = StsTask("STSB", "stsb", dict)
    assert text_note([included], "senteval") == "text of mine as it is"
    assert text_note([named], "senteval") == "SentEval's tokenised text"
    assert (
        text_note([named, included, given], "raw") == "raw text, as MTEB has it; text of mine, rows as it is"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch_size": 0}, "batch_size is 0, expected an integer from 1"),
        ({"include": "nowhere"}, "nowhere: no such folder"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(sentbench.InputError, match=said):
        sentbench.evaluate(letters, sentbench.pairs(ROWS), **options)  # type: ignore[arg-type]


def test_a_comparison_takes_own_pairs_and_names() -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[len(text), 1.0] for text in texts]

    comparison = sentbench.compare(letters, lengths, sentbench.pairs(ROWS), names=("letters", "by length"))
    assert "by length" in str(comparison)
    for wrong in (("a",), ("a", "a"), "ab", 3):
        with pytest.raises(sentbench.InputError, match="names is"):
            sentbench.compare(letters, lengths, sentbench.pairs(ROWS), names=wrong)  # type: ignore[arg-type]


def test_cosines_of_the_pairs_are_of_the_texts_as_they_are() -> None:
    """A tokenised form would lower the case and part the full stop."""
    seen: list[str] = []

    def model(texts: list[str]) -> np.ndarray:
        seen.extend(texts)
        return letters(texts)

    rows = [("A man. ", "b", 1), ("c", "d", 2), ("c", "c", 3)]
    sentbench.evaluate(model, sentbench.pairs(rows))
    assert set(seen) == {"A man. ", "b", "c", "d"}
