"""Fingerprint files of code and data: content, changes, and dependents."""

from pathlib import Path
from typing import Any

import pytest

from harness.io.files import sha256_of_folder
from harness.paths import DATA_HASHES
from harness.plan.entries import Params, SourceLink
from harness.plan.fingerprints import write_code_fingerprints, write_data_fingerprint
from harness.plan.identity import FIXED_STAGES, arithmetic_used, run_identity
from harness.plan.inputs import _chain
from harness.plan.params_file import read_params
from methods.registry import METHODS
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[3]
PIPELINE = load_yaml((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
SOURCES = ["sickr", "sts12", "stsb"]
LINKS = ["evaluation-senteval-1", "evaluation-senteval-2", "evaluation-senteval"]
RUN = "simcse-small__words-50d__s0"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """A folder with three sources and a plan whose evaluation reads them; a fourth is not read."""
    monkeypatch.chdir(tmp_path)
    for name in (*SOURCES, "wiki-small"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "file.txt").write_text(name)
    links = {name: SourceLink.model_validate(link) for name, link in _chain("evaluation-senteval", SOURCES)}
    return read_params(ROOT / "params.yaml").model_copy(update={"reads": links})


def hashed(params: Params) -> str:
    for name in LINKS:
        assert write_data_fingerprint(params, name) == DATA_HASHES / f"{name}.txt"
    return (DATA_HASHES / "evaluation-senteval.txt").read_text()


def test_the_last_link_of_a_chain_has_the_hashes_of_all_its_sources(project: Params) -> None:
    assert list(project.reads) == LINKS
    lines = [f"data/{name} {sha256_of_folder(Path('data') / name)}\n" for name in SOURCES]
    assert hashed(project) == "".join(lines)
    assert project.folders_read("evaluation-senteval") == [f"data/{name}" for name in SOURCES]


def test_a_runs_identity_has_the_data_of_its_own_selection_and_no_other(project: Params) -> None:
    """The plan of another text form adds a reader; the run's own reader keeps its sources."""
    links = {"selection-senteval": SourceLink(source="data/stsb", after="data/stsb")}
    links["selection-raw"] = SourceLink(source="data/sickr", after="data/sickr")
    params, run = project.model_copy(update={"reads": links}), project.runs[RUN]
    Path(run.backbone).mkdir(parents=True)
    before = run_identity(params, run, "portable")
    Path("data/sickr/file.txt").write_text("other")
    assert run_identity(params, run, "portable") == before
    Path("data/stsb/file.txt").write_text("other")
    assert run_identity(params, run, "portable") != before


def test_an_identity_includes_the_arithmetic_of_the_process(project: Params) -> None:
    reads = {"selection-senteval": SourceLink(source="data/stsb", after="data/stsb")}
    params, run = project.model_copy(update={"reads": reads}), project.runs[RUN]
    Path(run.backbone).mkdir(parents=True)
    identities = {arithmetic: run_identity(params, run, arithmetic) for arithmetic in ("portable", "native")}
    assert len(set(identities.values())) == 2
    assert arithmetic_used("cuda") == "native"
    assert arithmetic_used("cpu") == "portable"


def test_every_stage_method_and_run_has_one_file_of_its_code(project: Params) -> None:
    Path(".fingerprints/train").mkdir(parents=True)
    Path(".fingerprints/train/method-that-is-gone.txt").write_text("")
    outs = write_code_fingerprints(project)
    assert sorted(map(str, outs)) == sorted(PIPELINE["fingerprint"]["outs"])
    written = {path.relative_to(".fingerprints") for path in Path(".fingerprints").rglob("*.txt")}
    expected = {f"{stage}.txt" for stage in (*FIXED_STAGES, "report")} | {
        f"train/{method}.txt" for method in METHODS
    }
    assert written == {Path(name) for name in expected | {f"evaluate/{key}.txt" for key in project.runs}}
    assert {len((".fingerprints" / path).read_text()) for path in written} == {65}


def needs(stage: dict[str, Any]) -> list[str]:
    result: list[str] = stage.get("do", stage)["deps"]
    return result


def dependencies(stage: dict[str, Any]) -> list[str]:
    return [path for path in needs(stage) if path.startswith(".fingerprints")]


def test_every_stage_that_makes_numbers_depends_on_its_code_and_data() -> None:
    assert {name: dependencies(stage) for name, stage in PIPELINE.items() if dependencies(stage)} == {
        "backbone": [".fingerprints/backbone.txt"],
        "corpus": [".fingerprints/corpus.txt"],
        "teacher": [".fingerprints/teacher.txt"],
        "train": [".fingerprints/train/${item.method}.txt", ".fingerprints/data/selection-${item.text}.txt"],
        "evaluate": [".fingerprints/evaluate/${key}.txt", ".fingerprints/data/evaluation-${item.text}.txt"],
        "further": [".fingerprints/further.txt"],
        "report": [".fingerprints/report.txt"],
    }


def test_every_run_of_the_plan_finds_the_file_of_the_data_it_reads() -> None:
    params = read_params(ROOT / "params.yaml")
    assert len(params.runs) >= 40
    for run in params.runs.values():
        assert params.folders_read(f"selection-{run.text}") == ["data/stsb"]
        assert "data/stsb" in params.folders_read(f"evaluation-{run.text}")
