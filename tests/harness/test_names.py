"""Names of the harness: one public function or class of a name, one meaning."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENTRIES = {
    "execute": "what every command does, one file each",
    "run": "what every stage does, one file each",
    "pages": "the pages that a module of the report has, for those that have several",
    "load_model": "a model of transformers, for encoding and for augmentation",
    "check_options": "refuses options of a command that exclude each other",
    "evaluate": "an encoder on tasks, for a stage and for the known scores",
    "escape": "text of LaTeX and of Markdown, by the module of the form",
    "to_csv": "a table or an evaluation in this form",
    "to_latex": "a table or an evaluation in this form",
    "to_markdown": "a table or an evaluation in this form",
}
"""Names that several modules have, with what they mean in all of them."""


def test_two_public_functions_of_one_name_mean_the_same() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "harness").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(ROOT)))
    several = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert {name: several[name] for name in several.keys() - ENTRIES.keys()} == {}
    assert several.keys() == ENTRIES.keys(), "an entry whose name is unique now goes"
