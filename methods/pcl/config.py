"""Settings of PCL; the README lists the values of each preset."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.method import MethodConfig, ParentKind


class PCLConfig(MethodConfig):
    """Settings of one PCL run."""

    positives: int = Field(ge=1, description="K, positives of a sentence, the dropout copy included")
    edits: list[Literal["dropout", "shuffle", "invert", "delete", "repeat"]] = Field(
        description="augmentations of views 2, 3, ...: the first K - 1 entries are used"
    )
    edit_share: float = Field(ge=0, le=1, description="share of a sentence that is deleted or repeated")
    edit_unit: Literal["piece", "word"] = Field(description="unit of an edit")
    deletion: Literal["first-occurrence", "place"] = Field(
        description="deleted unit after a draw: the leftmost of equal value, or the drawn one"
    )
    temperature: float = Field(gt=0, description="tau, divides the cosine")
    coupling: Literal["separate", "tied", "fixed", "none"] = Field(
        description="the peer: its own network, a second pass of the main one, a frozen parent, or no peer "
        "(then no setting of the peer or of the divergences has an effect)"
    )
    peer_head: Literal["pooler-shared-mlp", "new-pooler-shared-mlp", "cls-shared-mlp", "cls-own-mlp"] = Field(
        description="head of the peer: the checkpoint's pooler or a new one before the main head, only the "
        "main head, or a separate head"
    )
    peer_attention_mask: bool = Field(description="off: the peer attends to padding")
    peer_views: Literal["shared", "independent"] = Field(
        description="one draw of edits for both networks, or two draws"
    )
    contrast: Literal["dropout-and-group", "dropout", "sum"] = Field(
        description="InfoNCE on the dropout copy, with or without the group term, or a sum over all positives"
    )
    contrast_weight: float = Field(ge=0, description="beta, multiplies the contrastive terms")
    kl_pairs: Literal["consistency-agreement", "eq5-literal"] = Field(description="reading of eq. 5")
    kl_direction: Literal["peer-main", "main-peer"] = Field(description="target first")
    kl_reduction: Literal["element-mean", "batch-mean"] = Field(description="divisor: B M or B")
    recompute: bool = Field(
        description="recompute activations in the backward pass: same numbers, less memory, more time"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.edits) < self.positives - 1:
            raise ValueError(
                f"positives {self.positives} needs {self.positives - 1} edits, but `edits` has "
                f"{len(self.edits)}"
            )
        if self.coupling == "tied" and (self.peer_head != "cls-shared-mlp" or not self.peer_attention_mask):
            raise ValueError(
                "tied networks share head and mask; set `peer_head: cls-shared-mlp` and "
                "`peer_attention_mask: true`"
            )
        if self.coupling == "fixed" and self.peer_head in ("cls-own-mlp", "new-pooler-shared-mlp"):
            raise ValueError(
                f"a fixed peer cannot train the layer that `peer_head: {self.peer_head}` adds; set "
                "`cls-shared-mlp` or `pooler-shared-mlp`"
            )
        return self

    @property
    def parent_kind(self) -> ParentKind | None:
        """The frozen peer, an encoder."""
        return "encoder" if self.coupling == "fixed" else None
