"""A run from its entry in the plan to its scores: each of its settings reaches training and evaluation."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from harness.commands.stage_of_run import evaluate, gpu_memory, train
from harness.data.corpora import read_corpus
from harness.evidence.store import read_result
from harness.io.embeddings import EmbeddingStore
from harness.paths import RESUME, stored_vectors
from harness.plan.entries import Params, Run
from harness.plan.params_file import read_params
from harness.stages.inputs import StageInputs
from harness.stages.train import build
from harness.tasks.registry import build_tasks
from methods.core.folders import load_encoder
from methods.core.rows import Row
from methods.core.streams import INITIALISE, row_order, subset, torch_seed
from methods.core.trainer import Trainer
from methods.simcse.method import SimCSE
from tests.support import tiny

ROOT = Path(__file__).parents[3]
RAW = "The old man's dog ran, didn't it?"
TOKENISED = "the old man 's dog ran , didn 't it ?"
PAIRS = 8
TEXTS = {
    split: [f"{row.text} {split}" for row in tiny.rows(2 * PAIRS - 1, seed=seed)] + [RAW]
    for split, seed in {"train": 4, "dev": 5, "test": 6}.items()
}
"""The sentences of each split: all but RAW differ."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a tiny backbone, a corpus of 24 rows and STS-B in raw sentences."""
    folder = tmp_path_factory.mktemp("made") / "project"
    tiny.write_backbone(folder / "backbones/bert")
    (folder / "data/words").mkdir(parents=True)
    (folder / "data/words/words.txt").write_text("".join(f"{row.text}\n" for row in tiny.rows()))
    (folder / "data/stsb").mkdir()
    for split, texts in TEXTS.items():
        lines = (
            f"main-news\tMSRpar\t2012test\t{k}\t{0.7 * (3 * k % 8):.1f}\t{first}\t{second}\n"
            for k, (first, second) in enumerate(zip(texts[::2], texts[1::2], strict=True))
        )
        (folder / f"data/stsb/sts-{split}.csv").write_text("".join(lines))
    (folder / "data/stsb/source.json").write_text("{}")
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "project"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    return Path.cwd()


def planned(train: Mapping[str, Any] | None = None, **changes: Any) -> Params:
    """A plan of one run, `run`: SimCSE with its head, four steps that are each evaluated."""
    params = read_params(ROOT / "params.yaml")
    entry = params.runs["simcse-small__words-50d__s0"].model_dump()
    entry |= {"backbone": "backbones/bert", "corpus": "data/words", "parent": "data/words"}
    entry |= {"tasks": ["STSB", "STSB-dev"], **changes}
    entry["train"] |= {"steps": 4, "batch_size": 8, "eval_every": 1, "learning_rate": 0.02, **(train or {})}
    links = {
        f"selection-{form}": {"source": "data/stsb", "after": "data/stsb"} for form in ("senteval", "raw")
    }
    raw = params.model_dump() | {"runs": {"run": entry}, "reads": links}
    return Params.model_validate(raw | {"sources": {}, "backbones": {}, "corpora": {}, "teachers": {}})


def trainer_of(run: Run) -> Trainer:
    return build(StageInputs(run, {**run.folders(), "state": Path("state")}, Path("out")))


def scores_of(folder: Path) -> dict[tuple[str, str, str], float]:
    encoder = load_encoder(folder)
    return {
        (score.task, score.metric, score.setting): score.value
        for task in build_tasks(["STSB", "STSB-dev"], text="senteval")
        for score in task.evaluate(encoder.encode)
    }


@pytest.mark.parametrize("weights", ["best-dev", "last", "both"])
def test_scores_and_kept_vectors_belong_to_the_weights_in_their_name(weights: str, project: Path) -> None:
    """Seed 2 is best before its last step; scores are computed here from the folder of each name."""
    params, folder = planned(weights=weights, seed=2), Path("artefacts/run")
    train(params, "run", folder, device="cpu", resume=False)
    result = read_result(evaluate(params, "run", folder, device="cpu"))
    selection = result.selection
    assert 0 < selection.best_step < selection.last_step == 4
    assert selection.best_dev > selection.last_dev
    folders = {"best-dev": folder, "last": folder / "last"}
    kept = folders["last" if weights == "last" else "best-dev"]
    wanted = list(folders) if weights == "both" else [weights]
    assert [*dict.fromkeys(score.selection for score in result.scores)] == wanted
    for name in wanted:
        expected = scores_of(folders[name])
        actual = [score for score in result.scores if score.selection == name]
        assert {(entry.task, entry.metric, entry.setting): entry.value for entry in actual} == pytest.approx(
            expected, abs=2e-3
        )
        dev = expected["STSB-dev", "spearman", "all"]
        assert dev == pytest.approx(
            selection.best_dev if name == "best-dev" else selection.last_dev, abs=2e-3
        )
    texts = [*dict.fromkeys(build_tasks(["STSB"], text="senteval")[0].texts())]
    vectors = EmbeddingStore.load(stored_vectors("run")).encode(texts)
    np.testing.assert_allclose(vectors, load_encoder(kept).encode(texts), atol=2e-2)
    other = folders["last" if kept == folder else "best-dev"]
    if other.is_dir():
        assert not np.allclose(vectors, load_encoder(other).encode(texts), atol=2e-2)


@pytest.mark.parametrize(("text", "form"), [("raw", RAW), ("senteval", TOKENISED)])
def test_selection_and_evaluation_read_the_text_form_of_the_run(text: str, form: str, project: Path) -> None:
    params, asked = planned(text=text, tasks=["STSB"]), []

    class Spy:
        def encode(self, texts: Sequence[str], **options: Any) -> np.ndarray:
            asked.extend(texts)
            return np.random.default_rng(len(asked)).normal(size=(len(texts), 4))

    run = params.run("run")
    trainer_of(run).evaluate(Spy())  # type: ignore[arg-type]
    assert form in asked
    assert not {RAW, TOKENISED} - {form} & set(asked)
    train(params, "run", Path("artefacts/run"), device="cpu", resume=False)
    evaluate(params, "run", Path("artefacts/run"), device="cpu")
    store = EmbeddingStore.load(stored_vectors("run"))
    assert [store.missing([needed]) == [] for needed in (RAW, TOKENISED)] == [
        needed == form for needed in (RAW, TOKENISED)
    ]


def test_selection_reads_dev_and_a_task_its_own_split_alone(project: Path) -> None:
    """No sentence of test is encoded while weights are selected, and none of train at all."""
    params, asked = planned(text="raw", tasks=["STSB"]), list[str]()

    class Spy:
        def encode(self, texts: Sequence[str], **options: Any) -> np.ndarray:
            asked.extend(texts)
            return np.random.default_rng(0).normal(size=(len(texts), 4))

    run = params.run("run")
    trainer_of(run).evaluate(Spy())  # type: ignore[arg-type]
    assert sorted(asked) == sorted(set(TEXTS["dev"]))
    train(params, "run", Path("artefacts/run"), device="cpu", resume=False)
    for task, split in {"STSB": "test", "STSB-dev": "dev"}.items():
        evaluate(planned(text="raw", tasks=[task]), "run", Path("artefacts/run"), device="cpu")
        store = EmbeddingStore.load(stored_vectors("run"))
        stored = {text for texts in TEXTS.values() for text in texts if not store.missing([text])}
        assert stored == set(TEXTS[split])


@pytest.mark.parametrize("seed", [0, 1])
def test_a_seed_decides_the_first_weights_the_share_and_the_order_of_rows(
    seed: int, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows that training is given, and every weight as torch draws it after the run's own seed."""
    params = planned(seed=seed, corpus_share=0.5, train={"steps": 1})
    run = params.run("run")
    given: list[Sequence[Row]] = []
    fit = Trainer.fit
    monkeypatch.setattr(Trainer, "fit", lambda self, rows: (given.append(rows), fit(self, rows))[1])
    trainer = trainer_of(run)
    torch.manual_seed(torch_seed(seed, INITIALISE))
    method, config, _ = run.read_settings()
    expected = method(config, _networks(run)).state_dict()
    for name, value in trainer.method.state_dict().items():
        assert torch.equal(value, expected[name]), name
    assert trainer.seed == seed
    train(params, "run", Path("artefacts/run"), device="cpu", resume=False)
    chosen = subset(range(24), 0.5, seed=seed)
    assert [row.index for row in given[0]] == list(chosen)
    assert given[0] == [read_corpus(Path(run.corpus))[index] for index in chosen]
    assert json.loads(Path("artefacts/run/run.json").read_text())["rows"] == 12
    assert subset(range(24), 0.5, seed=0) != subset(range(24), 0.5, seed=1)
    assert list(row_order(0, 0, 12)) != list(row_order(1, 0, 12))


def test_a_resume_state_of_another_identity_is_told_and_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed after its second step, then its rate changes; a state of the present identity is continued."""
    after_step = SimCSE.after_step

    def dying(self: SimCSE, step: int) -> None:
        after_step(self, step)
        if step == 2:
            raise KeyboardInterrupt

    folder = Path("artefacts/run")
    with monkeypatch.context() as patch:
        patch.setattr(SimCSE, "after_step", dying)
        with pytest.raises(KeyboardInterrupt):
            train(planned(), "run", folder, device="cpu", resume=True)
    (state,) = (path for path in RESUME.iterdir() if path.is_dir())
    capsys.readouterr()
    train(planned(train={"learning_rate": 0.01}), "run", folder, device="cpu", resume=True)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("sentbench: ")]
    assert told == [
        f"sentbench: {state}: a killed training of run with other code, settings or data; it is not "
        "continued, delete the folder"
    ]
    train(planned(), "run", folder, device="cpu", resume=True)
    assert "sentbench: " not in capsys.readouterr().err
    assert [path for path in RESUME.iterdir() if path.is_dir()] == []


def test_files_that_a_killed_stage_left_are_in_no_output(project: Path) -> None:
    """Both work folders have deterministic names: the next call of the run empties them, and removes them."""
    params, folder = planned(), Path("artefacts/run")
    train(params, "run", folder, device="cpu", resume=False)
    identity = json.loads((folder / "run.json").read_text())["identity"]
    files = sorted(path.name for path in folder.rglob("*"))
    for name in (identity, "run"):
        (RESUME / f"{name}.out").mkdir(parents=True)
        (RESUME / f"{name}.out" / "left.txt").write_text("x")
    train(params, "run", folder, device="cpu", resume=False)
    evaluate(params, "run", folder, device="cpu")
    assert sorted(path.name for path in folder.rglob("*")) == files
    assert list(RESUME.iterdir()) == []


def _networks(run: Any) -> Any:
    from methods.core.networks import Networks

    return Networks(Path(run.backbone), pooling=run.pooling, parent=None)


def test_a_training_records_the_memory_that_it_held_on_its_gpu_and_the_gpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """5 GiB reserved, of which tensors filled 4: runs that share a GPU need the 5. The run uses GPU 1."""
    gib = 2**30
    sizes = {0: 80 * gib, 1: 24 * gib}
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda *_: 5 * gib)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda *_: 4 * gib)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=sizes[device])
    )
    assert gpu_memory("cuda") == {"peak_memory": 5 * gib, "card_memory": 24 * gib}
    assert gpu_memory("cpu") == {}
