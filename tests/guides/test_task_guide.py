"""The guide "Add a task" followed: two files make a task that is listed, built, planned and scored."""

from __future__ import annotations

from tests.guides.conftest import Checkout

DECLARATION = '''"""Whether a film review is positive."""

from __future__ import annotations

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

from harness.tasks.registry import build_tasks, sources_of
from tests.harness.tasks.layouts import LAYOUTS, declared_task


def test_a_constant_encoder_scores_the_share_of_one_class(tmp_path: Path) -> None:
    """Both classes have 60 reviews."""
    LAYOUTS["MR"](tmp_path)
    (score, _) = declared_task("Toy", folder=tmp_path).evaluate(lambda texts: np.ones((len(texts), 4)))
    assert (score.setting, round(score.value, 3), score.n) == ("senteval", 0.5, 120)


def test_the_suite_and_the_source_follow_from_the_declaration() -> None:
    assert [task.name for task in build_tasks(["toys"], text="raw")] == ["Toy"]
    assert sources_of(["toys"], text="raw") == ["mr"]
'''


def test_a_task_is_its_declaration_and_its_test(checkout: Checkout) -> None:
    files = {"harness/tasks/declared/toy.py": DECLARATION, "tests/harness/tasks/test_toy.py": TEST}
    checkout.write(files)
    assert checkout.touched() == set(files)
    assert len(files) == 2
    assert "Toy" in checkout.sentbench("list", "tasks").split()
    tests = [f"tests/harness/tasks/test_{name}.py" for name in ("toy", "registry", "every_task")]
    checkout.pytest(*tests, "-k", "test_toy or test_registry or Toy")
