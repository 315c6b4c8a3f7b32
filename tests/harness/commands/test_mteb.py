"""The mteb stage: names and places of results, and their equality with our scores."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from huggingface_hub.errors import HfHubHTTPError, HTTPError, OfflineModeIsEnabled

from harness.commands.mteb import encoder_sha256, mteb_identity, run_folder
from harness.errors import InputError
from harness.tasks.sts_sets import sts_task
from methods.core.folders import load_encoder
from tests.support import tiny
from tests.support.samples import write_words

pytestmark = pytest.mark.thorough
RUN = {
    "id": "simcse-tiny",
    "backbone": "bert",
    "identity": "c" * 64,
    "seed": 3,
    "key": "simcse-tiny__bert__s3",
}


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with only sixty pairs of STS12."""
    folder = tmp_path / "mirror/mteb/sts12-sts"
    folder.mkdir(parents=True)
    texts = [row.text for row in tiny.rows(120)]
    lines = [
        json.dumps({"sentence1": first, "sentence2": second, "score": (7 * number % 26) / 5})
        for number, (first, second) in enumerate(zip(texts[::2], texts[1::2], strict=True))
    ]
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("SENTBENCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded,mirror,hub")
    return folder


def encoder_folder(folder: Path, *, seed: int = 0, record: dict[str, object] | None = None) -> Path:
    """Returns a folder with a tiny encoder of weights drawn by the seed; with `record` it is a run's."""
    backbone = tiny.write_backbone(folder.parent / f"{folder.name}-backbone")
    encoder = tiny.sentence_encoder(backbone)
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.add_(0.5 * torch.randn_like(weight))
    encoder.save(folder)
    if record:
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def test_a_run_is_filed_under_its_system_its_identity_and_its_seed(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "anything", record=RUN)
    identity = mteb_identity(folder)
    assert identity.name == "sentbench/simcse-tiny__bert"
    assert len(identity.revision) == 40
    assert identity.experiment == {"seed": 3}
    copy = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    assert mteb_identity(copy) == identity
    (copy / "run.json").write_text(json.dumps({**RUN, "identity": "d" * 64}), encoding="utf-8")
    assert mteb_identity(copy).revision != identity.revision
    assert mteb_identity(copy, pooling="cls").experiment == {"seed": 3, "pooling": "cls"}


def test_only_files_that_decide_the_vectors_decide_the_revision(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "model")
    before = encoder_sha256(folder)
    (folder / "README.md").write_text("a card", encoding="utf-8")
    (folder / "train.jsonl").write_text("{}\n", encoding="utf-8")
    shutil.copytree(folder / "1_Pooling", folder / "last/1_Pooling")
    assert encoder_sha256(folder) == before
    pooling = folder / "1_Pooling/config.json"
    pooling.write_text(pooling.read_text("utf-8").replace("mean", "max"), encoding="utf-8")
    assert encoder_sha256(folder) != before


@pytest.mark.parametrize(
    "name",
    [
        *["pytorch_model.bin", "2_Dense/pytorch_model.bin", "spiece.vocab", "0/modules", "vocab.txt"],
        *["config_sentence_transformers.json", "sentence_bert_config.json", "sentbench.json", "config.json"],
        *["modules.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"],
        *["1_Pooling/config.json", "2_Dense/README.md", "0/runs/weights", "generation_config.json"],
    ],
)
def test_a_file_of_any_ending_in_any_subfolder_decides_the_revision(tmp_path: Path, name: str) -> None:
    folder = encoder_folder(tmp_path / "model")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    revisions = set()
    for content in ("one", "two"):
        (folder / name).write_text(content)
        revisions.add(mteb_identity(folder).revision)
    assert len(revisions) == 2


def test_two_models_of_one_folder_name_give_two_results(copies: Path, tmp_path: Path) -> None:
    actual = {}
    for seed in (0, 1):
        (tmp_path / str(seed)).mkdir()
        folder = encoder_folder(tmp_path / str(seed) / "model", seed=seed)
        actual[seed] = run_folder(folder, ["STS12"], out=tmp_path / "out", device="cpu")
    (first, (score,)), (second, (other,)) = actual[0], actual[1]
    assert first.name != second.name
    assert first.revision != second.revision
    assert score.value != other.value
    assert score.file != other.file
    assert Path(score.file).is_file()
    assert Path(other.file).is_file()


def test_a_pooling_is_part_of_an_identity_only_where_it_changes_vectors(copies: Path, tmp_path: Path) -> None:
    (tmp_path / "bert").mkdir()
    words, bert = write_words(tmp_path / "words"), encoder_folder(tmp_path / "bert/model")
    for folder, experiment in ((words, {}), (bert, {"pooling": "cls"})):
        stated, _ = run_folder(folder, ["STS12"], out=tmp_path / "out", device="cpu")
        other, _ = run_folder(folder, ["STS12"], out=tmp_path / "out", pooling="cls", device="cpu")
        assert stated.experiment == {}
        assert other == stated._replace(experiment=experiment)


def test_results_have_the_layout_of_the_public_repository(copies: Path, tmp_path: Path) -> None:
    """results/ORG__MODEL/REVISION/experiments/seed_3/TASK.json next to model_meta.json; mteb reads both.

    Scores are our own, and their data revision is marked as local.
    """
    import mteb
    from mteb.models import ModelMeta

    folder = encoder_folder(tmp_path / "model", record=RUN)
    identity, (score,) = run_folder(folder, ["STS12"], out=tmp_path / "out", device="cpu")
    path = Path(score.file)
    below = path.relative_to(tmp_path / "out/local").as_posix()
    assert below == f"results/sentbench__simcse-tiny__bert/{identity.revision}/experiments/seed_3/STS12.json"
    meta = ModelMeta.model_validate_json_resolved((path.parent / "model_meta.json").read_text("utf-8"))
    assert (meta.name, meta.revision, meta.experiment_kwargs) == identity
    assert meta.n_parameters == sum(weight.numel() for weight in load_encoder(folder).parameters())
    cache = mteb.ResultCache(tmp_path / "out/local")
    loaded = cache.load_results(models=[meta], tasks=["STS12"], include_remote=False)
    (result,) = loaded.model_results[0].task_results
    assert result.get_score() == pytest.approx(score.value, abs=1e-6)
    native = sts_task("STS12", "raw", "sts12-raw", folder=copies).evaluate(load_encoder(folder).encode)
    assert 100 * score.value == pytest.approx(100 * native[0].value, abs=0.01)
    assert score.data_revision.startswith("local-")
    assert mteb.get_task("STS12").metadata.revision not in path.read_text(encoding="utf-8")


def test_the_command_prints_one_object(copies: Path, tmp_path: Path, printed: Callable[..., str]) -> None:
    folder = encoder_folder(tmp_path / "model")
    command = ["mteb", str(folder), "--tasks", "STS12", "--out", str(tmp_path / "out"), "--device", "cpu"]
    output = json.loads(printed(*command, "--json"))
    assert set(output) == {"name", "revision", "experiment", "scores"}
    assert [(score["task"], score["metric"]) for score in output["scores"]] == [("STS12", "cosine_spearman")]
    assert output["revision"] in printed(*command)


ANSWER: Any = SimpleNamespace(headers={}, request=None, status_code=500)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionError("Couldn't reach 'mteb/sts13-sts' on the Hub"),
        HTTPError("[Errno 104] Connection reset by peer\nat line 7"),
        HfHubHTTPError("", response=ANSWER),
        OfflineModeIsEnabled("offline"),
    ],
)
def test_any_error_of_the_hubs_client_is_one_clear_line(
    error: Exception, copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mteb

    def fail(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(mteb, "evaluate", fail)
    said = "data of STS13: the hub is not reachable or refuses .*SENTBENCH_MIRROR"
    with pytest.raises(InputError, match=said) as refusal:
        run_folder(encoder_folder(tmp_path / "model"), ["STS13"], out=tmp_path / "out", device="cpu")
    assert "\n" not in str(refusal.value)


def test_no_task_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name at least one mteb task"):
        run_folder(encoder_folder(tmp_path / "model"), [], out=tmp_path / "out", device="cpu")


def test_a_description_that_is_not_a_run_s_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a JSON object with backbone, identity, seed"):
        mteb_identity(encoder_folder(tmp_path / "model", record={"id": "x"}))


@pytest.mark.parametrize(
    ("providers", "local"), [("embedded,mirror,hub", True), ("hub,mirror", False), ("embedded,mirror", True)]
)
def test_the_order_of_providers_decides_between_mirror_and_hub(
    providers: str, local: bool, copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[list[str], bool]] = []

    def record(
        model: object, tasks: list[str], *, out: Path, local: Path | None = None, progress: bool
    ) -> list[object]:
        asked.append((list(tasks), local is not None))
        return []

    monkeypatch.setenv("SENTBENCH_PROVIDERS", providers)
    monkeypatch.setattr("harness.tasks.mteb_adapter.run_mteb", record)
    run_folder(encoder_folder(tmp_path / "model"), ["STS12", "STS13"], out=tmp_path / "out", device="cpu")
    hub = ["STS13"] if local else ["STS12", "STS13"]
    assert asked == ([(hub, False), (["STS12"], True)] if local else [(hub, False)])
