"""Settings of ConSERT, one switch for every difference between paper and released code."""

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
    first_view: View = Field(description="augmentation of the first view")
    second_view: View = Field(description="augmentation of the second view")
    token_rate: float = Field(ge=0, lt=1, description="share of tokens zeroed by a token cutoff")
    feature_rate: float = Field(ge=0, lt=1, description="share of features zeroed by a feature cutoff")
    element_rate: float = Field(ge=0, lt=1, description="share of numbers zeroed by the dropout view")
    element_dropout: ElementForm = Field(
        description="an exact number without rescaling (released code), or independent draws"
    )
    cut_at: Literal["after-layernorm", "word-embeddings"] = Field(
        description="the embedding layer's output (released code), or the word embeddings below it"
    )
    positions: Literal["backbone", "from-zero"] = Field(
        description="first shuffled position; 0 is a bug of the released code with RoBERTa"
    )
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout; null: the backbone's"
    )
    training_pooling: Literal["mean", "cls"] = Field(
        description="pooling of training and selection; the exported encoder has the run's pooling"
    )
