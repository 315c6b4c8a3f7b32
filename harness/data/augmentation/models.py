"""Texts made by models: translated (Marian), paraphrased (PEGASUS), or with masked tokens filled in.

Models come from fetched folders: safetensors only, fp32, in eval mode.
Legend: B texts, L tokens of the longest, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from harness.data.augmentation.records import Augmented, judged, row_generator
from harness.data.augmentation.views import SENTENCE_PIECES, Fill, Generate
from harness.errors import InputError
from methods.core.checkpoints import read_model, read_tokenizer

SLACK = 10
"""Additional words that an output may have beyond the ratio: one word can become several."""

CONTINUES = "##"
"""The prefix of a token that continues a word."""


class Generator:
    """Beam search over batches of about equal length, in fp32, without dropout."""

    def __init__(self, folder: Path, settings: Generate, *, device: str) -> None:
        """Loads model and tokenizer. Errors: InputError if the folder does not contain such a model."""
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
            outputs = self._generate([encoded[index] for index in indices])
            for index, (made, ended) in zip(indices, outputs, strict=True):
                limit = self.settings.longest_ratio * len(texts[index].split()) + SLACK
                runaway = not ended or len(made.split()) > limit
                augmentations[index] = judged(texts[index], made, runaway=runaway)
        return [augmentations[index] for index in range(len(texts))]

    @torch.no_grad()
    def _generate(self, batch: Sequence[Sequence[int]]) -> list[tuple[str, bool]]:
        """Returns the decoded output of each input, and whether it ended before the limit.

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


class Filler:
    """Masks a share of a text's tokens and replaces them by the model's predictions; the rest is unchanged.

    The first token of a word is replaced by a token that starts a word, a continuation by a continuation, and
    neither by a special token, so word boundaries are unchanged.
    """

    def __init__(self, folder: Path, settings: Fill, *, seed: int, number: int, device: str) -> None:
        """Loads model and tokenizer. Errors: InputError if the folder does not contain such a model."""
        from transformers import AutoModelForMaskedLM

        self.settings, self.seed, self.number = settings, seed, number
        self.model: Any = load_model(folder, AutoModelForMaskedLM).to(device)
        self.tokenizer = load_tokenizer(folder)
        pieces = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))
        if not any(piece.startswith(CONTINUES) for piece in pieces):
            raise InputError(
                f"{folder}: no token of the vocabulary begins with {CONTINUES}; the tool must be a model "
                f"with BERT's WordPiece tokens"
            )
        self.continues = torch.tensor([piece.startswith(CONTINUES) for piece in pieces], device=device)
        self.special = torch.tensor(self.tokenizer.all_special_ids, device=device)

    def __call__(self, ids: Sequence[int], texts: Sequence[str]) -> list[Augmented]:
        """Returns each text with masked tokens filled in, among the first `max_input` tokens."""
        encoded = self.tokenizer(
            list(texts), truncation=True, max_length=self.settings.max_input, return_offsets_mapping=True
        )
        generators = [row_generator(self.seed, self.number, row) for row in ids]
        drawn = zip(encoded["input_ids"], generators, strict=True)
        masked = [self._draw(pieces, rng) for pieces, rng in drawn]
        augmentations = [judged(text, text) for text in texts]
        for indices in by_length(encoded["input_ids"], tokens=self.settings.batch_tokens):
            chosen = self._fill(
                [encoded["input_ids"][index] for index in indices],
                [masked[index] for index in indices],
                [generators[index] for index in indices],
            )
            for index, filled in zip(indices, chosen, strict=True):
                spans = [encoded["offset_mapping"][index][position] for position in masked[index]]
                augmentations[index] = judged(texts[index], replace_spans(texts[index], spans, filled))
        return augmentations

    def _draw(self, pieces: Sequence[int], rng: np.random.Generator) -> list[int]:
        """Returns the sorted masked positions: a share of the positions without special tokens."""
        special = set(self.tokenizer.all_special_ids) - {self.tokenizer.unk_token_id}
        free = [position for position, piece in enumerate(pieces) if piece not in special]
        count = min(len(free), max(1, round(self.settings.share * len(free))))
        return sorted(rng.choice(free, size=count, replace=False).tolist()) if free else []

    @torch.no_grad()
    def _fill(
        self,
        batch: Sequence[Sequence[int]],
        masked: Sequence[Sequence[int]],
        generators: Sequence[np.random.Generator],
    ) -> list[list[str]]:
        """Returns the tokens that fill each text's masked positions, without continuation marks."""
        tokens = self.tokenizer.pad({"input_ids": list(batch)}, return_tensors="pt")
        original = tokens["input_ids"].to(self.model.device)  # [B, L]
        mask = torch.zeros_like(original, dtype=torch.bool)
        for row, positions in enumerate(masked):
            mask[row, positions] = True
        hidden = original.masked_fill(mask, self.tokenizer.mask_token_id)
        logits = self.model(
            input_ids=hidden, attention_mask=tokens["attention_mask"].to(self.model.device)
        ).logits
        allowed = self._allowed(logits[mask], original[mask])  # [masked positions, V]
        owners = (rng for rng, positions in zip(generators, masked, strict=True) for _ in positions)
        filled = [self._choose(row, rng) for row, rng in zip(allowed, owners, strict=True)]
        pieces = iter(self.tokenizer.convert_ids_to_tokens(filled))
        return [[next(pieces).removeprefix(CONTINUES) for _ in positions] for positions in masked]

    def _allowed(self, logits: Tensor, original: Tensor) -> Tensor:
        logits = logits[:, : len(self.continues)]
        wrong = self.continues[None, :] != self.continues[original][:, None]
        logits = logits.float().masked_fill(wrong, -torch.inf)
        return logits.index_fill(1, self.special, -torch.inf)

    def _choose(self, logits: Tensor, rng: np.random.Generator) -> int:
        if self.settings.choice == "best":
            return int(logits.argmax())
        probabilities = logits.double().softmax(dim=0).cpu().numpy()
        return int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))


def replace_spans(text: str, spans: Sequence[tuple[int, int]], pieces: Sequence[str]) -> str:
    """Returns the text with the characters of each span replaced; spans are sorted and do not overlap."""
    parts, last = [], 0
    for (start, end), piece in zip(spans, pieces, strict=True):
        parts += [text[last:start], piece]
        last = end
    return "".join(parts) + text[last:]


def load_model(folder: Path, kind: Any) -> Any:
    """Returns the model of a folder as an Auto class of transformers (`kind`) reads it.

    Errors: InputError if the folder has no such model, or its weights lack tensors.
    """
    expected = f"a model that {kind.__name__} reads"
    return read_model(kind, folder, expected=expected, computed="embed_positions")


def load_tokenizer(folder: Path) -> Any:
    """Returns the tokenizer of a folder. Errors: InputError if it is missing or needs a package."""
    pieces = [*folder.glob("*.spm"), *folder.glob("spiece.model")]
    absent = [package for package in SENTENCE_PIECES if not any(distributions(name=package))]
    if pieces and absent and not (folder / "tokenizer.json").is_file():
        raise InputError(
            f"{folder}: its tokenizer is a SentencePiece model, which needs {' and '.join(absent)}; "
            f"install with `pip install {' '.join(absent)}`"
        )
    return read_tokenizer(folder)


def by_length(ids: Sequence[Sequence[int]], *, tokens: int) -> Iterator[list[int]]:
    """Yields indices of sequences, longest first; a batch holds `tokens` positions or a single sequence.

    Sequences of a batch have about equal length, so there is little padding.
    """
    batch: list[int] = []
    for index in sorted(range(len(ids)), key=lambda index: -len(ids[index])):
        if batch and (len(batch) + 1) * len(ids[batch[0]]) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
