"""The cross-view losses of SCT as pure functions.

Legend: B batch, d width, M queue rows, N keys of a distribution. Index 0 and 1 are the two views.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from torch import Tensor

from methods.core.distributions import match_distributions, pick_among_keys


class CrossView(NamedTuple):
    """Loss summed over directions, mean entropy of the targets, and number of keys of a distribution."""

    total: Tensor
    entropy: Tensor
    keys: int


def cross_view_loss(
    online: Tensor,
    references: Tensor,
    earlier: Sequence[Sequence[Tensor]],
    *,
    online_temperature: float,
    reference_temperature: float,
    loss: Literal["kl", "cross-entropy", "info-nce"] = "kl",
    crossing: bool = True,
    both_directions: bool = True,
) -> CrossView:
    """Returns the distance of each view's online distribution from the other view's reference distribution.

    Source: SCT eq. 2 without its factor one half, over queue and batch as in the released code. Both
    distributions of a direction are over the queue of the target's view.
    Shapes: online and references [2, B, d] of unit rows; `earlier` the queue rows of each view as blocks
    [M_i, d], or one entry for both views, whose keys then include the batch's references of both views.
    Gradients: to `online`; references and queues are constants.
    Facts: symmetric under an exchange of the views with their queues; cross-entropy exceeds KL by the
    targets' entropies and has its gradient; info-nce is the limit of KL for a reference temperature of 0.
    """
    total, entropy, keys = online.new_zeros(()), online.new_zeros(()), []
    for learner in (0, 1) if both_directions else (0,):
        view = 1 - learner if crossing else learner
        keys = keys_of_view(references, earlier, view)
        if loss == "info-nce":
            total = total + pick_among_keys(online[learner], keys, temperature=online_temperature)
            continue
        match = match_distributions(
            online[learner],
            references[view],
            keys,
            online_temperature=online_temperature,
            reference_temperature=reference_temperature,
        )
        total = total + (match.divergence if loss == "kl" else match.cross_entropy)
        entropy = entropy + match.entropy
    return CrossView(total, entropy / (2 if both_directions else 1), sum(map(len, keys)))


def keys_of_view(references: Tensor, earlier: Sequence[Sequence[Tensor]], view: int) -> list[Tensor]:
    """Returns the keys of a distribution of `view`: queue rows, then the batch, with `view` last."""
    if len(earlier) == 1:
        return [*earlier[0], references[1 - view], references[view]]
    return [*earlier[view], references[view]]
