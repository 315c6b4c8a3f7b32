"""Sentence-pair inference on frozen vectors: SICK-E and SNLI with the classifier of the transfer tasks.

The two sets differ in SentEval and here: SICK-E uses [|u-v|; u*v] and searches the penalty on dev, SNLI uses
[u; v; u*v; |u-v|] with one tiny penalty and checks dev after each of at most 16 epochs.
"""

from __future__ import annotations

from pathlib import Path

from harness.data.nli import SNLI_TRAIN_ROWS, read_sick_entailment, read_snli
from harness.tasks.protocols import SENTEVAL, Protocol, without_search
from harness.tasks.transfer import ClassificationTask, DataSet


def by_second_length(lengths: tuple[int, ...], label: int, name: str) -> tuple[object, ...]:
    """Returns SentEval's sort key of SNLI: words of the second text, of the first, then the label's name."""
    return (lengths[1], lengths[0], name)


SICK_E = DataSet("SICK-E", read_sick_entailment, combine="difference_and_product")
SNLI = DataSet("SNLI", read_snli, combine="both_product_and_difference", sort_key=by_second_length)


class SnliTask(ClassificationTask):
    """SNLI; a training part smaller than the published one is named in the setting of its scores."""

    def __init__(
        self,
        text: str,
        source: str,
        *,
        protocol: Protocol = SENTEVAL,
        folder: Path | None = None,
    ) -> None:
        super().__init__(SNLI, text, source, protocol=without_search(protocol), folder=folder)

    def setting(self) -> str:
        whole = len(self.parts["train"].labels) >= SNLI_TRAIN_ROWS
        return self.protocol.name if whole else f"{self.protocol.name}/reduced-train"
