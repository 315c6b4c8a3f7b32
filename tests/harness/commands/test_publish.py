"""`sentbench publish` on a system of three tiny encoders with scores on raw text."""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main
from harness.commands import publish
from harness.commands.publish_files import complete_weights, reported_values, upload
from harness.errors import InputError
from harness.plan.identity import encoder_hash
from harness.plan.params_file import read_params
from methods.core.encoder import SentenceEncoder
from tests.support import hub_server, tiny
from tests.support.plan import small_plan
from tests.support.results import raw_result
from tests.support.yaml_files import dump_yaml, load_yaml

ROOT = Path(__file__).parents[3]
KEYS = [f"simcse-small__words-50d__s{seed}" for seed in range(3)]
DEV = {0: 0.70, 1: 0.90, 2: 0.80}
TEXTS = ["the dog runs", "a woman reads in the garden", "two horses sleep under a tree near the river"]


def write_scores(key: str, seed: int, folder: Path, *, text: str = "raw") -> None:
    """STS-B of 0.50 + seed / 100 on mteb's files, one year that comes from other files, one part."""
    scores = [
        {"task": task, "metric": metric, "setting": "all", "selection": "best-dev", "value": value, "n": 100}
        for task, value in (("STSB", 0.5 + seed / 100), ("STS12", 0.3), ("STS12-part", 0.2))
        for metric in ("spearman", "pearson")
    ]
    provenance = {"encoder_sha256": encoder_hash(folder), "data_sha256": {"stsb-raw": "d" * 64}, "text": text}
    result = raw_result(key, scores, id="simcse-small", backbone="words-50d", seed=seed, **provenance)
    result["selection"] |= {"best_step": 20, "best_dev": DEV[seed], "last_step": 40}
    path = Path("reports/scores") / f"{key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The committed plan with three seeds of simcse-small, and their artefacts and scores."""
    monkeypatch.chdir(tmp_path)
    params = small_plan()
    runs = params["runs"].items()
    params["runs"] = {key: run for key, run in runs if key in KEYS or run["id"] != "simcse-small"}
    Path("params.yaml").write_text(dump_yaml(params, sort_keys=False))
    Path("leaderboards").symlink_to(ROOT / "leaderboards")
    for seed, key in enumerate(KEYS):
        backbone = tiny.write_backbone(tmp_path / f"bert-{seed}", seed=seed)
        tiny.sentence_encoder(backbone).save(tmp_path / "artefacts" / key)
        (tmp_path / "artefacts" / key / "train.jsonl").write_text("{}\n")
        (tmp_path / "artefacts" / key / "run.json").write_text(json.dumps({"key": key, "selection": {}}))
        write_scores(key, seed, tmp_path / "artefacts" / key)
    return tmp_path


def test_the_folder_loads_with_sentence_transformers_and_holds_the_seed_of_median_dev(project: Path) -> None:
    """Dev scores 0.70, 0.90, 0.80: the vectors are from seed 2."""
    from sentence_transformers import SentenceTransformer

    from methods.core.folders import load_encoder

    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    model = SentenceTransformer(str(project / "card"), device="cpu", trust_remote_code=False)
    ours = load_encoder(project / "artefacts" / KEYS[2]).encode(TEXTS)
    np.testing.assert_allclose(model.encode(TEXTS), ours, atol=1e-5)
    assert not (project / "card/train.jsonl").exists()


def test_the_card_states_the_distribution_over_seeds_and_how_to_rebuild(project: Path) -> None:
    """STS-B 50, 51 and 52: mean 51, sample standard deviation 1."""
    assert main(["publish", *KEYS, "--out", "card"]) == 0
    card = Path("card/README.md").read_text()
    assert "| STSB | spearman | all | 51.00 | 1.00 | 3 | 50.00, 51.00, 52.00 | 100 |" in card
    assert "the seed with the median development score (80.00), not the best one" in card
    assert f"dvc repro evaluate@{KEYS[0]} evaluate@{KEYS[1]} evaluate@{KEYS[2]}" in card
    head = load_yaml(card.split("---")[1])
    assert head["license"] == "other", "that of the word vectors is none that the hub lists"
    assert head["library_name"] == "sentence-transformers"


def test_mteb_reads_the_result_files_of_raw_scores_on_its_own_files(project: Path) -> None:
    """STS12 was not scored on mteb's files and has no result file; each seed is an experiment.

    mteb reads the declaration of the model too.
    """
    import mteb
    from mteb.models.model_meta import ModelMeta
    from mteb.results import TaskResult
    from safetensors.torch import load_file

    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    files = sorted(Path("card/mteb/results").rglob("STS*.json"))
    assert [path.name for path in files] == ["STSBenchmark.json"] * 3
    assert {path.parts[3] for path in files} == {"sentbench__simcse-small__words-50d"}
    task = mteb.get_task("STSBenchmark")
    scores = {path.parent.name: TaskResult.from_disk(path) for path in files}
    assert scores.keys() == {"seed_0", "seed_1", "seed_2"}
    for name, result in scores.items():
        assert result.dataset_revision == task.metadata.revision
        assert result.get_score() == pytest.approx(0.5 + int(name[-1]) / 100)
        result.validate_and_filter_scores(task)
        meta = json.loads((files[int(name[-1])].parent / "model_meta.json").read_text())
        assert len(meta["revision"]) == 40
    names: dict[str, Any] = {}
    exec(compile(Path("card/mteb/model_meta.py").read_text(), "meta", "exec"), names)
    (meta,) = [value for value in names.values() if isinstance(value, ModelMeta)]
    assert meta.name == "sentbench/simcse-small"
    assert meta.n_parameters == sum(t.numel() for t in load_file("card/model.safetensors").values())


def test_scores_on_sentevals_text_give_no_mteb_file_and_the_card_says_why(project: Path) -> None:
    write_scores(KEYS[0], 0, project / "artefacts" / KEYS[0], text="senteval")
    assert main(["publish", KEYS[0], "--out", "card"]) == 0
    card = Path("card/README.md").read_text()
    assert "No MTEB result files: the runs were evaluated on SentEval's text" in card
    assert not Path("card/mteb/results").exists()
    assert not Path("card/.eval_results").exists()


def test_wrong_requests_are_one_line(project: Path, refused: Callable[..., str]) -> None:
    assert "2 systems" in refused("publish", "simcse-small", "moco-small", "--out", "card")
    assert "missing scores" in refused("publish", "moco-small", "--out", "card")
    Path("taken").mkdir()
    Path("taken/README.md").write_text("mine")
    assert "other files" in refused("publish", KEYS[0], "--out", "taken")
    assert Path("taken/README.md").read_text() == "mine"
    (project / "artefacts" / KEYS[0] / "modules.json").unlink()
    assert "no modules.json" in refused("publish", KEYS[0], "--out", "card")
    assert not Path("card").exists()


def test_publishing_one_run_again_replaces_the_folder_and_has_no_spread(project: Path) -> None:
    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    assert main(["publish", KEYS[1], "--out", "card", "--licence", "Our own"]) == 0
    card = Path("card/README.md").read_text()
    assert "| STSB | spearman | all | 51.00 | – | 1 | 51.00 | 100 |" in card
    head = load_yaml(card.split("---")[1])
    assert (head["license"], head["license_name"]) == ("other", "Our own")


def test_a_published_folder_loads_without_a_warning_and_with_the_same_bytes_each_time(
    project: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The artefact has no pooler, which transformers would draw at random with a warning at each load."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel
    from transformers.utils import logging

    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    capfd.readouterr()
    logging.set_verbosity_warning()
    logging.enable_propagation()
    try:
        AutoModel.from_pretrained(project / "artefacts" / KEYS[2], trust_remote_code=False)
        assert "pooler" in caplog.text + capfd.readouterr().err, "else this test sees no warning at all"
        caplog.clear()
        SentenceTransformer(str(project / "card"), device="cpu", trust_remote_code=False)
        more: Any = {"output_loading_info": True}
        model, loading = AutoModel.from_pretrained(project / "card", trust_remote_code=False, **more)
        assert not any(loading.values())
        assert torch.equal(model.pooler.dense.weight, torch.eye(model.config.hidden_size))
        assert "MISSING" not in caplog.text + capfd.readouterr().err
        assert not caplog.records
    finally:
        logging.disable_propagation()
    assert main(["publish", "simcse-small", "--out", "again"]) == 0
    for name in ("model.safetensors", "run.json", "README.md", "mteb/model_meta.py"):
        assert Path("card", name).read_bytes() == Path("again", name).read_bytes()


def test_weights_that_lack_more_than_a_pooler_are_refused(project: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = project / "artefacts" / KEYS[0] / "model.safetensors"
    tensors = load_file(path)
    del tensors["embeddings.LayerNorm.bias"]
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks embeddings\.LayerNorm\.bias"):
        complete_weights(path.parent)


@pytest.mark.parametrize("name", [None, "an-owner/a-model"])
def test_the_declaration_for_mteb_names_the_repository_that_was_given(
    project: Path, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(publish, "write_model_meta", lambda folder, name, values: seen.append(name))
    for step in ("complete_weights", "write_mteb", "card_header", "write_hub_results", "render_card"):
        answer = ([], "none") if step == "write_mteb" else ""
        monkeypatch.setattr(publish, step, lambda *given, answer=answer, **more: answer)
    said = publish.publish(read_params(), ["simcse-small"], Path("card"), name=name)
    assert said == "card: 3 seeds of simcse-small, 0 MTEB result files"
    assert seen == [name or "sentbench/simcse-small"]


def test_the_declaration_for_mteb_states_the_tokens_that_the_encoder_reads(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer than the positions of its transformer: RoBERTa's first ones are for padding."""
    monkeypatch.setattr(SentenceEncoder, "input_limit", 19)
    assert main(["publish", KEYS[0], "--out", "card"]) == 0
    assert "    max_tokens=19,\n" in Path("card/mteb/model_meta.py").read_text()


def test_the_declaration_for_mteb_counts_the_output_layer(project: Path) -> None:
    """From 16 to 3: a matrix and three numbers more than the transformer has."""
    import torch
    from safetensors.torch import load_file

    encoder = tiny.sentence_encoder(project / "bert-0")
    encoder.output = torch.nn.Linear(16, 3)
    encoder.save(project / "artefacts" / KEYS[0])
    write_scores(KEYS[0], 0, project / "artefacts" / KEYS[0])
    assert main(["publish", KEYS[0], "--out", "card"]) == 0
    weights = load_file("card/model.safetensors").values()
    stated = Path("card/mteb/model_meta.py").read_text()
    assert f"    n_parameters={sum(tensor.numel() for tensor in weights) + 3 * 16 + 3},\n" in stated
    assert "    embed_dim=3,\n" in stated


def test_metadata_state_the_published_weights_the_spread_and_the_data(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 2 is published: STS-B 52, mean 51 and standard deviation 1 over three seeds."""
    from huggingface_hub import ModelCard, parse_eval_result_entries

    from harness.data.sources import SOURCES

    monkeypatch.setattr("harness.commands.publish.reported_values", lambda *keys: {"STSB": 53.5})
    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    (actual,) = [
        result
        for result in ModelCard.load("card/README.md").data.eval_results
        if (result.dataset_name, result.metric_type) == ("STSB", "cosine_spearman")
    ]
    revision = SOURCES["stsb-raw"].providers["hub"].revision
    assert (actual.metric_value, actual.dataset_type) == (52.0, "mteb/stsbenchmark-sts")
    assert actual.dataset_revision == revision
    spread = {"seeds": 3, "mean_over_seeds": 51.0, "sd_over_seeds": 1.0}
    assert actual.metric_args == {**spread, "reported_by_paper": 53.5}
    (path,) = Path("card/.eval_results").iterdir()
    (entry,) = parse_eval_result_entries(load_yaml(path.read_text()))
    stated = (entry.dataset_id, entry.value, entry.dataset_revision)
    assert stated == ("mteb/stsbenchmark-sts", 52.0, revision)


def test_the_value_of_a_card_is_the_one_that_the_systems_paper_reports_without_contradiction() -> None:
    """PCL's table 2; SimCSE as others cite it; SCT's STS12 differs between its table and its notebook."""
    assert reported_values("pcl", "bert-base-uncased")["STSB"] == 79.72
    assert reported_values("simcse", "bert-base-uncased")["STSB"] == 76.85
    sct = reported_values("sct", "bert-base-uncased")
    assert sct["STSB"] == 76.91
    assert "STS12" not in sct
    assert "STSB" not in reported_values("dclr", "bert-base-uncased"), "the submission is another variant"
    assert reported_values("simcse-small", "words-50d") == {}


def test_an_upload_contains_every_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with hub_server.serve() as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", "hf_test")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        assert main(["publish", "simcse-small", "--to", "someone/simcse"]) == 0, hub.requests
        assert capsys.readouterr().out.splitlines()[-1].endswith("someone/simcse")
        folder = Path("published/simcse-small")
        sent = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")
                if path.is_file()}  # fmt: skip
        assert {".eval_results/STSBenchmark.yaml", "README.md", "mteb/model_meta.py"} <= sent.keys()
        assert hub.repositories["someone/simcse"].files == sent
        hub.fail("/api/models/someone/simcse/commit/main", hub_server.Fault("status", 9, 403, method="POST"))
        assert main(["publish", KEYS[0], "--to", "someone/simcse", "--out", "card"]) == 2
        assert "someone/simcse:" in capsys.readouterr().err
        assert hub.repositories["someone/simcse"].files == sent


POST = "/api/repos/create"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (hub_server.Fault("status", 1, 429, method="POST", seconds=3), None),
        (hub_server.Fault("status", 2, 503, method="POST"), None),
        (hub_server.Fault("hang-up", 1, method="POST"), None),
        (
            hub_server.Fault("status", 99, 503, method="POST"),
            "the hub answers 503; run the same command again",
        ),
        (
            hub_server.Fault("status", 99, 401, method="POST"),
            r".*\(401\): .*for an upload use a token that may write there, .*`hf auth login`",
        ),
        (
            hub_server.Fault("status", 99, 413, method="POST"),
            r"the hub refuses the request \(413\): try again later",
        ),
        (hub_server.Fault("page", 1, method="POST"), "the answer is not the hub's and may be a login page"),
    ],
)
def test_a_first_request_that_fails_is_repeated_or_one_line_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: hub_server.Fault, words: str | None
) -> None:
    (tmp_path / "card").mkdir()
    (tmp_path / "card/README.md").write_text("words")
    hub_server.no_pauses(monkeypatch)
    with hub_server.serve() as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", "hf_test")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        hub.fail(POST, replace(fault))
        if words is None:
            assert upload(tmp_path / "card", "someone/simcse").endswith("someone/simcse")
            assert hub.repositories["someone/simcse"].files == {"README.md": b"words"}
        else:
            with pytest.raises(InputError, match=f"^someone/simcse: {words}.*; the folder .* is complete$"):
                upload(tmp_path / "card", "someone/simcse")


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_every_folder_that_is_published_has_the_permissions_of_the_users_umask(
    project: Path, mask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folders of the artefact, as of another umask, are 755."""
    monkeypatch.setattr("harness.io.outputs.UMASK", mask)
    before = os.umask(mask)
    try:
        assert main(["publish", KEYS[0], "--out", "card"]) == 0
    finally:
        os.umask(before)
    folders = [Path("card"), *filter(Path.is_dir, Path("card").rglob("*"))]
    assert {folder.name for folder in folders} >= {"card", "1_Pooling"}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o777 & ~mask}


def test_a_token_outside_ascii_is_refused_before_the_work(
    project: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_tök")
    assert "outside ASCII" in refused("publish", "simcse-small", "--to", "someone/simcse")
    assert not Path("published").exists()


def test_an_upload_without_a_name_or_a_token_is_refused_before_the_work(
    project: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    assert "expected NAME/REPO" in refused("publish", "simcse-small", "--to", "simcse")
    assert "--to a/b/c" in refused("publish", "simcse-small", "--to", "a/b/c")
    assert "hf auth login" in refused("publish", "simcse-small", "--to", "someone/simcse")
    assert not Path("published").exists()
