"""Controls: their effect on a loss and on any method, and refusals."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.losses import info_nce
from methods.core.method import Method, MethodConfig
from methods.core.networks import Networks
from methods.core.types import Batch, Loss
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny

SIMCSE = SAMPLES[0]


def loss_of(method: Method, batch: Batch) -> Tensor:
    torch.manual_seed(0)
    return method.loss(batch).total


def test_negated_is_minus_the_loss_with_its_parts_and_gradients(backbone: Path) -> None:
    method, control = tiny.changed(SIMCSE, backbone), tiny.changed(SIMCSE, backbone, control="negated")
    batch = tiny.batch_of(method)
    loss, negated = loss_of(method, batch), loss_of(control, batch)
    assert negated.item() == -loss.item()
    loss.backward()
    negated.backward()
    for name, parameter in method.named_parameters():
        opposite = control.get_parameter(name).grad
        assert opposite is not None
        assert parameter.grad is not None
        assert torch.equal(opposite, -parameter.grad), name


def test_permuted_gives_each_sentence_the_second_view_of_the_row_before(backbone: Path) -> None:
    method, control = tiny.changed(SIMCSE, backbone), tiny.changed(SIMCSE, backbone, control="permuted")
    batch = tiny.batch_of(method)
    torch.manual_seed(0)
    first, second = method.vectors(batch)
    moved = second[[len(second) - 1, *range(len(second) - 1)]]
    assert loss_of(control, batch).item() == info_nce(first, moved, temperature=0.05).item()


class Plain(Method):
    """A loss that compares two views."""

    def loss(self, batch: Batch) -> Loss:
        first, second = self.encoder(batch["anchor"]), self.encoder(batch["anchor"])
        return Loss(info_nce(first, second, temperature=0.05), {})


class Unread(Plain):
    """Its loss does not read its views."""

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor]:
        return self.encoder(batch["anchor"]), self.encoder(batch["anchor"])


class Single(Method):
    """Its `vectors` is a single tensor."""

    def vectors(self, batch: Batch) -> Tensor:
        return self.encoder(batch["anchor"])

    def loss(self, batch: Batch) -> Loss:
        return Loss(self.vectors(batch).square().mean(), {})


def built(kind: type[Method], backbone: Path, control: Any) -> Method:
    config = MethodConfig(max_length=32, control=control)
    return kind(config, Networks(backbone, pooling="cls"))


def test_any_loss_has_a_negated_control(backbone: Path) -> None:
    method, control = built(Plain, backbone, None), built(Plain, backbone, "negated")
    batch = tiny.batch_of(method)
    assert loss_of(control, batch).item() == -loss_of(method, batch).item()


def test_a_loss_without_two_views_has_no_permuted_control(backbone: Path) -> None:
    with pytest.raises(InputError, match="needs `vectors"):
        built(Plain, backbone, "permuted")
    for kind, message in ((Unread, "needs a `loss` that reads"), (Single, "two views of equal shape")):
        control = built(kind, backbone, "permuted")
        with pytest.raises(InputError, match=message):
            control.loss(tiny.batch_of(control))


class Unpaired(Single):
    """Its `vectors` returns what a test sets."""

    given: Any = None

    def vectors(self, batch: Batch) -> Any:
        return self.given


VIEW = torch.ones(3, 2)


@pytest.mark.parametrize(
    "given", [(VIEW, None), (None, VIEW), (VIEW, VIEW, VIEW), (VIEW,), [VIEW, VIEW], (VIEW, VIEW[:2])]
)
def test_two_views_are_two_tensors_of_equal_shape(backbone: Path, given: Any) -> None:
    """A method without a peer has one view and None."""
    control: Any = built(Unpaired, backbone, "permuted")
    control.vectors.vectors = lambda batch: given
    with pytest.raises(InputError, match="Unpaired: control permuted needs two views of equal shape from"):
        control.vectors({})


class Logging(Unread):
    """A loss of its views that logs a number."""

    def loss(self, batch: Batch) -> Loss:
        first, second = self.vectors(batch)
        return Loss(info_nce(first, second, temperature=0.05), {"rows": torch.tensor(float(len(first)))})


@pytest.mark.parametrize("control", ["negated", "permuted"])
def test_a_control_logs_what_its_method_logs(backbone: Path, control: str) -> None:
    made = built(Logging, backbone, control)
    batch = tiny.batch_of(made)
    assert made.loss(batch).parts == {"rows": torch.tensor(float(len(batch["anchor"]["input_ids"])))}
