"""`sentbench publish` on a system of three tiny encoders with scores on raw text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from harness.cli import main
from harness.report.formats.card import median_seed, score_lines
from harness.results.store import read_result
from harness.stages.evaluate import encoder_hash
from tests.support import tiny

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
    run = {
        "key": key,
        "id": "simcse-small",
        "method": "simcse",
        "variant": "released",
        "backbone": "words-50d",
    }
    result = {
        "schema": 1,
        "run": {**run, "seed": seed, "recipe": "r", "identity": "i"},
        "scores": scores,
        "selection": {
            "best_step": 20, "best_dev": DEV[seed], "last_step": 40, "last_dev": 0.5, "initial_dev": 0.4
        },
        "provenance": {
            "git_commit": "c0ffee", "git_dirty": False, "encoder_sha256": encoder_hash(folder),
            "data_sha256": {"stsb-raw": "d" * 64}, "versions": {"torch": "2"}, "device": "cpu",
            "precision": "fp32", "text": text,
        },
    }  # fmt: skip
    path = Path("reports/scores") / f"{key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The committed plan, and artefacts and scores of the three seeds of simcse-small."""
    monkeypatch.chdir(tmp_path)
    params: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text())
    Path("params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    for seed, key in enumerate(KEYS):
        backbone = tiny.write_backbone(tmp_path / f"bert-{seed}", seed=seed)
        tiny.sentence_encoder(backbone).save(tmp_path / "artefacts" / key)
        (tmp_path / "artefacts" / key / "train.jsonl").write_text("{}\n")
        (tmp_path / "artefacts" / key / "run.json").write_text(json.dumps({"key": key, "selection": {}}))
        write_scores(key, seed, tmp_path / "artefacts" / key)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert main(["publish", *command]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_the_folder_loads_with_sentence_transformers_and_holds_the_seed_of_median_dev(project: Path) -> None:
    """Dev scores 0.70, 0.90, 0.80: seed 2 is on top, seeds 0 and 1 below, each with its own vectors."""
    from sentence_transformers import SentenceTransformer

    from methods.core.folders import load_encoder

    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    for folder, seed in (("card", 2), ("card/seeds/0", 0), ("card/seeds/1", 1)):
        theirs = SentenceTransformer(str(project / folder), device="cpu", trust_remote_code=False).encode(
            TEXTS
        )
        ours = load_encoder(project / "artefacts" / KEYS[seed]).encode(TEXTS)
        np.testing.assert_allclose(theirs, ours, atol=1e-5)
    assert not (project / "card/seeds/2").exists()
    assert not (project / "card/train.jsonl").exists()


def test_the_card_states_the_distribution_over_seeds_and_how_to_rebuild(project: Path) -> None:
    """STS-B 50, 51 and 52: mean 51, sample standard deviation 1."""
    assert main(["publish", *KEYS, "--out", "card"]) == 0
    card = Path("card/README.md").read_text()
    assert "| STSB | spearman | all | 51.00 | 1.00 | 3 | 50.00, 51.00, 52.00 | 100 |" in card
    assert "the seed with the median development score (80.00), not the best one" in card
    assert f"dvc repro evaluate@{KEYS[0]} evaluate@{KEYS[1]} evaluate@{KEYS[2]}" in card
    assert "sentbench plan small" in card
    head = yaml.safe_load(card.split("---")[1])
    assert head["license"] == "other", "that of the word vectors is none that the hub lists"
    assert head["library_name"] == "sentence-transformers"


def test_one_run_has_no_spread_and_lies_alone(project: Path) -> None:
    assert main(["publish", KEYS[1], "--out", "card"]) == 0
    card = Path("card/README.md").read_text()
    assert "| STSB | spearman | all | 51.00 | – | 1 | 51.00 | 100 |" in card
    assert "median" not in card
    assert not Path("card/seeds").exists()


def test_mteb_reads_the_result_files_of_raw_scores_on_its_own_files(project: Path) -> None:
    """STS12 was not scored on mteb's files and has no result file; each seed is an experiment."""
    import mteb
    from mteb.results import TaskResult

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
    for path in files:
        meta = json.loads((path.parent / "model_meta.json").read_text())
        assert len(meta["revision"]) == 40


def test_scores_on_sentevals_text_give_no_mteb_file_and_the_card_says_why(project: Path) -> None:
    write_scores(KEYS[0], 0, project / "artefacts" / KEYS[0], text="senteval")
    assert main(["publish", KEYS[0], "--out", "card"]) == 0
    assert (
        "No MTEB result files: the runs were evaluated on SentEval's text"
        in Path("card/README.md").read_text()
    )
    assert not Path("card/mteb").exists()


def test_wrong_requests_are_one_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean simcse-small" in refused(capsys, "simcse-smal", "--out", "card")
    assert "2 systems" in refused(capsys, "simcse-small", "moco-small", "--out", "card")
    assert "no scores" in refused(capsys, "moco-small", "--out", "card")
    Path("taken").mkdir()
    Path("taken/README.md").write_text("mine")
    assert "something else" in refused(capsys, KEYS[0], "--out", "taken")
    assert Path("taken/README.md").read_text() == "mine"
    (project / "artefacts" / KEYS[0] / "modules.json").unlink()
    assert "no modules.json" in refused(capsys, KEYS[0], "--out", "card")
    assert not Path("card").exists()


def test_publishing_again_replaces_the_folder(project: Path) -> None:
    assert main(["publish", "simcse-small", "--out", "card"]) == 0
    assert main(["publish", KEYS[0], "--out", "card", "--licence", "Our own"]) == 0
    assert not Path("card/seeds").exists()
    head = yaml.safe_load(Path("card/README.md").read_text().split("---")[1])
    assert (head["license"], head["license_name"]) == ("other", "Our own")


def test_the_median_of_two_is_the_lower_and_scores_follow_the_seeds(project: Path) -> None:
    results = [read_result(Path(f"reports/scores/{key}.json")) for key in KEYS]
    assert median_seed(results).run.seed == 2
    assert median_seed(results[:2]).run.seed == 0
    assert score_lines(results[::-1])[0].each == "50.00, 51.00, 52.00"
