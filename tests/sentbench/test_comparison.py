"""`sentbench.compare`: two models, or two systems' result files, outside a checkout."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sentbench
from harness.report.pages.compare import differences_of
from sentbench.comparison import recorded
from tests.faults.small_project import write_stsb
from tests.sentbench.test_encoders import letters
from tests.support import tiny
from tests.support.results import NAME, raw_result

SCORES = Path(__file__).parents[2] / "reports/scores"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_stsb(tmp_path / "data/stsb")
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def noise(texts: list[str]) -> np.ndarray:
    return np.random.default_rng(len(texts)).normal(size=(len(texts), 8))


def test_two_models_are_compared_over_the_same_pairs(empty: Path) -> None:
    comparison = sentbench.compare(letters, noise, "STSB")
    frame = comparison.frame
    assert list(frame["task"]) == ["STSB", "Mean"]
    row = frame.iloc[1]
    assert row["difference"] == pytest.approx(row["first"] - row["second"])
    assert row["low"] < row["difference"] < row["high"]
    assert "letters" in str(comparison)
    assert r"\toprule" in comparison.to_latex()
    assert sentbench.compare(letters, letters, "STSB").differences.tally["equal"] == 1


def test_files_of_evaluations_are_compared_on_their_common_tasks(
    empty: Path, printed: Callable[..., str], refused: Callable[..., str]
) -> None:
    """Two models are written by the command that scores them; a third file has both."""
    for seed, name in enumerate(("one", "two")):
        tiny.sentence_encoder(tiny.write_backbone(empty / f"bert-{name}", seed=seed)).save(empty / name)
    Path("mine.tsv").write_text("".join(f"{'a' * n}\t{'b' * (n % 3)}c\t{n}\n" for n in range(1, 9)))
    common = ["--tasks", "STSB", "--pairs", "mine.tsv", "--device", "cpu"]
    for name in ("one", "two"):
        printed("evaluate", name, *common, "--out", f"{name}.json")
    both = printed("evaluate", "one", "two", *common, "--out", "both.json").splitlines()
    assert both[0].split() == ["model", "STSB", "mine"]
    compared = printed("compare", "one.json", "two.json")
    rows = [line.split() for line in compared.splitlines()[1:3]]
    for number, row in enumerate(rows, 1):
        assert row[2:4] == [both[1].split()[number], both[2].split()[number]]
    assert compared.endswith("intervals over pairs need the models: `sentbench compare one two`\n")
    values = json.loads(printed("compare", "one.json", "two.json", "--json"))
    assert (values["first"], values["second"], len(values["tasks"])) == ("one", "two", 2)
    assert "has scores of one, two, expected one model" in refused("compare", "both.json", "one.json")
    printed("evaluate", "two", *common, "--text", "raw", "--out", "raw.json")
    assert "no test set in common" in refused("compare", "one.json", "raw.json")


def test_results_are_compared_over_seeds_and_tasks_only_after_their_mean(empty: Path) -> None:
    """Committed results: SimCSE and PCL cannot be told apart; of SCD every task is lower."""
    for system in ("simcse-small", "pcl-small", "scd-small"):
        for path in SCORES.glob(f"{system}__*.json"):
            (empty / system).mkdir(exist_ok=True)
            shutil.copy(path, empty / system)
    frame = sentbench.compare("simcse-small", "pcl-small").frame.set_index("task")
    assert len(frame) == 7
    assert set(frame["outcome"]) == {"inconclusive"}
    assert list(frame.index[frame["low"].notna()]) == ["Mean"]
    decided = sentbench.compare("simcse-small", "scd-small").frame.set_index("task")
    assert decided.loc["Mean", "outcome"] == "won"
    assert decided["low"].notna().all()
    first = sorted(Path("simcse-small").iterdir())[:1]
    assert set(sentbench.compare(first, "pcl-small").frame["outcome"]) == {"inconclusive"}


def test_the_command_compares_folders(empty: Path, printed: Callable[..., str]) -> None:
    for seed in (1, 2):
        backbone = tiny.write_backbone(empty / f"bert{seed}", seed=seed)
        tiny.sentence_encoder(backbone).save(empty / f"model{seed}")
    said = printed("compare", "model1", "model2", "--tasks", "STSB")
    assert "model1" in said
    assert "the mean at 5 %, then the test sets by Holm" in said


def test_both_models_are_opened_before_a_text_is_encoded(
    empty: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is a plain Hugging Face folder, which needs `--pooling`."""
    first = tiny.sentence_encoder(tiny.write_backbone(empty / "bert1", seed=1))
    first.save(empty / "model1")
    tiny.write_backbone(empty / "bert2", seed=2)
    encoded = []

    def encode(self: object, texts: list[str], **options: object) -> np.ndarray:
        encoded.append(len(texts))
        return noise(texts)

    monkeypatch.setattr(type(first), "encode", encode)
    assert "pooling" in refused("compare", "model1", "bert2", "--tasks", "STSB")
    assert max(encoded, default=0) <= 2, "a folder is tried with two texts when it is opened"
    sentbench.compare(empty / "bert1", empty / "bert2", "STSB", pooling="cls")
    assert max(encoded) > 2


def test_the_command_takes_the_pooling_of_plain_folders(empty: Path, printed: Callable[..., str]) -> None:
    for seed in (1, 2):
        tiny.write_backbone(empty / f"bert{seed}", seed=seed)
    both = ["compare", "bert1", "bert2", "--tasks", "STSB", "--json", "--pooling"]
    output = [json.loads(printed(*both, pooling))["tasks"][0]["difference"] for pooling in ("cls", "mean")]
    assert output[0] != output[1]


def test_a_plot_has_every_difference_at_its_place_with_its_interval(empty: Path) -> None:
    comparison = sentbench.compare(letters, noise, "STSB")
    drawn = differences_of(comparison.differences)
    for row, (_, values) in zip(drawn.rows, comparison.frame.iterrows(), strict=True):
        assert row["name"] == values["task"]
        assert row["value"] == pytest.approx(100 * values["difference"])
    first, mean = drawn.rows
    assert "low" not in first, "a test set is tested after the mean"
    assert (mean["low"], mean["high"]) == pytest.approx(tuple(100 * comparison.frame.loc[1, ["low", "high"]]))
    picture = comparison.plot("a.svg")
    assert all(f">{outcome}</text>" in picture for outcome in {row["kind"] for row in drawn.rows})
    assert ">reported</text>" not in picture
    assert Path("a.svg").read_text() == picture == picture._repr_svg_()
    assert picture.startswith("<svg")
    for name in ("x.pdf", "x.png", "x"):
        with pytest.raises(sentbench.InputError, match=rf"{name}: the picture is SVG"):
            comparison.plot(name)
    with pytest.raises(sentbench.InputError):  # an empty name is not "no file"
        comparison.plot("")
    Path("notes.svg").write_text("mine")
    with pytest.raises(sentbench.InputError, match=r"notes.svg: exists and is not a drawing"):
        comparison.plot("notes.svg")
    assert Path("notes.svg").read_text() == "mine"


def test_results_and_drawings_may_be_named_from_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for system, value in (("a", 0.5), ("b", 0.6)):
        (tmp_path / system).mkdir()
        for seed in (0, 1):
            score = {**NAME, "value": value + seed / 100, "n": 9}
            raw = raw_result(f"{system}__x__s{seed}", [score], id=system, backbone="x", seed=seed)
            (tmp_path / system / f"{system}__x__s{seed}.json").write_text(json.dumps(raw))
    files = {name: [f"~/{name}/{name}__x__s{seed}.json" for seed in (0, 1)] for name in ("a", "b")}
    expected = sentbench.compare(tmp_path / "a", tmp_path / "b").frame
    for first, second in (("~/a", "~/b"), (files["a"], files["b"])):
        assert sentbench.compare(first, second).frame.equals(expected)
    one = sentbench.compare(files["a"][0], files["b"][1])
    assert one.frame["difference"].iloc[0] == pytest.approx(-0.11)
    one.plot("~/drawn.svg")
    assert (tmp_path / "drawn.svg").read_text().startswith("<svg")


def test_a_folder_of_result_files_has_all_its_seeds(tmp_path: Path) -> None:
    """Seeds of one and of two digits; other files of the folder are no results."""
    seeds = [0, 1, 9, 10, 19]
    for seed in seeds:
        score = {**NAME, "value": 0.5 + seed / 100, "n": 9}
        raw = raw_result(f"a__b__s{seed}", [score], id="a", backbone="b", seed=seed)
        (tmp_path / f"a__b__s{seed}.json").write_text(json.dumps(raw))
    (tmp_path / "notes.json").write_text("{}")
    for side in (tmp_path, str(tmp_path), [*tmp_path.glob("a__*")]):
        (values,) = recorded(side).tasks.values()  # type: ignore[union-attr]
        assert values == {seed: 0.5 + seed / 100 for seed in seeds}
