"""`sentbench compare` of two systems, on recorded scores, with vectors and pairs that the test stores."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check.sanity import oracle, random
from harness.errors import InputError
from harness.io.embeddings import EmbeddingStore
from harness.paths import stored_vectors
from harness.report.assembly.systems import results_named
from harness.tasks.evaluation import unique_texts
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask
from tests.faults.small_project import write_stsb
from tests.harness.report.made_results import result
from tests.support.results import copy_recorded

ROOT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the recorded scores: three seeds of SimCSE and one run of whitening."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    copy_recorded(tmp_path / "reports/scores")
    monkeypatch.delenv("SENTBENCH_DATA", raising=False)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_systems_are_compared_task_by_task(project: Path, printed: Callable[..., str]) -> None:
    shown = printed("compare", "simcse", "whitening")
    output = json.loads(printed("compare", "simcse", "whitening", "--json"))
    assert output["tasks"]
    assert output["won"] + output["lost"] + output["inconclusive"] + output["equal"] == len(output["tasks"])
    assert all(task["seeds"] == [3, 1] and task["over_pairs"] is None for task in output["tasks"])
    for task in output["tasks"]:
        assert f"{100 * task['difference']:+.2f}" in shown


def test_stored_vectors_give_the_interval_over_pairs_with_its_sign(
    project: Path, printed: Callable[..., str]
) -> None:
    """SimCSE's vectors have the gold scores as cosines, whitening's are random."""
    write_stsb(project / "data/stsb")
    (task,) = build_tasks(["STSB"], text="senteval")
    assert isinstance(task, StsTask)
    for path in Path("reports/scores").glob("*.json"):
        key = json.loads(path.read_text())["run"]["key"]
        encode = oracle(task.pairs) if key.startswith("simcse") else random(0)
        EmbeddingStore.write(stored_vectors(key), unique_texts([task]), encode, encoder=key)
    options = ["--json", "--tasks", "STSB"]
    (output,) = json.loads(printed("compare", "simcse", "whitening", *options))["tasks"]
    low, high = output["over_pairs"]
    assert low < output["difference"] < high
    assert output["difference"] > 0
    (turned,) = json.loads(printed("compare", "whitening", "simcse", *options))["tasks"]
    assert turned["over_pairs"] == pytest.approx([-high, -low])
    (bare,) = json.loads(printed("compare", "simcse", "whitening", *options, "--no-pairs"))["tasks"]
    assert bare["over_pairs"] is None
    assert bare["difference"] == output["difference"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simsce", "whitening"], "did you mean simcse"),
        (["simcse", "simcse"], "on both sides"),
        (["simcse", "whitening", "--tasks", "MR"], "no test set in common"),
        (["simcse@bert", "whitening"], "has no results"),
        *(
            (["simcse", "whitening", "--tasks", names], "no tasks; see `sentbench list tasks`")
            for names in (",", " ", ", ,")
        ),
    ],
)
def test_wrong_names_are_one_line(
    project: Path, refused: Callable[..., str], words: list[str], message: str
) -> None:
    assert message in refused("compare", *words)


def test_a_system_on_two_backbones_is_named_with_one() -> None:
    results = [result("a", 0, {}, backbone=backbone) for backbone in ("x", "y")]
    with pytest.raises(InputError, match="a has results on x, y; write a@x"):
        results_named("a", results)
    assert results_named("a@y", results) == results_named("a__y__s0", results) == results[1:]
    assert results_named("a", results[:1]) == results[:1]
    for name in ("b", "a@", "a@z", "a@yy", "a@Y", "@x", "a__y", "a__y__s1"):
        if name != "a@":  # as without the sign
            with pytest.raises(InputError, match=f"'{name}' has no results"):
                results_named(name, results)


def test_a_part_of_a_backbone_names_none() -> None:
    results = [result("a", 0, {}, backbone="bert-base-uncased")]
    for backbone in ("bert", "bert-base", "base-uncased", "bert-base-uncased-2"):
        with pytest.raises(InputError, match=f"'a@{backbone}' has no results"):
            results_named(f"a@{backbone}", results)
