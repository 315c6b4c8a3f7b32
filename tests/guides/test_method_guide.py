"""The guide "Add a method" followed: a method that keeps every law of the conformance kit."""

from __future__ import annotations

from tests.guides.conftest import Checkout

CONFIG = '''"""The settings of a toy run."""

from __future__ import annotations

from pydantic import Field

from methods.core.method import MethodConfig


class ToyConfig(MethodConfig):
    """Settings of one toy run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
'''
METHOD = '''"""A toy: two dropout masks of one batch; Legend: B batch, L tokens, d width."""

from __future__ import annotations

import torch

from methods.core.losses import info_nce
from methods.core.method import Method
from methods.core.types import Batch, Loss
from methods.toy.config import ToyConfig


class Toy(Method):
    """Two passes of one batch are each other\'s positives."""

    Config = ToyConfig
    config: ToyConfig

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss of B sentences against each other."""
        tokens = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}  # [2B, L]
        first, second = self.encoder(tokens).chunk(2)
        return Loss(info_nce(first, second, temperature=self.config.temperature), {})
'''
SAMPLE = '''"""The configurations of the toy that the conformance kit runs."""

from tests.support.tiny import Sample

SAMPLES = [Sample("toy", "only", {"max_length": 32, "temperature": 0.05})]
'''
TEST = '''"""The toy method."""

import pytest
from pydantic import ValidationError

from methods.registry import METHODS, load_method


def test_the_toy_is_known_by_its_name() -> None:
    assert load_method("toy").__name__ == "Toy"


def test_the_toy_has_one_setting_of_its_own() -> None:
    assert set(load_method("toy").Config.model_fields) == {"max_length", "temperature"}


def test_the_toy_refuses_a_temperature_of_zero() -> None:
    assert "toy" in METHODS
    with pytest.raises(ValidationError):
        load_method("toy").Config.model_validate({"max_length": 32, "temperature": 0.0})
'''
HEADINGS = ("Claim", "Source", "Objective", "Views", "Runs", "Deviations", "Exported encoder", "Cost")
FACTS = ("test_the_toy_is_known_by_its_name", "test_the_toy_has_one_setting_of_its_own")
README = "\n".join(
    [
        "# toy",
        *(f"\n## {heading}\nNone." for heading in HEADINGS),
        "\n## Facts tested",
        ", ".join(f"`{name}`" for name in (*FACTS, "test_the_toy_refuses_a_temperature_of_zero")) + ".",
        "\n## Reproduced?\nSee [the report](../../reports/index.html).\n",
    ]
)


def test_a_method_that_follows_the_guide_keeps_every_law(checkout: Checkout) -> None:
    files = {
        "methods/toy/config.py": CONFIG,
        "methods/toy/method.py": METHOD,
        "methods/toy/README.md": README,
        "tests/methods/toy/sample.py": SAMPLE,
        "tests/methods/toy/test_toy.py": TEST,
    }
    checkout.write({**files, "methods/toy/__init__.py": "", "tests/methods/toy/__init__.py": ""})
    assert checkout.touched() == set(files)
    assert len(files) == 5
    assert "toy" in checkout.sentbench("list", "methods").split()
    laws = [f"tests/conformance/test_{name}.py" for name in ("laws", "readmes")]
    checkout.pytest("tests/methods/toy", *laws, "-k", "toy", "-m", "not slow")
