"""The guides of CONTRIBUTING, followed with toys: each changes only the stated files."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.guides.conftest import ROOT, Checkout

pytestmark = pytest.mark.thorough
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EVERY_METHOD = [
    *(f"tests/conformance/test_{name}.py" for name in ("laws", "readmes", "settings")),
    "tests/methods/toyone",
    "tests/regression",
    "tests/harness/report/test_audit.py",
    "tests/harness/plan/test_checks.py",
    "tests/harness/plan/test_identities.py",
    "tests/harness/test_rooms.py",
]
"""The tests that every method has to satisfy."""


def steps_of(guide: str, name: str) -> str:
    """Returns the shell commands of a guide of CONTRIBUTING, with a name in place of NAME."""
    section = CONTRIBUTING.partition(f"## {guide}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    (.+)$", section, flags=re.M)
    assert len(lines) >= 4
    return "\n".join(lines).replace("NAME", name).replace("Name", name.capitalize())


FILES = {
    "methods/toyone/method.py",
    "methods/toyone/README.md",
    "tests/methods/toyone/sample.py",
    "tests/methods/toyone/test_toyone.py",
    "recipes/toyone.yaml",
}


@pytest.fixture
def with_toyone(checkout: Checkout) -> Checkout:
    """A checkout in which the guide's commands have copied the template as the method toyone."""
    subprocess.run(["bash", "-ec", steps_of("Add a method", "toyone")], cwd=checkout.folder, check=True)
    return checkout


def with_tests(checkout: Checkout) -> None:
    """Writes something in place of the template's tests that fail."""
    written = checkout.folder / "tests/methods/toyone/test_toyone.py"
    checkout.write({str(written): re.sub(r"pytest.fail.*", "pass", written.read_text())})


def test_a_method_is_four_files_and_a_recipe(with_toyone: Checkout) -> None:
    checkout = with_toyone
    assert checkout.touched() == FILES
    for words in (["check"], ["format", "--check"]):
        lint = ["ruff", *words, "--no-cache", "methods/toyone", "tests/methods/toyone"]
        assert subprocess.run(lint, cwd=checkout.folder, capture_output=True).returncode == 0
    with pytest.raises(AssertionError, match=r"^FFF "):
        checkout.pytest("tests/methods/toyone")
    with_tests(checkout)
    assert "toyone" in checkout.sentbench("list", "methods").split()
    assert "toyone-bert" in checkout.sentbench("plan", "toyone", "--dry-run")


@pytest.mark.slow
def test_the_template_passes_the_tests_of_every_method_and_the_rest_is_generated(
    with_toyone: Checkout,
) -> None:
    checkout = with_toyone
    with_tests(checkout)
    checkout.run("-m", "tests.regression.reference", "--missing", PYTHONHASHSEED="0")
    generated = {"tests/regression/reference.json"}
    assert checkout.touched() == {*FILES, *generated}
    checkout.pytest(*EVERY_METHOD, "-k", "toyone or every_method_of or every_import", "-m", "not slow")
    assert checkout.run("-c", "from docs.generated import stale; print(stale())").strip() == "{}"


DECLARATION = '''"""Whether a film review is positive."""

from typing import Any

from harness.tasks.interface import Declaration, Task


def _toy(text: str, source: str, **options: Any) -> Task:
    from harness.data.classification import READERS
    from harness.tasks.transfer import ClassificationTask, DataSet

    return ClassificationTask(DataSet("Toy", READERS["MR"]), text, source, **options)


TASKS = (Declaration("Toy", "mr", _toy, suite="toys"),)
'''
TEST = '''"""The toy task."""

from pathlib import Path

import numpy as np

from tests.harness.tasks.layouts import LAYOUTS, declared_task


def test_a_constant_encoder_scores_the_share_of_one_class(tmp_path: Path) -> None:
    """Both classes have 60 reviews."""
    LAYOUTS["MR"](tmp_path)
    (score, _) = declared_task("Toy", folder=tmp_path).evaluate(lambda texts: np.ones((len(texts), 4)))
    assert (score.setting, round(score.value, 3), score.n) == ("senteval", 0.5, 120)
'''


def test_a_task_is_its_declaration_and_its_test(checkout: Checkout) -> None:
    files = {"harness/tasks/declared/toy.py": DECLARATION, "tests/harness/tasks/test_toy.py": TEST}
    checkout.write(files)
    assert checkout.touched() == set(files)
    assert "Toy" in checkout.sentbench("list", "tasks").split()
    tests = [f"tests/harness/tasks/test_{name}.py" for name in ("toy", "registry", "every_task")]
    checkout.pytest(*tests, "-k", "test_toy or test_registry or Toy")


SPEC = """
key: toy/table1
title: "Toy table 1: one column"
published: toy/table1
columns:
  - {key: STSB, task: STSB}
rows:
  - title: a toy
    run: simcse-small@words-50d
    published: "simcse@words-50d"
protocol: "Spearman correlation over all pairs."
"""
PUBLISHED = """
paper: toy
title: "A toy paper"
short: TOY
venue: "nowhere, 2024"
works: {}
notes: []
tables:
  table1:
    about: "one number"
    metric: spearman
    scale: 100.0
    decimals: 2
    columns: [STSB]
    rows:
      - {system: simcse, backbone: words-50d, source: this-paper, values: [76.85]}
"""


REPORTED_TABLES = """
from harness.plan.recipes import load_recipes
from harness.report.assembly.tables import build_tables, evidence_of

recipes = load_recipes()
print(*build_tables(evidence_of([], recipes=recipes), recipes))
"""


def test_a_table_is_its_spec_and_its_published_numbers(checkout: Checkout) -> None:
    files = {"leaderboards/tables/toy-table1.yaml": SPEC, "leaderboards/published/toy.yaml": PUBLISHED}
    checkout.write(files)
    assert checkout.touched() == set(files)
    assert "toy/table1" in checkout.sentbench("list", "tables")
    assert "reported   76.85" in checkout.sentbench("verify", "toy/table1", "simcse@words-50d", "STSB")
    assert re.search(
        r"^simcse-small +words-50d ", checkout.sentbench("plan", "toy/table1", "--dry-run"), re.M
    )
    assert "toy/table1" in checkout.run("-c", REPORTED_TABLES).split()


PAGE = '''"""A page that greets."""

from __future__ import annotations

from harness.report.pages.content import Page, Report


def toy_values(report: Report) -> dict[str, str]:
    """Returns the values of the template."""
    return {"greeting": f"hello {report.code}"}


PAGE = Page("Toys", "pages/toy.html", "toy.html.j2", toy_values, order=9)
'''
PAGE_TEMPLATE = '{% extends "layout.html.j2" %}{% block content %}<p>{{ greeting }}</p>{% endblock %}'
RENDER_PAGES = """
from harness.report.pages.content import Report
from harness.report.pages.render import render_pages

for name, text in render_pages(Report("T", "abc")).items():
    print("FILE", name)
    print(text)
"""


def test_a_page_is_its_module_and_its_template(checkout: Checkout) -> None:
    files = {"harness/report/pages/toy.py": PAGE, "leaderboards/templates/toy.html.j2": PAGE_TEMPLATE}
    checkout.write(files)
    assert checkout.touched() == set(files)
    pages = dict(part.split("\n", 1) for part in checkout.run("-c", RENDER_PAGES).split("FILE ")[1:])
    assert "<p>hello abc</p>" in pages["pages/toy.html"]
    assert '<a href="pages/toy.html">Toys</a>' in pages["index.html"]


WORD, NEW_WORD = "independent mean is lower; single runs reach it", "a toy of a word"
WRITE_GENERATED = f"""
from docs.generated import stale
from harness.io.files import write_text

for path, text in stale().items():
    if {WORD!r} in path.read_text(encoding="utf-8"):
        write_text(path, text)
"""
"""Writes the generated files that have the word."""


def test_a_word_of_the_verdicts_is_one_line_and_its_document_is_generated(checkout: Checkout) -> None:
    """`verify` says the new word in its sentence and as the verdict, and the old one nowhere."""
    words = checkout.folder / "harness/evidence/words.py"
    text = words.read_text(encoding="utf-8")
    assert text.count(f'"{WORD}"') == 1
    words.write_text(text.replace(f'"{WORD}"', f'"{NEW_WORD}"'), encoding="utf-8")
    checkout.run("-c", WRITE_GENERATED)
    assert checkout.touched() == {"harness/evidence/words.py", "docs/verdicts.md"}
    said = checkout.sentbench("verify", "pcl/table2", "SimCSE", "Avg")
    assert f"independent sources: {NEW_WORD}." in said
    assert f"verdict    {NEW_WORD}" in said
    assert WORD not in said


POSITIVE, NEGATIVE = "a fine film\nwell made\n", "too long\n"
ENTRY = """
toy-reviews:
  kind: classification
  text: senteval
  encoding: latin-1
  licence: none
  confirmed: made up
  note: three reviews
  rows:
    rt-polarity.pos: 2
    rt-polarity.neg: 1
  providers:
    mirror:
      folder: toy
      sha256:
        rt-polarity.pos: {positive}
        rt-polarity.neg: {negative}
"""


def test_a_source_of_a_known_format_is_one_entry(checkout: Checkout, tmp_path: Path) -> None:
    folder = tmp_path / "mirror/toy"
    folder.mkdir(parents=True)
    (folder / "rt-polarity.pos").write_text(POSITIVE)
    (folder / "rt-polarity.neg").write_text(NEGATIVE)
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in (POSITIVE, NEGATIVE)]
    with (checkout.folder / "harness/data/sources.yaml").open("a", encoding="utf-8") as file:
        file.write(ENTRY.format(positive=hashes[0], negative=hashes[1]))
    assert checkout.touched() == {"harness/data/sources.yaml"}
    assert "toy-reviews" in checkout.sentbench("list", "sources")
    fetch = ("data", "fetch", "toy-reviews", "--providers", "mirror")
    checkout.sentbench(*fetch, SENTBENCH_MIRROR=str(folder.parent))
    assert (checkout.folder / "data/toy-reviews/rt-polarity.pos").read_text() == POSITIVE
    checkout.pytest("tests/harness/data/test_sources.py")
