"""The guide "Add a table" followed: a spec and the published numbers make a table with both in each cell."""

from __future__ import annotations

from tests.guides.conftest import Checkout

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
RENDER = """
from pathlib import Path
from harness.plan.recipes import declared_systems, load_recipes
from harness.facts.evidence.ledger import load_ledger
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.tables.build import Evidence, build_table
from harness.facts.published import load_published
from harness.facts.spec import check_spec, load_specs
from harness.tasks.registry import TASKS

root = Path("leaderboards")
published = load_published(root / "published")
spec = load_specs(root / "tables")["toy/table1"]
systems = {key: system.backbones for key, system in declared_systems(load_recipes()).items()}
check_spec(spec, published, tasks=list(TASKS), systems=systems)
evidence = Evidence(results=[], published=published, ledger=load_ledger(root / "evidence", published))
table = build_table(spec, evidence)
print(to_markdown(table), to_latex(table))
"""


def test_a_table_is_its_spec_and_its_published_numbers(checkout: Checkout) -> None:
    files = {"leaderboards/tables/toy-table1.yaml": SPEC, "leaderboards/published/toy.yaml": PUBLISHED}
    checkout.write(files)
    assert checkout.touched() == set(files)
    assert len(files) == 2
    assert "toy/table1" in checkout.sentbench("list", "tables")
    rendered = checkout.run("-c", RENDER)
    assert "Toy table 1: one column" in rendered
    assert "76.85" in rendered
