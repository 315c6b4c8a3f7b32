"""`sentbench contribute` in one project, `accept` in another: shown there, and never counted as ours."""

import hashlib
import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.assembly.tables import evidence_of, verifications
from harness.check.sanity import oracle
from harness.cli import main
from harness.commands import accept
from harness.errors import InputError
from harness.facts.spec import load_specs
from harness.identity import run_code
from harness.paths import SCORES
from harness.plan.recipes import load_recipes
from harness.plan.resolve import KnownRuns
from harness.report.tables.build import build_table
from harness.report.tables.model import Cell
from harness.results.embeddings import EmbeddingStore
from harness.results.schema import ResultFile
from harness.results.store import read_result, read_results, write_result
from harness.tasks.evaluation import unique_texts
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask
from tests.faults.small_project import write_stsb
from tests.support.results import raw_result

ROOT = Path(__file__).parents[3]
OWN, KEY = "simcse-small__words-50d__s0", "simcse-small__words-50d__s7"
CONTRIBUTE = ("contribute", KEY, "--out", "bundle.zip", "--name", "Anna's lab", "--may-be-cited")


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two projects, made once: `there` and `here`."""
    top = tmp_path_factory.mktemp("projects")
    with pytest.MonkeyPatch.context() as patched:
        project(top / "there", patched, KEY, 7)
        project(top / "here", patched, OWN, 0)
    return top


@pytest.fixture
def there(projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a result of seed 7 by today's recipe and code, run from a commit."""
    monkeypatch.chdir(shutil.copytree(projects / "there", tmp_path / "there", symlinks=True))
    return Path.cwd()


@pytest.fixture
def here(projects: Path, there: Path, tmp_path: Path) -> Path:
    """Another project, with our seed 0; its leaderboards are a copy, for results are added to them."""
    return Path(shutil.copytree(projects / "here", tmp_path / "here", symlinks=True))


def project(folder: Path, monkeypatch: pytest.MonkeyPatch, key: str, seed: int) -> Path:
    """Makes a project with one result, whose scores are made up and whose code is the one that runs."""
    (folder / "reports/scores").mkdir(parents=True)
    (folder / "leaderboards").mkdir()
    (folder / "recipes").symlink_to(ROOT / "recipes")
    for path in (ROOT / "leaderboards").iterdir():
        (folder / "leaderboards" / path.name).symlink_to(path)
    monkeypatch.chdir(folder)
    record = KnownRuns(load_recipes()).record(key)
    drawn = random.Random(seed)
    ours = read_result(min((ROOT / SCORES).glob("simcse-small__*.json")))
    means = {one.task: one.value for one in ours.scores if (one.metric, one.setting) == ("spearman", "all")}
    tasks = list(means)
    scores = [
        {"task": task, "metric": metric, "setting": "all", "selection": "best-dev", "n": 100,
         "value": round(mean + drawn.gauss(0, 0.01), 10)}
        for task, mean in means.items() for metric in ("spearman", "pearson")
    ]  # fmt: skip
    made_by = {"code_sha256": run_code("simcse", tasks), "git_commit": "a" * 40, "arithmetic": "portable"}
    hashes = {"identity": sha(f"identity {seed}"), "encoder_sha256": sha(f"encoder {seed}")}
    data = {"data_sha256": {"stsb": sha("stsb")}, "versions": {}}
    raw = raw_result(scores=scores, **(record or {}), **hashes, **made_by, **data)
    write_result(Path("reports/scores") / f"{key}.json", ResultFile.model_validate(raw))
    return folder


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def change_recipe(path: Path) -> None:
    result = read_result(path)
    write_result(path, result.model_copy(update={"run": result.run.model_copy(update={"recipe": "0" * 64})}))


def shown() -> Cell:
    """The cell of SimCSE on STS-B in the small table of the current project."""
    evidence = evidence_of(read_results(Path("reports/scores").glob("*.json")))
    table = build_table(load_specs(Path("leaderboards/tables"))["small-sts"], evidence)
    row = next(row for row in table.rows if row.title == "SimCSE")
    return row.cells[[column.key for column in table.columns].index("STSB")]


def test_a_bundle_of_one_project_is_shown_by_another_and_leaves_its_own_numbers_as_they_are(
    there: Path, here: Path, printed: Callable[..., str]
) -> None:
    assert "1 runs, 1 files, by Anna's lab" in printed(*CONTRIBUTE)
    os.chdir(here)
    before = shown()
    said = printed("accept", str(there / "bundle.zip"))
    assert "scores only: shown, never in a verdict, identity not computed here" in said
    after = shown()
    assert replace(after, contributed=()) == before
    (group,) = after.contributed
    assert (group.level, group.runs, group.by) == ("scores only", (KEY,), ("Anna's lab",))
    assert group.judgement is None
    assert "1 results checked again, 0 problems" in printed("accept", str(there / "bundle.zip"), "--recheck")


def test_without_a_run_the_evaluated_runs_of_the_plan_are_packed(
    there: Path, refused: Callable[..., str], printed: Callable[..., str]
) -> None:
    """The plan has three seeds of SimCSE, of which none is evaluated, then this one."""
    every = ("contribute", *CONTRIBUTE[2:])
    assert main(["plan", "small/simcse-small"]) == 0
    assert "no scores of a run of the plan" in refused(*every)
    assert not Path("bundle.zip").exists()
    assert main(["plan", "small/simcse-small", "--seeds", "8"]) == 0
    assert "1 runs, 1 files, by Anna's lab" in printed(*every)
    with zipfile.ZipFile("bundle.zip") as packed:
        assert f"scores/{KEY}.json" in packed.namelist()


def test_a_run_that_we_ran_too_is_ours_and_one_of_another_recipe_is_set_aside(
    there: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(CONTRIBUTE) == 0
    os.chdir(here)
    assert main(["accept", str(there / "bundle.zip")]) == 0
    (accepted,) = Path("leaderboards/contributed").glob("*/scores/*.json")
    own = Path(f"reports/scores/{KEY}.json")
    own.write_bytes(accepted.read_bytes())
    assert (shown().n, shown().contributed) == (2, ())
    own.unlink()
    capsys.readouterr()
    change_recipe(accepted)
    assert (shown().n, shown().contributed) == (1, ())
    assert f"sentbench: set aside: {accepted}: not the result that was accepted" in capsys.readouterr().err


def test_contributions_of_other_runs_than_their_key_stop_no_command(
    there: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their records are forged to fit: each is held against the recipes whenever it is read."""
    assert main(CONTRIBUTE) == 0
    os.chdir(here)
    assert main(["accept", str(there / "bundle.zip")]) == 0
    (accepted,) = Path("leaderboards/contributed").iterdir()
    forged = []
    for field in ("id", "method", "variant", "backbone", "seed", "recipe"):
        folder = Path(shutil.copytree(accepted, accepted.with_name(field)))
        path = folder / "scores" / f"{KEY}.json"
        result = read_result(path)
        other: Any = 3 if field == "seed" else "pcl-small"
        write_result(path, result.model_copy(update={"run": result.run.model_copy(update={field: other})}))
        manifest = folder / "manifest.json"
        stated = json.loads(manifest.read_text())
        stated["members"][f"scores/{KEY}.json"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(stated))
        forged.append(path)
    shutil.rmtree(accepted)
    for command in (lambda: main(["verify", "pcl/table2", "SimCSE", "Avg"]), lambda: shown().contributed):
        capsys.readouterr()
        assert command() in (0, ())
        error = capsys.readouterr().err
        for path in forged:
            assert f"sentbench: set aside: {path}: not the run {KEY} as the recipes declare it now" in error


def test_verify_says_contributed_beside_our_seeds_and_judges_it_alone(
    there: Path, here: Path, printed: Callable[..., str]
) -> None:
    """A table of the papers at full scale whose row is filled by an invented result, rescored and not."""
    os.chdir(here)
    key = "simcse__bert-base-uncased__s5"
    folder = Path("leaderboards/contributed/a")
    (folder / "scores").mkdir(parents=True)
    model, record = read_result(Path(f"reports/scores/{OWN}.json")), KnownRuns(load_recipes()).record(key)
    names = ["STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR"]
    scores = [model.scores[0].model_copy(update={"task": name, "value": 0.75}) for name in names]
    run = model.run.model_copy(update=record or {})
    path = folder / "scores" / f"{key}.json"
    write_result(path, model.model_copy(update={"run": run, "scores": scores}))
    digest = {"bytes": 1, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    contributor = {"name": "Anna", "link": "", "may_be_cited": True}
    manifest = {"format": 1, "contributor": contributor, "code": {"simcse": "c"}}
    manifest["members"] = {f"scores/{key}.json": digest}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    before = verifications("pcl/table2", "simcse@bert-base-uncased", "Avg")[0]
    for rescored, said in ((names, "rescored here; not in ours"), (names[:-1], "scores only; no verdict")):
        checked = {"identity": True, "rescored": rescored, "weights": "best-dev"}
        acceptance = {"bundle": "b", "signer": "", "runs": {key: checked}}
        (folder / "acceptance.json").write_text(json.dumps(acceptance))
        (found,) = verifications("pcl/table2", "simcse@bert-base-uncased", "Avg")
        assert replace(found, contributed=()) == replace(before, contributed=())
        assert (found.contributed[0].judgement is None) == (rescored != names)
        shown = printed("verify", "pcl/table2", "simcse@bert-base-uncased", "Avg")
        assert "our seeds  none\n" in shown
        assert f"contributed (by Anna; {said}) 75.00 (1)" in shown


def test_a_task_that_the_result_states_is_scored_again_from_its_vectors(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vectors have the gold scores of STS-B as cosines; the run has other tasks, which are not stated."""
    monkeypatch.chdir(here)
    write_stsb(here / "data/stsb")
    (task,) = build_tasks(["STSB"], text="senteval")
    assert isinstance(task, StsTask)
    EmbeddingStore.write(
        Path("vectors"), unique_texts([task]), oracle(task.pairs), encoder=KEY, precision="float32"
    )
    result = read_result(Path(f"reports/scores/{OWN}.json"))
    scores = [score for score in result.scores if score.task == "STSB"]
    stated = result.model_copy(update={"scores": scores})
    found = accept.rescored(KnownRuns(load_recipes()), stated, Path("vectors"))
    assert found.keys() == {score.name for score in scores}
    assert list(found.values()) == pytest.approx([1.0] * len(scores))


def test_a_run_is_repeated_only_where_all_that_it_reads_is_here(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    result = read_result(Path(f"reports/scores/{OWN}.json"))
    with pytest.raises(InputError, match=f"backbones/words-50d: no such folder, {OWN} needs it"):
        accept.repeated(KnownRuns(load_recipes()), result, device="cpu")


def test_a_bundle_is_accepted_once_and_a_changed_recipe_is_refused(
    there: Path, here: Path, refused: Callable[..., str]
) -> None:
    assert main(CONTRIBUTE) == 0
    change_recipe(Path(f"reports/scores/{KEY}.json"))
    assert main([*CONTRIBUTE[:3], "other.zip", *CONTRIBUTE[4:]]) == 0
    os.chdir(here)
    assert "another recipe than here" in refused("accept", str(there / "other.zip"))
    assert not Path("leaderboards/contributed").exists()
    assert main(["accept", str(there / "bundle.zip")]) == 0
    assert "which is here" in refused("accept", str(there / "bundle.zip"))


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ((*CONTRIBUTE, "--vectors"), "no stored vectors"),
        ((*CONTRIBUTE, "--link", "http://x"), "--link"),
        ((*CONTRIBUTE, "--sign", "nothing"), "nothing: not a regular file"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    words: tuple[str, ...], fault: str, there: Path, refused: Callable[..., str]
) -> None:
    before = sorted(there.rglob("*"))
    assert fault in refused(*words)
    assert sorted(there.rglob("*")) == before


def test_a_result_gets_the_commit_of_its_code_when_it_is_packed_and_other_code_is_refused(
    there: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    path = Path(f"reports/scores/{KEY}.json")
    result = read_result(path)
    code = run_code(result.run.method, [score.task for score in result.scores])

    def made_by(code: str) -> None:
        stated = {"git_commit": None, "git_dirty": None, "code_sha256": code}
        provenance = result.provenance.model_copy(update=stated)
        write_result(path, result.model_copy(update={"provenance": provenance}))

    monkeypatch.setattr("harness.commands.contribute.git_state", lambda: ("b" * 40, False))
    made_by("0" * 64)
    assert "made by other code; check out" in refused(*CONTRIBUTE)
    made_by(code)
    assert main(CONTRIBUTE) == 0
    with zipfile.ZipFile("bundle.zip") as bundle:
        packed = json.loads(bundle.read(f"scores/{KEY}.json"))
    assert packed["provenance"]["git_commit"] == "b" * 40
    assert "git_commit" not in json.loads(path.read_text())["provenance"]
