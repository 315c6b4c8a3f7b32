"""Controls of an objective: trainings that a loss should beat if it learns from its positives.

A control is a setting of any method. `negated` is the negated loss. `permuted` gives every sentence the
second view of another one, if the loss reads its two views from `vectors(batch)`.
"""

from typing import Any, Literal

from torch import Tensor

from methods.core.errors import InputError
from methods.core.types import Batch, Loss

Control = Literal["negated", "permuted"]


def has_views(method: type) -> bool:
    """Returns whether the class of a method defines `vectors`, which `permuted` needs."""
    return callable(getattr(method, "vectors", None))


def become_control(method: Any, control: Control) -> None:
    """Turns a `Method` into its control.

    Errors: InputError for `permuted` if the method has no `vectors` or, at the first loss, if they are not
    two tensors [B, d] or the loss does not read them.
    """
    if control == "negated":
        method.loss = _Negated(method.loss)
        return
    name = type(method).__name__
    if not has_views(type(method)):
        raise InputError(
            f"{name}: control permuted needs `vectors(batch)`, which returns the two views that `loss` "
            "compares; define it or leave the control out"
        )
    views = _Permuted(method.vectors, name)
    method.vectors = views
    method.loss = _Reads(method.loss, views)


class _Negated:
    """A negated loss; its parts stay as they are."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def __call__(self, batch: Batch) -> Loss:
        result = self.loss(batch)
        return Loss(-result.total, result.parts)


class _Permuted:
    """Two views, the second moved on by one row: sentence i has the view of i - 1."""

    def __init__(self, vectors: Any, name: str) -> None:
        self.vectors, self.name, self.read = vectors, name, False

    def __call__(self, batch: Batch) -> tuple[Tensor, Tensor]:
        views = self.vectors(batch)
        pair = (
            isinstance(views, tuple) and len(views) == 2 and all(isinstance(view, Tensor) for view in views)
        )
        if not pair or views[0].shape != views[1].shape:
            raise InputError(
                f"{self.name}: control permuted needs two views of equal shape from `vectors`; leave it out"
            )
        self.read = True
        return views[0], views[1].roll(1, 0)


class _Reads:
    """A loss that is refused if it does not read its views: the control would equal the method."""

    def __init__(self, loss: Any, views: _Permuted) -> None:
        self.loss, self.views = loss, views

    def __call__(self, batch: Batch) -> Loss:
        self.views.read = False
        result: Loss = self.loss(batch)
        if not self.views.read:
            raise InputError(
                f"{self.views.name}: control permuted needs a `loss` that reads `vectors`; leave it out"
            )
        return result
