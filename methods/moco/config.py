"""Settings of MoCo; the README lists the values of each preset."""

from typing import Literal

from pydantic import Field

from methods.core.momentum import MomentumContrastConfig


class MoCoConfig(MomentumContrastConfig):
    """Settings of one MoCo run."""

    key_view: Literal["same", "duplication", "deletion", "reorder"] = Field(
        description="text of the key side: the same tokens or an augmentation"
    )
    edit_share: float = Field(ge=0, le=1, description="share of tokens that are duplicated or deleted")
    unedited_share: float = Field(ge=0, le=1, description="share of sentences whose key view stays unchanged")
