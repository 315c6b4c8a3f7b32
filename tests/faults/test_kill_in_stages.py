"""Every stage of the pipeline ends before changes of its files, by Ctrl-C or killed; a new one needs a case.

After Ctrl-C its outputs are old or new; after a kill the same command gives the bytes of an undisturbed one.
A kill is simulated: no later change is made. No file of an output is written in its place.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main
from harness.commands.stage import NAMES
from harness.evidence.store import write_result
from harness.plan import fingerprints
from methods.core import resume
from tests.faults.refusals import Refusal, refusing
from tests.faults.small_project import ROOT, RUN, TRAIN, copy_project, write_project, write_source_record
from tests.faults.test_refused_writes import CASES as OTHER_COMMANDS
from tests.faults.trees import tree
from tests.harness.report.made_results import result
from tests.support.toy import AtOnce
from tests.support.yaml_files import dump_yaml, load_yaml

SYSTEM = RUN.rpartition("__s")[0]
FURTHER = f".further/{SYSTEM}"
EDIT = {"kind": "swap", "column": 0, "share": 0.3, "at_least": 1, "clean": False}
KEPT = (".cache", "reports/costs")
"""What may differ between two runs of a stage: resume points, locks, and the seconds that it took."""
PLACES = 3
"""Changes before which a stage ends in the default run, evenly spaced."""


class Killed(BaseException):
    """The end of the process."""


def edited(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the plan of a project."""
    plan = load_yaml((folder / "params.yaml").read_text())
    change(plan)
    (folder / "params.yaml").write_text(dump_yaml(plan, sort_keys=False))


def plan_of_every_stage(plan: dict[str, Any]) -> None:
    plan |= {"providers": ["embedded", "mirror"], "sources": {"tiny": {"entry": "0"}}}
    origin = {"origin": "data/words", "tool": "data/words", "rows": None, "arithmetic": "portable"}
    plan["corpora"] = {"edited": {**origin, "seed": 0, "views": [EDIT, {**EDIT, "kind": "delete"}]}}
    teacher = {"encoder": "backbones/minilm-l2", "corpus": "data/words", "pooling": "mean"}
    plan["teachers"] = {"minilm-l2__words": {**teacher, "arithmetic": "portable"}}
    plan["reads"] = {
        f"{reader}-senteval": {"source": "data/stsb", "after": "data/stsb"}
        for reader in ("selection", "evaluation")
    }
    plan["backbones"]["minilm-l1"] = {
        **dict.fromkeys(("origin", "corpus"), "backbones/minilm-l2"),
        "layers": 1,
    }
    plan["further"] = {SYSTEM: [1]}
    plan["runs"][f"{SYSTEM}__s1"] = {**plan["runs"][RUN], "seed": 1, "outputs": FURTHER}


def another(part: str, key: str, **values: Any) -> Callable[[Path], None]:
    """Returns a change of an entry's values in a project's plan."""
    return lambda folder: edited(folder, lambda plan: plan[part][key].update(values))


def other_pairs(folder: Path) -> None:
    """Fewer pairs in STS-B."""
    for split in ("dev", "test"):
        path = folder / f"data/stsb/sts-{split}.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
    (folder / "data/stsb/source.json").unlink()
    write_source_record(folder / "data/stsb")


def scored(folder: Path, score: float = 0.25) -> None:
    """Writes the scores of the first and of the further seed."""
    for seed, outputs in ((0, "reports"), (1, FURTHER)):
        values = {("STSB", "all"): score + seed / 8}
        made = result(SYSTEM.partition("__")[0], seed, values, backbone="minilm-l2")
        write_result(folder / outputs / "scores" / f"{SYSTEM}__s{seed}.json", made)


def trained(folder: Path) -> None:
    assert perform(folder, TRAIN) == 0


def damaged(folder: Path) -> None:
    """Removes a file of the fetched source, if there is one."""
    (folder / "data/tiny/words.txt").unlink(missing_ok=True)


CODE = {"state": "old"}
"""What the hashes of code say."""
STATED = tuple(
    (f".fingerprints/{name}.txt",)
    for name in ("backbone", "corpus", "further", "teacher", "report", f"evaluate/{RUN}", "train/simcse")
)
SCORES = tuple(f"reports/{part}/{RUN}.json" for part in ("scores", "curves", "losses"))


class Case(NamedTuple):
    """A stage: its words, its outputs in sets that change together, a change of its inputs by which new
    outputs differ from old ones, and what is made before the first of both.
    """

    words: list[str]
    outputs: tuple[tuple[str, ...], ...]
    change: Callable[[Path], None]
    before: Callable[[Path], None] = lambda folder: None


CASES: dict[str, Case] = {
    "entries": Case([], ((".entries",),), another("runs", RUN, weights="last")),
    "data": Case(["tiny"], (("data/tiny",),), damaged),
    "fingerprint": Case(
        ["--data", "evaluation-senteval"], ((".fingerprints/data/evaluation-senteval.txt",),), other_pairs
    ),
    "fingerprint, of code": Case([], STATED, lambda folder: CODE.update(state="new")),
    "backbone": Case(["minilm-l1"], (("backbones/minilm-l1",),), another("backbones", "minilm-l1", layers=2)),
    "corpus": Case(["edited"], (("corpora/edited",),), another("corpora", "edited", seed=1)),
    "teacher": Case(
        ["minilm-l2__words"],
        (("teachers/minilm-l2__words",),),
        another("teachers", "minilm-l2__words", pooling="cls"),
    ),
    "train": Case([*TRAIN[2:], "--resume"], ((f"artefacts/{RUN}",),), another("runs", RUN, pooling="mean")),
    "evaluate": Case(
        [RUN, "--device", "cpu"], ((*SCORES, f"embeddings/{RUN}.safetensors"),), other_pairs, trained
    ),
    "further": Case(
        [SYSTEM], ((f"reports/further/{SYSTEM}.json",),), lambda folder: scored(folder, 0.5), scored
    ),
}
LONG = ("train", "evaluate")


def perform(folder: Path, words: list[str], refusal: Refusal | None = None) -> int:
    os.chdir(folder)
    with refusing(refusal or Refusal(None)):
        return main(words)


def left(folder: Path) -> dict[str, Any]:
    """Returns the project's files and links, without what two runs of a stage may leave differently."""
    files = {name: value for name, value in tree(folder).items() if value is not None}
    return {name: value for name, value in files.items() if not name.startswith(KEPT)}


def of_set(files: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the files of outputs that change together."""
    return {
        path: value for path, value in files.items() if f"{path}/".startswith(tuple(f"{n}/" for n in names))
    }


def interrupt(path: str) -> None:
    raise KeyboardInterrupt


def kill(path: str) -> None:
    raise Killed


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_project(tmp_path_factory.mktemp("kills") / "bare")
    edited(folder, plan_of_every_stage)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_in_mirror: None) -> Path:
    """The folder in which the commands run."""
    names = [path[0].removeprefix(".fingerprints/").removesuffix(".txt") for path in STATED]
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "mirror")  # reading a plan sets it
    monkeypatch.setattr(resume, "ThreadPoolExecutor", lambda *given, **named: AtOnce())  # in this thread
    monkeypatch.setattr(fingerprints, "code_base", lambda: None)
    monkeypatch.setattr(fingerprints, "fingerprints", lambda runs, code: dict.fromkeys(names, CODE["state"]))
    monkeypatch.setitem(CODE, "state", "old")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "project"


def prepared(
    case: Case, words: list[str], *, replaced: bool, bare: Path, top: Path
) -> tuple[Path, dict[str, Any], list[tuple[str, str]]]:
    """Returns a project before the command, its files after an undisturbed one, and the changes by that."""
    folder = copy_project(bare, top / "before")
    case.before(folder)
    first = folder if replaced else copy_project(folder, top / "first")
    assert perform(first, words) == 0  # also because a process does some work once
    case.change(folder)
    whole = copy_project(folder, top / "whole")
    record = Refusal(whole)
    assert perform(whole, words, record) == 0
    changes = [(event, str(Path(path).relative_to(whole))) for event, path in record.seen]
    return folder, left(whole), changes


@pytest.mark.parametrize("replaced", [True, pytest.param(False, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough) if name in LONG else name for name in CASES]
)
def test_a_stage_that_ends_before_a_change_leaves_old_or_new_outputs_and_can_run_again(
    name: str, every: bool, replaced: bool, bare: Path, project: Path, tmp_path: Path
) -> None:
    case, words = CASES[name], ["stage", name.partition(",")[0], *CASES[name].words]
    folder, whole, changes = prepared(case, words, replaced=replaced, bare=bare, top=tmp_path / "made")
    before = left(folder)
    states = [(of_set(before, outputs), of_set(whole, outputs)) for outputs in case.outputs]
    assert all(new and new != old for old, new in states)
    in_place = [path for event, path in changes if event == "open" and ".part" not in path]
    assert not [path for path in in_place if not path.startswith(".cache") or "/corpora/" in path]
    step = 1 if every else max(1, (len(changes) - 1) // PLACES)
    for at in range(len(changes) - 1, -1, -step):
        for end in (interrupt, kill):
            os.chdir("/")
            copy_project(folder, project)
            refusal = Refusal(project, end, at, for_good=end is kill)
            code = None
            with suppress(Killed):
                code = perform(project, words, refusal)
            reached = (
                len(refusal.seen) > at
            )  # resume points are written by time, so a training may have fewer
            assert (code != 0) is reached, changes[at]
            assert reached or name in LONG
            found = left(project)
            for outputs, both in zip(case.outputs, states, strict=True):
                assert end is kill or of_set(found, outputs) in both, changes[at]
            assert perform(project, words) == 0, changes[at]
            assert left(project) == whole, changes[at]


def test_every_stage_has_a_case() -> None:
    """The stage `report` is a command of its own."""
    stages = load_yaml((ROOT / "dvc.yaml").read_text())["stages"]
    cases = {name.partition(",")[0] for name in CASES}
    assert cases == set(NAMES)
    assert {name.partition("-")[0] for name in stages} == cases | {"report"}
    assert "report" in OTHER_COMMANDS
