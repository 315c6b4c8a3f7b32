"""Settings of DCLR, one switch for every difference between paper and released code."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.method import MethodConfig, ParentKind
from methods.dclr.objective import Comparison, Denominator, MaskedPair

ComplementVector = Literal["own", "cls", "pooler"]


class DCLRConfig(MethodConfig):
    """Settings of one DCLR run; the presets `released` and `paper` are blocks of its recipe."""

    temperature: float = Field(gt=0, description="tau, divides the cosine in the main loss")
    objective: Literal["binary-cross-entropy", "cross-entropy", "cross-entropy-without-positive"] = Field(
        description="the released loss, the paper's with the positive in the denominator, or as printed"
    )
    masked_pair: MaskedPair = Field(
        description="a pair of weight 0 keeps its column with logit 0 (released code), or is removed (paper)"
    )
    student_from: Literal["backbone", "parent"] = Field(
        description="initial weights; parent: the run's parent is both start and complement"
    )
    weights_from: Literal["complement", "student", "none"] = Field(
        description="model whose cosines determine the weights; none: all pairs count"
    )
    threshold: float | None = Field(
        gt=-1, le=1, description="phi, threshold of the cosine for weight 0; null without weights"
    )
    comparison: Comparison = Field(description="a pair exactly at phi is kept (code), or masked (paper)")
    threshold_scale: Literal["cosine", "twenty"] = Field(
        description="compare the cosine with phi, or cosine / tau with 20 phi as in the released code"
    )
    complement_vector: ComplementVector = Field(
        description="the complement's exported vector, its [CLS], or the pooler above it (released code)"
    )
    complement_dropout: bool = Field(description="dropout of the frozen complement is active (released code)")
    noise_ratio: float = Field(ge=0, description="k, noise negatives per sentence of the batch: M = int(k B)")
    noise_scale: float = Field(gt=0, description="sigma, standard deviation of the initial noise")
    noise_steps: int = Field(ge=0, description="T, ascent steps; 0: random noise")
    noise_step_size: float = Field(gt=0, description="beta, length of one ascent step")
    noise_temperature: float = Field(gt=0, description="tau_u, divides the cosine in the ascent")
    noise_denominator: Denominator = Field(
        description="columns of the ascent's softmax: all (released code), or only the noise (paper)"
    )
    distillation_weight: float = Field(
        ge=0, description="lambda, weight of the KL term towards the complement's cosines"
    )
    head: Literal["mlp", "two-mlp", "pooler", "pooler-mlp"] = Field(
        description="training head: new tanh layers, the backbone's own pooler, or a new layer on the pooler"
    )
    attend_padding: bool = Field(description="training and complement attend to padding (released code)")
    positive: Literal["dropout", "token-shuffle", "token-cutoff", "span-cutoff", "feature-cutoff"] = Field(
        description="difference of the second view besides dropout"
    )
    cutoff_rate: float | None = Field(
        gt=0, lt=1, description="share of tokens or features removed by a cutoff; null for other positives"
    )

    @model_validator(mode="after")
    def _settings_agree(self) -> Self:
        if (self.threshold is None) != (self.weights_from == "none"):
            raise ValueError(
                f"threshold {self.threshold} with weights_from {self.weights_from!r}; expected a number "
                f"with weights, null without"
            )
        if (self.cutoff_rate is None) == self.positive.endswith("cutoff"):
            raise ValueError(
                f"cutoff_rate {self.cutoff_rate} with positive {self.positive!r}; expected a number for a "
                f"cutoff, null otherwise"
            )
        return self

    @property
    def has_complement(self) -> bool:
        """Whether a frozen parent scores the pairs, for weights or as a teacher."""
        return self.weights_from == "complement" or self.distillation_weight > 0

    @property
    def parent_kind(self) -> ParentKind | None:
        """An encoder if it scores the pairs or provides the initial weights."""
        return "encoder" if self.has_complement or self.student_from == "parent" else None
