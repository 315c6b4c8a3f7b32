"""Settings of DiffCSE; the README lists the values of each preset."""

from typing import Literal

from pydantic import Field

from methods.core.method import MethodConfig
from methods.core.networks import OutputLayer
from methods.diffcse.objective import CountedPositions


class DiffCSEConfig(MethodConfig):
    """Settings of one DiffCSE run; the presets `released` and `paper` are blocks of its recipe."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    head: Literal["batch-norm", "mlp"] = Field(
        description="projector of training: two dense layers with batch norm, or SimCSE's one with tanh"
    )
    detection_weight: float = Field(
        ge=0, description="lambda, weight of replaced-token detection; 0: contrast only"
    )
    mask_share: float = Field(gt=0, lt=1, description="r, probability that a token is masked")
    generator_layer: OutputLayer = Field(description="the generator's output layer, or its word embeddings")
    generator_output: Literal["argmax", "sample"] = Field(
        description="the most probable token (released code), or a sample (paper)"
    )
    generator_dropout: bool = Field(description="dropout of the frozen generator is active (released code)")
    rewrite_places: Literal["all", "masked"] = Field(
        description="the generator replaces every position (released code), or the masked ones"
    )
    detection_mean: CountedPositions = Field(
        description="mean over all positions, padding too (released code), or over real tokens"
    )
    detection_views: Literal["both", "one"] = Field(
        description="both copies of a sentence are rewritten with independent masks (released code), or one"
    )
