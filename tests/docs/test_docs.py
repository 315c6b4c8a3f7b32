"""The documents: links, commands and shown outputs are right, the notebook runs, and they build as pages."""

import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sentbench
from docs import outputs
from harness.command_line import parser_of
from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.evidence.published import load_published
from harness.evidence.spec import load_specs
from harness.plan.params_file import read_params
from harness.tasks.sts import StsTask
from tests.faults.small_project import write_stsb
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[2]
GENERATED = "reference"
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if not {GENERATED, "examples"} & {*page.parts}
)
SLOW = re.compile(" (evaluate|try) ")
"""Examples that encode a test set or train."""
EXAMPLES = [example for page in outputs.PAGES for example in outputs.examples(page)]
LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^(?: {4,}|\$ )(sentbench .+)$|`(sentbench [^`]+)`", flags=re.M)
PLACEHOLDERS = re.compile(r"\b[A-Z]{3,}\b")


def prose(page: Path) -> str:
    """Returns a page without its fenced code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchor(heading: str) -> str:
    """Returns the anchor that GitHub and Sphinx give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    return {anchor(line.lstrip("#")) for line in lines if line.startswith("#")}


def broken_links(page: Path) -> list[str]:
    """Returns the broken links of a page: to a missing file or heading."""
    result = []
    for link in LINK.findall(prose(page)):
        if link.startswith(("https://", "http://")):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists() or (heading and heading not in anchors(target)):
            result.append(link)
    return result


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    assert len(PAGES) >= 10
    assert broken_links(page) == []


def test_the_readme_is_short_and_links_to_every_page_of_the_documents() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    names = {page.name for page in (ROOT / "docs").glob("*.md")} - {"api.md"}
    assert len(names) >= 16
    assert names <= {Path(link.split("#")[0]).name for link in LINK.findall(readme)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=[pytest.mark.slow] if SLOW.search(example.command) else [])
        for example in EXAMPLES
    ],
    ids=[example.command for example in EXAMPLES],
)
def test_a_shown_output_equals_the_output_of_the_command(example: outputs.Example) -> None:
    if example.obstacle:
        pytest.skip(example.obstacle)
    assert outputs.output_of(example.command) == example.shown, "run `make generated`"


def test_the_readme_shows_the_committed_score_of_the_encoder_that_it_evaluates() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    with (ROOT / "reports/tables/small.csv").open(encoding="utf-8") as file:
        cells = {(cell["title"], cell["column"]): cell["ours"] for cell in csv.DictReader(file)}
    score = float(cells["pooled/teacher@minilm-l6", "STSB"])
    assert re.search(rf"^STSB +spearman +all +{score:.2f} ", readme, flags=re.M)


def test_a_wrong_output_is_rewritten_and_the_rest_of_the_page_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    block = "```console\n$ {}\n{}```\n"
    absent = block.format("sentbench evaluate backbones/absent --tasks STSB", "as it was\n")
    page.write_text("before\n" + block.format("echo right", "wrong\n") + absent, encoding="utf-8")
    monkeypatch.setattr(outputs, "PAGES", (page,))
    assert outputs.rewrite(write=False) == 1
    assert page.read_text(encoding="utf-8") == "before\n" + block.format("echo right", "wrong\n") + absent
    assert outputs.rewrite(write=True) == 1
    assert outputs.rewrite(write=True) == 0
    assert page.read_text(encoding="utf-8") == "before\n" + block.format("echo right", "right\n") + absent
    shown = capsys.readouterr().out
    assert "page.md: echo right: rewritten\n" in shown
    assert "not run, backbones/absent is missing" in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_shown_command_is_valid(page: Path) -> None:
    """Names in capitals are placeholders; lines of several commands are split; a sentence may name a
    command without its arguments, but no option that the command lacks."""
    refused = []
    for block, other in COMMAND.findall(page.read_text(encoding="utf-8")):
        words = shlex.split(re.split(r" &&| \||\$\(| 2>", block or other)[0])[1:]
        if not words or words[0].startswith("-") or words == ["stage", "NAME"]:
            continue
        name, *rest = words
        if block and not PLACEHOLDERS.search(block):
            try:
                parser_of(name).parse_args(rest)
            except SystemExit:
                refused.append(block)
        options = {word.partition("=")[0] for word in rest if word.startswith("--")}
        if unknown := options - parser_of(name)._option_string_actions.keys():
            refused.append(f"{block or other}: {', '.join(sorted(unknown))}")
    assert not refused


def test_the_notebook_runs_from_top_to_bottom_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = json.loads((ROOT / "docs/tour.ipynb").read_text(encoding="utf-8"))["cells"]
    assert len(cells) == 10
    assert all(not cell.get("outputs") for cell in cells)
    write_stsb(tmp_path / "data/stsb")
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    known: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), known)
    assert "independent mean is lower; single runs reach it" in capsys.readouterr().out
    assert list(known["scores"]["task"].unique()) == ["STSB", "STSB-dev"]
    assert -100 <= known["average"] <= 100
    assert not list(Path().iterdir())


def test_the_python_guide_names_every_setting_of_a_score_of_pairs() -> None:
    pairs = [ScoredPair("east", "east", 5.0), ScoredPair("east", "west", 1.0)]
    task = StsTask("toy", "none", lambda folder: {"a": pairs, "b": pairs}, folder=Path())
    scores = task.evaluate(lambda texts: np.array([[1.0, text == "west"] for text in texts]))
    settings = {re.sub("^subset:.+", "subset:NAME", score.setting) for score in scores}
    assert settings == {"all", "mean", "wmean", "subset:NAME"}
    (row,) = re.findall(r"^\| setting \|.*$", (ROOT / "docs/python.md").read_text(), flags=re.M)
    assert set(re.findall("`(.+?)`", row)) == settings


def test_the_workflow_of_the_page_on_ci_runs_commands_that_are_there() -> None:
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.+?)^```$", page, flags=re.M | re.S)
    (job,) = load_yaml(text)["jobs"].values()
    steps = [step for step in job["steps"] if "run" in step]
    runs = [shlex.split(step["run"]) for step in steps]
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = []
    for program, *words in runs:
        if program == "make":
            assert words == [".venv/.ready"]
            assert "READY := $(VENV)/.ready" in made
        else:
            assert program == ".venv/bin/sentbench"
            name, *rest = words
            parser_of(name).parse_args(rest)
            called.append(name)
    assert called == ["data", "launch", "check", "check", "compare"]
    assert [step.get("if") for step in steps] == [None] * 3 + ["${{ !cancelled() }}"] * 3


def test_the_page_on_ci_counts_the_runs_of_the_plan() -> None:
    runs = read_params(ROOT / "params.yaml").runs
    first = sum(run.is_first for run in runs.values())
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    further = len(runs) - first
    assert f"has {len(runs)} runs = {first} first seeds + {further} further seeds." in page
    assert f"with 7 of them M is {len(runs) - 7}." in page
    assert f"computes all {len(runs)} runs again" in " ".join(page.split())
    assert f"the {first} first seeds with the" in page


def test_the_lines_that_send_a_training_log_to_tensorboard_send_every_number_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, float, int]] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def __enter__(self) -> "Writer":
            return self

        def __exit__(self, *error: object) -> None:
            sent.append((self.folder, 0.0, -1))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            sent.append((name, value, step))

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))  # type: ignore[arg-type]
    log = tmp_path / "train.jsonl"
    log.write_text('{"step": 0, "evaluation": true, "score": 0.5}\n{"step": 1, "loss": 2.0}\n')
    monkeypatch.setattr(sys, "argv", ["send.py", str(log)])
    page = (ROOT / "docs/ecosystem.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.+?)^```$", page, flags=re.M | re.S)
    exec(compile(code, "send.py", "exec"), {})
    assert sent == [("score", 0.5, 0), ("loss", 2.0, 1), (f"board/{log}", 0.0, -1)]


@pytest.mark.slow
def test_the_documents_build_as_pages_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="the extra `docs` is not installed")
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    words = ["-m", "sphinx", "-q", "-W", "-n", "-b", "html", "docs", str(tmp_path)]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "reference/commands.html").read_text(encoding="utf-8")
    assert "usage: sentbench evaluate" in commands
    assert "Returns the scores of a model" in (tmp_path / "api.html").read_text(encoding="utf-8")
    assert len(list((tmp_path / "decisions").glob("2*.html"))) >= 6


def test_the_citation_and_the_changelog_are_of_this_version() -> None:
    citation = load_yaml((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == sentbench.__version__
    assert f"\n## {sentbench.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_reference_lists_every_public_name_with_its_kind() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = dict(reversed(found) for found in re.findall(r"^\.\. auto(\w+):: (\w+)$", page, flags=re.M))
    assert sorted([*listed, "__version__"]) == sorted(sentbench.__all__)
    for name, kind in listed.items():
        value = getattr(sentbench, name)
        expected = "data"
        if isinstance(value, type):
            expected = "exception" if issubclass(value, Exception) else "class"
        elif callable(value):
            expected = "function"
        assert kind == expected, name


def test_the_example_of_a_paper_and_its_table_is_complete(tmp_path: Path) -> None:
    page = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
    texts = re.findall(r"^```yaml\n(.+?)^```$", page, flags=re.M | re.S)
    for name, text in zip(("published", "tables"), texts[:2], strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "toy.yaml").write_text(text)
    published = load_published(tmp_path / "published")
    spec = load_specs(tmp_path / "tables")["toy/table1"]
    rows = {row.published for row in spec.rows}
    assert rows == {number.row for number in published.numbers.values()}
    erratum = texts[0][texts[0].index(",\n         errata") :]
    (tmp_path / "published/toy.yaml").write_text(texts[0].replace(erratum, "}\n"))
    with pytest.raises(
        InputError, match=r"its cells average 75\.1650; if so printed, declare it in `errata`"
    ):
        load_published(tmp_path / "published")
