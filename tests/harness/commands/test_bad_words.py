"""Bad command lines: each is one clear line and exit code 2, and nothing in the project is touched."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from tests.harness.test_cli import write_stsb
from tests.support import tiny

ROOT = Path(__file__).parents[3]
RUN = "simcse-small__words-50d__s0"
LONG = "x" * 5000

GENERAL = """
    evalute | Evaluate | evaluate.py | ../evaluate | __init__ | compare_systems | '' | ' ' | --verbose
    | -x | --vrsion | evaluate -h=3 | list --jsno tasks | 'ev\nal'
"""
FOLDERS = """
    evaluate | evaluate '' | evaluate nowhere | evaluate params.yaml | evaluate empty
    | evaluate encodr | evaluate encoder encoder | evaluate backbones/minilm-l6
    | evaluate backbones/minilm-l7 | evaluate data/nothing | evaluate artefacts/simcse
    | evaluate encoder/config.json | evaluate broken | evaluate bert | cost nowhere | cost ''
    | cost empty | cost encoder --rounds 0 | cost encoder --rounds -1 | cost encoder --rounds 1e3
    | cost encoder --rounds 5000 | cost encoder --limit 0 | cost encoder --batch-size 0
    | cost encoder --batch-size many | cost encoder --task STSBB | cost encoder --task ''
    | cost encoder --device tpu | cost encoder --out encoder | cost encoder --out params.yaml
    | mteb nowhere | mteb encoder --tasks '' | mteb encoder --tasks , | mteb encoder --out params.yaml
    | mteb encoder --pooling max | mteb empty --tasks STS12
"""
EVALUATION = """
    evaluate encoder --tasks STSBB | evaluate encoder --tasks '' | evaluate encoder --tasks ' , '
    | evaluate encoder --tasks STSB:1 | evaluate encoder --tasks stsb | evaluate encoder --text rw
    | evaluate encoder --text | evaluate encoder --pooling men | evaluate encoder --pooling ''
    | evaluate encoder --device gpu | evaluate encoder --device cuda:99
    | evaluate encoder --tasks STSB --out encoder | evaluate encoder --tasks STSB --out params.yaml
    | evaluate encoder --tasks STSB --out params.yaml/x.json
    | evaluate encoder --tasks STSB --from-store | evaluate nowhere --tasks STSB --from-store
    | evaluate encoder --run nothing | evaluate encoder --run RUN | evaluate encoder --run RUN --json
    | evaluate encoder --run RUN --interval | evaluate encoder --run RUN --pooling cls
    | evaluate encoder --run RUN --out s.json | evaluate encoder --interval=3 | bm25 --tasks STSB
    | bm25 --tasks '' | bm25 --tasks TRECQAA | bm25 --text plain
"""
RUNS = """
    train | train nothing --out a | train RUN | train RUN --out '' | train RUN --out .
    | train RUN --out encoder | train RUN --out params.yaml | train RUN --out a --device tpu
    | train RUN --out a --resume=yes | train RUN RUN --out a | teach nothing | teach | corpus nothing
    | corpus '' | backbone nothing | backbone minilm-l6 minilm-l2 | fingerprint --data nothing
    | entries now | publish nothing --out p | publish RUN | publish RUN --out .
    | publish simcse-small pcl-small --out p | contribute nothing --out b.zip --name n
    | contribute simcse-1 --out params.yaml --name n | contribute x --out b.zip --name '<b>'
    | contribute x --out b.zip --name n --link http://x.y | contribute x --out b.zip
    | accept nowhere.zip | accept params.yaml | accept empty | clean all | readmes --chek
    | report --strikt
"""
PLANS = """
    plan | plan smal | plan small/nothing | plan pcl/table22 | plan '' | plan small --seeds 0
    | plan small --seeds -3 | plan small --seeds 1.5 | plan small --seeds 100000 | plan small --seeds
    | plan small --backbone bert | plan small --power 0.8 | plan small --delta 0.5
    | plan small --power 2 --delta 0.5 | plan small --power 0.8 --delta 0
    | plan small --power nan --delta 1 | plan ladder/nothing | plan ladder/ | plan small --tiers hub
    | plan ../recipes/small
"""
RECORDS = """
    list | list tabels | list tables extra | list runs --coverage | verify | verify una/table1
    | verify una/table1 UNA | verify una/table9 UNA Avg | verify una UNA Avg
    | verify una/table1 UNO Avg | verify una/table1 UNA Avgg | verify '' '' ''
    | verify una/table1 UNA Avg extra | compare HEAD | compare nowhere reports/scores | compare '' ''
    | compare reports reports/scores | compare reports/scores reports/scores --fail-on worse
    | compare reports/scores reports/scores --json --format github | compare --help=1 a b
    | compare-systems simcse | compare-systems simsce whitening | compare-systems simcse simcse
    | compare-systems simcse@bert whitening | compare-systems simcse whitening --tasks STSBB
    | compare-systems simcse whitening --tasks , | compare-systems simcse whitening --scores empty
    | compare-systems simcse whitening --scores params.yaml | compare-systems '' ''
    | check --losses nowhere.yaml | check --losses params.yaml | check --losses encoder
    | check --against nowhere | check --against '' | check --measure --losses encoder
    | check --format xml | check --measure --json | check now | data
    | data fetsh stsb | data fetch stbs | data fetch stsb --tiers cloud | data fetch stsb --tiers ''
    | data fetch minilm-l6 --revision 'a b' | data check nothing | data check minilm-l6
    | data lock minilm-l6 | data convert | data convert stsb | data fetch ../x | data fetch ''
"""
LAUNCHES = """
    launch --jobs 0 | launch --jobs two | launch --on spark | launch --cpus-per-run 0 | launch --retries -1
    | launch --gpus-per-run nan | launch --slurm partition=gpu | launch --address auto
    | launch --on ray --slurm time=10 | launch --on slurm --address auto | launch --on slurm --slurm time
    | launch --dry-run --slurm partition=gpu | reproduced --against nowhere | reproduced --against empty
    | reproduced --against params.yaml | reproduced HEAD | doctor now | data check stsb --revision main
    | data lock stsb --revision main | data fetch stsb --revision main --tiers embedded
"""
GROUPS = (GENERAL, FOLDERS, EVALUATION, RUNS, PLANS, RECORDS, LAUNCHES)
LINES = [part.strip() for group in GROUPS for part in group.split("|")]
HOSTILE = [
    ["evaluate", LONG],
    ["evaluate", "encoder", "--tasks", LONG],
    ["evaluate", "encoder", "--tasks", "STSB", "--out", LONG],
    ["verify", "una/table1", LONG, "Avg"],
    ["compare", LONG, "HEAD"],
    ["compare-systems", "simcse", LONG],
    ["plan", LONG],
    ["publish", RUN, "--out", LONG],
    ["evaluate", "line\nbreak"],
    ["data", "fetch", "line\nbreak"],
    [LONG],
    ["\udcff"],
    ["evaluate", "\udcff"],
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with recorded scores, STS-B of eight pairs, a tiny encoder, and folders that are none."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    for name in ("leaderboards", "recipes", "methods", "harness"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "tests/harness/report/recorded/scores", folder / "reports/scores")
    write_stsb(folder / "data/stsb")
    tiny.sentence_encoder(tiny.write_backbone(folder / "bert")).save(folder / "encoder")
    (folder / "empty").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken/config.json").write_text("{")
    return folder


def contents(folder: Path) -> dict[str, str]:
    """Returns the sha256 of every file by name; folders and links by name alone, locks not at all."""
    found = {}
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        name = path.relative_to(folder).as_posix()
        if not name.startswith(".cache"):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if plain else ""
    return found


def words_of(line: str) -> list[str]:
    return [RUN if word == "RUN" else word for word in shlex.split(line)]


CASES = [*(words_of(line) for line in LINES), *HOSTILE]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=[pytest.mark.slow] if number % 2 else [], id=json.dumps(words)[:60])
        for number, words in enumerate(CASES)
    ],
)
def test_a_bad_command_line_is_one_line_and_touches_nothing(
    project: Path, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("SENTBENCH_DATA", raising=False)
    monkeypatch.setenv("SENTBENCH_TIERS", "embedded")
    monkeypatch.setattr("harness.commands.mteb.hub_answers", lambda: False)
    before = contents(project)
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("sentbench: ")
    assert told.err.count("\n") == 1
    assert 20 < len(told.err) < 1000
    assert contents(project) == before


def test_there_are_many_cases_and_all_differ() -> None:
    assert len(CASES) >= 180
    assert len({tuple(words) for words in CASES}) == len(CASES)
