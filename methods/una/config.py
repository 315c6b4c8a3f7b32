"""Settings of UNA; the paper's alpha is `period`, beta is `magnitude`, r is `radius`."""

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
        description="the positive: the sentence again, or its first augmentation in the corpus"
    )
    period: int = Field(
        ge=0, description="alpha: steps 0, alpha, 2 alpha... have corrupted copies; 0: no step has"
    )
    magnitude: float = Field(
        gt=0, le=1, description="beta: mean probability of replacement before the cap at 1"
    )
    radius: int = Field(
        ge=1, description="r: terms on each side of a word's rank from which its replacement is drawn"
    )
    role: Literal["pair", "column"] = Field(
        description="copies are also positive pairs (code), or only negatives (paper)"
    )
    unit: Literal["position", "type"] = Field(
        description="unit of a sentence's mean score: words (code) or distinct terms (paper)"
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
        description="copies in lower case with blanks between words, or with the sentence's case and spaces"
    )

    @property
    def columns(self) -> Sequence[Column]:
        return (TEXT, FIRST_AUGMENTATION if self.positive == "paraphrase" else TEXT)
