"""The method with a teacher in docs/your-method.md, with the imports of `methods/distill`."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from methods.core.losses import unit_squared_error
from methods.core.method import Method, MethodConfig
from methods.core.rows import TEXT
from methods.core.teachers import add_mapping
from methods.core.types import Loss

GUIDE = Path(__file__).parents[2] / "docs/your-method.md"


class Student:
    """An encoder whose vectors are its input."""

    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors

    finish = staticmethod(lambda vectors: vectors)


@pytest.fixture
def taught() -> Any:
    names: dict[str, Any] = {"MethodConfig": MethodConfig, "Method": Method, "Loss": Loss, "TEXT": TEXT}
    names |= {"add_mapping": add_mapping, "unit_squared_error": unit_squared_error}
    text = GUIDE.read_text(encoding="utf-8")
    exec("class TaughtConfig" + text.partition("class TaughtConfig")[2].partition("```")[0], names)
    return names["Taught"]


def test_its_settings_ask_for_a_teachers_vectors(taught: Any) -> None:
    assert taught.Config(max_length=8).parent_kind == "teacher"


def test_its_loss_is_zero_at_the_teachers_direction_and_four_at_the_opposite_one(taught: Any) -> None:
    student = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    method = SimpleNamespace(encoder=Student())
    for factor, expected in ((5.0, 0.0), (-1.0, 4.0)):
        loss = taught.loss(method, {"anchor": student, "teacher": factor * student})
        assert loss.total.item() == pytest.approx(expected, abs=1e-6)
