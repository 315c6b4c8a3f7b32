"""What is asked of mteb, which is replaced here: it takes seconds to load (test_mteb_adapter.py has it)."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from harness.errors import InputError
from harness.models.foreign import LibraryEncoder
from harness.tasks.mteb_adapter import (
    LOCAL_STS,
    MtebModel,
    MtebScore,
    count_parameters,
    identity_of,
    local_sts_task,
    run_mteb,
)

SHA = "0123456789" * 7


class Asked:
    """Stands in for mteb; keeps what it is asked."""

    def __init__(self) -> None:
        self.caches: list[Path] = []
        self.options: dict[str, Any] = {}
        self.error: Exception | None = None

    def get_task(self, name: str) -> Any:
        if name not in LOCAL_STS:
            raise KeyError(name)
        metadata = Metadata(name=name, main_score=f"score of {name}", dataset={"path": "hub"})
        return SimpleNamespace(metadata=metadata, dataset=None, data_loaded=False)

    def get_tasks(self) -> Any:
        return [self.get_task(name) for name in LOCAL_STS]

    def ResultCache(self, path: Path) -> Any:
        self.caches.append(path)
        return SimpleNamespace(get_task_result_path=lambda task, meta: path / meta.name / f"{task}.json")

    def evaluate(self, model: Any, tasks: Any, **options: Any) -> Any:
        if self.error:
            raise self.error
        self.options = options
        return [
            SimpleNamespace(
                task_name=task.metadata.name, dataset_revision=f"r{n}", get_score=lambda n=n: np.float64(n)
            )
            for n, task in enumerate(tasks)
        ]


class Metadata(SimpleNamespace):
    def model_copy(self, *, update: dict[str, Any]) -> "Metadata":
        return Metadata(**{**vars(self), **update})


class NotFound(Exception):
    """The library's error for a data set that the hub does not have."""


@pytest.fixture
def mteb(monkeypatch: pytest.MonkeyPatch) -> Asked:
    asked, module = Asked(), ModuleType("mteb")
    for name in ("get_task", "get_tasks", "ResultCache", "evaluate"):
        setattr(module, name, getattr(asked, name))
    datasets, exceptions = ModuleType("datasets"), ModuleType("datasets.exceptions")
    vars(datasets).update(Dataset=SimpleNamespace(from_list=list), DatasetDict=dict, exceptions=exceptions)
    vars(exceptions).update(DatasetNotFoundError=NotFound)
    models, meta = ModuleType("mteb.models"), ModuleType("mteb.models.model_meta")
    vars(models).update(
        ModelMeta=SimpleNamespace(create_empty=lambda *, overwrites: SimpleNamespace(**overwrites))
    )
    vars(meta).update(ScoringFunction=SimpleNamespace(COSINE="cosine"))
    for stub in (module, datasets, exceptions, models, meta):
        monkeypatch.setitem(sys.modules, stub.__name__, stub)
    return asked


def encoder() -> Any:
    return SimpleNamespace(dim=7, encode=lambda texts: [[len(text), 1.0] for text in texts])


@pytest.fixture
def model(mteb: Asked) -> MtebModel:
    return MtebModel(encoder(), name="sentbench/one", revision="two")


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """A copy of STS12 with two pairs."""
    rows = [
        {"sentence1": "a", "sentence2": "b", "score": 4.5},
        {"sentence1": "c", "sentence2": "d", "score": 0},
    ]
    (tmp_path / "copies/sts12-sts").mkdir(parents=True)
    (tmp_path / "copies/sts12-sts/test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "copies"


def test_a_model_says_who_it_is(mteb: Asked) -> None:
    stated: Any = MtebModel(
        encoder(), name="a/b", revision="c", experiment={"seed": 3}, parameters=11
    ).mteb_model_meta
    assert vars(stated) == {
        "name": "a/b",
        "revision": "c",
        "embed_dim": 7,
        "n_parameters": 11,
        "languages": ["eng-Latn"],
        "similarity_fn_name": "cosine",
        "framework": ["PyTorch"],
        "experiment_kwargs": {"seed": 3},
    }
    for experiment in (None, {}):
        plain: Any = MtebModel(encoder(), name="a/b", revision="c", experiment=experiment).mteb_model_meta
        assert (plain.experiment_kwargs, plain.n_parameters) == (None, None)


def test_every_text_of_every_batch_has_a_vector(model: MtebModel) -> None:
    batches = [{"text": ["a", "bb"], "id": [1, 2]}, {"text": ["ccc"]}]
    vectors = model.encode(batches, task_metadata=None, prompt_type="query")
    assert vectors.tolist() == [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]


def test_similarities_are_cosines_of_all_rows_or_of_equal_ones(model: MtebModel) -> None:
    first, second = np.array([[2.0, 0.0], [0.0, 3.0]], np.float32), np.array([[1.0, 1.0], [0.0, 5.0]])
    half = 0.5**0.5
    np.testing.assert_allclose(model.similarity(first, second), [[half, 0], [half, 1]], atol=1e-15)
    np.testing.assert_allclose(model.similarity_pairwise(first, second), [half, 1], atol=1e-15)
    assert model.similarity(first[0], second[0]).shape == (1, 1)
    assert model.similarity_pairwise(first[0], second[0]).shape == (1,)
    assert model.similarity(first, second).dtype == np.float64


@pytest.mark.parametrize("progress", [False, True])
def test_results_of_the_hub_are_kept_and_those_of_a_copy_are_made_anew(
    mteb: Asked, model: MtebModel, copies: Path, tmp_path: Path, progress: bool
) -> None:
    out = tmp_path / "out"
    scores = run_mteb(model, ["STS12", "SICK-R"], out=out, progress=progress)
    assert scores == [
        MtebScore("STS12", "score of STS12", 0.0, "r0", str(out / "sentbench/one/STS12.json")),
        MtebScore("SICK-R", "score of SICK-R", 1.0, "r1", str(out / "sentbench/one/SICK-R.json")),
    ]
    assert mteb.options.pop("cache") is not None
    assert mteb.options == {"overwrite_strategy": "only-missing", "show_progress_bar": progress}
    (local,) = run_mteb(model, ["STS12"], out=out, local=copies)
    assert local.file == str(out / "local/sentbench/one/STS12.json")
    assert mteb.options.pop("cache") is not None
    assert mteb.options == {"overwrite_strategy": "always", "show_progress_bar": False}
    assert mteb.caches == [out, out / "local"]


def test_no_task_asks_nothing(model: MtebModel, mteb: Asked, tmp_path: Path) -> None:
    assert run_mteb(model, [], out=tmp_path) == []
    assert not mteb.caches


def test_a_copy_has_its_pairs_and_the_hash_of_its_bytes(mteb: Asked, copies: Path) -> None:
    task = local_sts_task("STS12", copies)
    assert task.dataset == {
        "test": [
            {"sentence1": "a", "sentence2": "b", "score": 4.5},
            {"sentence1": "c", "sentence2": "d", "score": 0.0},
        ]
    }
    assert task.data_loaded
    assert task.metadata.dataset["path"] == "local/sts12-sts"
    before = task.metadata.dataset["revision"]
    assert before.startswith("local-")
    assert len(before) == len("local-") + 16
    path = copies / "sts12-sts/test.jsonl"
    path.write_text(path.read_text().replace("4.5", "4.6"))
    assert local_sts_task("STS12", copies).metadata.dataset["revision"] != before
    with pytest.raises(InputError, match=r"sickr-sts/test\.jsonl: no such file"):
        local_sts_task("SICK-R", copies)


def test_an_unknown_task_is_named_with_its_neighbours(mteb: Asked, model: MtebModel, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"mteb has no task 'STS122', expected one of its 7 names \(did you mean STS12, "
    ):
        run_mteb(model, ["STS122"], out=tmp_path)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("no route\nmore"), "no route"),
        (NotFound("gone"), "gone"),
        (ConnectionError(), "ConnectionError"),
    ],
)
def test_data_out_of_reach_are_one_line(
    mteb: Asked, model: MtebModel, tmp_path: Path, error: Exception, reason: str
) -> None:
    mteb.error = error
    with pytest.raises(
        InputError,
        match=rf"^mteb's data of STS12, STS13: the hub is not reachable or refuses them \({reason}\); set "
        r"SENTBENCH_MIRROR to use a mirror for STS12, STS13, STS14, STS15, STS16, STSBenchmark, SICK-R$",
    ):
        run_mteb(model, ["STS12", "STS13"], out=tmp_path)


@pytest.mark.parametrize(
    ("label", "name"),
    [("pcl/small: 1", "pcl-small-1"), ("a.b_c-D9", "a.b_c-D9"), ("-a-", "a"), ("é/", "model")],
)
def test_a_label_becomes_a_name_of_plain_characters(label: str, name: str) -> None:
    assert identity_of(label, SHA) == (f"sentbench/{name}", SHA[:40])


def test_parameters_are_numbers_in_weights_and_buffers_once() -> None:
    """10 weights that two layers share and a buffer of 5; counters are no parameters."""
    network = torch.nn.Module()
    network.first, network.tied = (torch.nn.Linear(5, 2, bias=False) for _ in range(2))
    network.tied.weight = network.first.weight
    network.register_buffer("mean", torch.zeros(5))
    network.register_buffer("steps", torch.zeros(3, dtype=torch.int64))
    assert count_parameters(network) == 15
    assert count_parameters(LibraryEncoder(network, Path("there"))) == 15
    assert count_parameters(object()) == 0
