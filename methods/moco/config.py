"""Settings of MoCo; the README says which preset each switch belongs to."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.errors import InputError
from methods.core.momentum import MomentumContrastConfig


class MoCoConfig(MomentumContrastConfig):
    """Settings of one MoCo run."""

    key_view: Literal["same", "duplication", "deletion", "reorder", "roles"] = Field(
        description="what the key side reads: the same tokens, an edit of them, or the sentence's roles"
    )
    edit_share: float = Field(
        ge=0, le=1, description="share of the tokens that duplication or deletion edits"
    )
    unedited_share: float = Field(
        ge=0, le=1, description="share of the sentences whose key view stays the same tokens"
    )
    role_file: str | None = Field(
        description="file of `sentence<TAB>rewritten` lines for `roles`; null: tag the corpus with HanLP"
    )

    @model_validator(mode="after")
    def _file_is_read(self) -> Self:
        if self.role_file is not None and self.key_view != "roles":
            raise InputError(
                f"role_file with key_view {self.key_view}, expected key_view roles; fix the recipe"
            )
        return self
