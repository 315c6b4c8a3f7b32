"""Texts made by a sequence-to-sequence model: translation (Marian) and paraphrase (PEGASUS) alike.

Legend: B texts, L tokens of the longest.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from harness.augmentation.models import by_length, load_model, load_tokenizer
from harness.augmentation.records import Augmented, judged
from harness.augmentation.views import Generate
from harness.errors import InputError

SLACK = 10
"""Words that an output may have beyond the ratio: one word can become several."""


class Generator:
    """Beam search over batches of about equal length, in fp32, without dropout."""

    def __init__(self, folder: Path, settings: Generate, *, device: str) -> None:
        """Loads model and tokenizer. Errors: InputError if the folder does not hold such a model."""
        from transformers import AutoModelForSeq2SeqLM

        self.settings = settings
        self.model: Any = load_model(folder, AutoModelForSeq2SeqLM).to(device)
        self.tokenizer = load_tokenizer(folder)
        positions = getattr(self.model.config, "max_position_embeddings", settings.max_input)
        self.max_input = min(settings.max_input, positions)
        vocabulary = self.model.get_input_embeddings().num_embeddings
        if len(self.tokenizer) > vocabulary:
            raise InputError(
                f"{folder}: the tokenizer has {len(self.tokenizer)} tokens and the model {vocabulary}, "
                "expected the model's own tokenizer; fetch the model again"
            )

    def __call__(self, ids: Sequence[int], texts: Sequence[str]) -> list[Augmented]:
        """Returns the best output for each text, or the text itself if the output is empty or runs away.

        An output runs away if it has no end of sentence within `max_new_tokens`, or more than ten words above
        `longest_ratio` times the words of the text.
        """
        encoded = self.tokenizer(list(texts), truncation=True, max_length=self.max_input)["input_ids"]
        augmentations: dict[int, Augmented] = {}
        for indices in by_length(encoded, tokens=self.settings.batch_tokens):
            for index, (made, ended) in zip(
                indices, self._generate([encoded[index] for index in indices]), strict=True
            ):
                limit = self.settings.longest_ratio * len(texts[index].split()) + SLACK
                runaway = not ended or len(made.split()) > limit
                augmentations[index] = judged(texts[index], made, runaway=runaway)
        return [augmentations[index] for index in range(len(texts))]

    @torch.no_grad()
    def _generate(self, batch: Sequence[Sequence[int]]) -> list[tuple[str, bool]]:
        """Returns for each input the decoded output and whether it ended before the limit.

        The last position does not count: the model's settings may force an end there.
        """
        tokens = self.tokenizer.pad({"input_ids": list(batch)}, return_tensors="pt").to(self.model.device)
        chosen = {"num_beams": self.settings.beams, "length_penalty": self.settings.length_penalty}
        made = self.model.generate(
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            do_sample=False,
            num_return_sequences=1,
            max_length=None,
            max_new_tokens=self.settings.max_new_tokens,
            **{name: value for name, value in chosen.items() if value is not None},
        )  # [B, L]
        ends = (made[:, 1 : self.settings.max_new_tokens] == self.tokenizer.eos_token_id).any(dim=1).tolist()
        return list(zip(self.tokenizer.batch_decode(made, skip_special_tokens=True), ends, strict=True))
