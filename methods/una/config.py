"""The switches of a UNA run; Greek letters of the paper: alpha is `period`, beta `magnitude`, r `radius`."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from methods.core.heads import TrainingHead
from methods.core.method import MethodConfig
from methods.core.rows import FIRST_AUGMENTATION, TEXT, Column


class UNAConfig(MethodConfig):
    """Settings of one UNA run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    head: TrainingHead
    positive: Literal["dropout", "paraphrase"] = Field(
        description="the positive: the sentence again, or the first augmentation that the corpus carries"
    )
    period: int = Field(
        ge=0, description="alpha: steps 0, alpha, 2 alpha... carry corrupted copies; 0: no step does"
    )
    magnitude: float = Field(
        gt=0, le=1, description="beta: mean probability of replacement before the cap at 1"
    )
    radius: int = Field(
        ge=1, description="r: terms on each side of a word's rank from which its replacement is drawn"
    )
    role: Literal["pair", "column"] = Field(
        description="copies are positive pairs of their own (code), or negatives and nothing else (paper)"
    )
    unit: Literal["position", "type"] = Field(
        description="what a sentence's mean score is over: its words (code) or its distinct terms (paper)"
    )
    select: Literal["tfidf", "random"] = Field(
        description="words to replace: by score, or each with probability beta"
    )
    replace: Literal["window", "anywhere"] = Field(
        description="replacements: within the radius by relevance, or any term uniformly"
    )
    unchanged: Literal["repair", "single-term", "keep"] = Field(
        description="a copy equal to its sentence: change the top word, one random term instead, or leave it"
    )
    statistics: Literal["corpus", "corpus-and-paraphrases"] = Field(
        description="documents behind TF-IDF: the sentences, or their paraphrases as well"
    )
    style: Literal["lower", "matched"] = Field(
        description="copies in lower case with blanks between words, or cased and spaced as the sentence"
    )

    @property
    def columns(self) -> Sequence[Column]:
        return (TEXT, FIRST_AUGMENTATION if self.positive == "paraphrase" else TEXT)
