"""Settings of MoCo; the README lists the values of each preset."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.errors import InputError
from methods.core.momentum import MomentumContrastConfig


class MoCoConfig(MomentumContrastConfig):
    """Settings of one MoCo run."""

    key_view: Literal["same", "duplication", "deletion", "reorder", "roles"] = Field(
        description="text of the key side: the same tokens, an augmentation, or the sentence's roles"
    )
    edit_share: float = Field(ge=0, le=1, description="share of tokens that are duplicated or deleted")
    unedited_share: float = Field(ge=0, le=1, description="share of sentences whose key view stays unchanged")
    role_file: str | None = Field(
        description="file of `sentence<TAB>rewritten` lines for `roles`; null: tag the corpus with HanLP"
    )

    @model_validator(mode="after")
    def _file_is_read(self) -> Self:
        if self.role_file is not None and self.key_view != "roles":
            raise InputError(f"role_file with key_view {self.key_view}: a role_file needs `key_view: roles`")
        return self
