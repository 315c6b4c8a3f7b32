"""Settings of ConSERT, one switch for every point in which paper and released code differ."""

from typing import Literal

from pydantic import Field

from methods.core.method import MethodConfig

ElementForm = Literal["exact-count", "bernoulli"]
View = Literal["none", "shuffle", "token-cutoff", "feature-cutoff", "dropout"]


class ConSERTConfig(MethodConfig):
    """Settings of one ConSERT run; the presets `released` and `paper` are blocks of its recipe."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    contrast_weight: float = Field(
        gt=0, description="of the sum of both sides' losses: 0.15 (released code); 0.5 is the paper's mean"
    )
    first_view: View = Field(description="what is done to a sentence for its first view")
    second_view: View = Field(description="and for its second")
    token_rate: float = Field(ge=0, lt=1, description="share of the tokens that a token cutoff zeroes")
    feature_rate: float = Field(ge=0, lt=1, description="share of the features that a feature cutoff zeroes")
    element_rate: float = Field(ge=0, lt=1, description="share of the numbers that the dropout view zeroes")
    element_dropout: ElementForm = Field(
        description="an exact number of them, without rescaling (released code), or each by a draw of its own"
    )
    cut_at: Literal["after-layernorm", "word-embeddings"] = Field(
        description="the embedding layer's output (released code), or the word embeddings below it"
    )
    positions: Literal["backbone", "from-zero"] = Field(
        description="where shuffled positions start; from 0 is the released code's slip with RoBERTa"
    )
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout; null: the backbone's"
    )
    training_pooling: Literal["mean", "cls"] = Field(
        description="pooling of training and selection; the run's own pooling is that of the exported encoder"
    )
