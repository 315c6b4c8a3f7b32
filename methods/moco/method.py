"""MoCo for sentences: momentum keys, a queue, and optionally an augmented sentence on the key side.

Legend: B batch, L tokens.
"""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from methods.core.corpus import TokenizedCorpus
from methods.core.errors import InputError
from methods.core.momentum import MomentumContrast
from methods.core.networks import Networks
from methods.core.rows import TEXT, Row
from methods.core.token_edits import TokenEdit, duplicate_in_place, hidden_positions, reorder_after_first
from methods.core.types import Batch, Loss, Tokens
from methods.moco.config import MoCoConfig

ORDER = ("ARG0", "PRED", "ARGM-NEG", "ARG1")
"""Roles that are kept, in output order (PropBank names; PRED is the predicate itself)."""

MODEL = "UD_ONTONOTES_TOK_POS_LEM_FEA_NER_SRL_DEP_SDP_CON_XLMR_BASE"
"""HanLP's multilingual model with OntoNotes roles; PT-BERT does not name its tagger."""

CHUNK = 64
"""Sentences per call of the tagger."""


class MoCo(MomentumContrast):
    """Momentum contrast on the pooled vector, which is PT-BERT without pseudo tokens."""

    Config = MoCoConfig
    config: MoCoConfig

    def __init__(self, config: MoCoConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.rewritten: TokenizedCorpus | None = None
        self.edits: dict[str, TokenEdit] = {
            "duplication": partial(duplicate_in_place, share=config.edit_share),
            "reorder": reorder_after_first,
        }

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the corpus and, if the key side reads roles, its rewritten sentences."""
        rows = super().prepare(rows)
        if self.config.key_view == "roles":
            texts = [row.text for row in rows]
            file = self.config.role_file
            by_roles = rewrite_all(texts) if file is None else read_rewritten(Path(file), texts)
            changed = [Row(row.index, text) for row, text in zip(rows, by_roles, strict=True)]
            self.rewritten = TokenizedCorpus(self.encoder, changed, max_length=self.config.max_length)
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens and, for an augmented key view, the key side's tokens and the augmented rows."""
        batch = super().collate(rows, step=step, rng=rng)
        if self.config.key_view == "same":
            return batch
        edited = rng.random(len(rows)) >= self.config.unedited_share  # [B]
        key = self.masked_view if self.config.key_view == "deletion" else self.rewritten_view
        return {**batch, "key": key(rows, edited, rng), "edited": torch.from_numpy(edited)}

    def masked_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns the same tokens, some hidden by the attention mask; positions stay (deletion)."""
        ids = self.token_ids(rows)
        tokens = self.encoder.pad(ids)
        for index in np.flatnonzero(edited).tolist():
            kept = hidden_positions(len(ids[index]), rng, share=self.config.edit_share)
            tokens["attention_mask"][index, : len(kept)] = torch.from_numpy(kept)
        return tokens

    def rewritten_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns new tokens for the augmented rows: duplicated, reordered or the sentence's roles."""
        ids = self.token_ids(rows)
        for index in np.flatnonzero(edited).tolist():
            if self.rewritten is not None:
                ids[index] = self.rewritten.ids(rows[index], TEXT)
            else:
                ids[index] = self.edits[self.config.key_view](ids[index], rng)
        return self.encoder.pad(ids)

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss; logs the share of edited sentences."""
        loss = super().loss(batch)
        if "edited" in batch:
            loss.parts["edited"] = batch["edited"].float().mean()
        return loss


def rewrite(words: Sequence[str], frames: Sequence[Sequence[tuple[str, str, int, int]]]) -> str:
    """Returns the roles of each predicate in ORDER, predicate after predicate; empty if no role is kept.

    frames: the tagger's spans of each predicate: a text, a role, and words start to end - 1.
    Source: PT-BERT's SRL-guided MoCo baseline. Spans with the same role keep their order.
    """
    return " ".join(
        word
        for spans in frames
        for role in ORDER
        for _, label, start, end in sorted(spans, key=lambda span: span[2])
        if label == role
        for word in words[start:end]
    )


def rewrite_all(sentences: Sequence[str]) -> list[str]:
    """Returns each sentence rewritten by HanLP's roles; sentences without a predicate stay unchanged.

    Errors: InputError if HanLP is not installed.
    """
    try:
        hanlp: Any = import_module("hanlp")
    except ModuleNotFoundError:
        raise InputError(
            "key_view roles needs HanLP (install the extra `roles`), or a role_file of "
            "`sentence<TAB>rewritten` lines"
        ) from None
    tagger = hanlp.load(getattr(hanlp.pretrained.mtl, MODEL))
    rewritten: list[str] = []
    for start in range(0, len(sentences), CHUNK):
        chunk = list(sentences[start : start + CHUNK])
        tagged = tagger(chunk, tasks=["tok", "srl"])
        for sentence, words, frames in zip(chunk, tagged["tok"], tagged["srl"], strict=True):
            rewritten.append(rewrite(words, frames) or sentence)
    return rewritten


def read_rewritten(file: Path, sentences: Sequence[str]) -> list[str]:
    """Returns each sentence's rewrite from a file of two columns; missing sentences stay unchanged.

    Errors: InputError if the file does not exist, a line does not have two columns, or no sentence is in the
    file.
    """
    if not file.is_file():
        raise InputError(f"{file}: no such file; role_file needs `sentence<TAB>rewritten` lines")
    rewritten: dict[str, str] = {}
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            columns = line.rstrip("\n").split("\t")
            if len(columns) != 2 or not columns[1].strip():
                raise InputError(
                    f"{file}, line {number}: {len(columns)} columns, expected `sentence<TAB>rewritten`"
                )
            rewritten[columns[0]] = columns[1]
    if not any(sentence in rewritten for sentence in sentences):
        raise InputError(
            f"{file}: none of the {len(sentences)} training sentences is in its first column; use the file "
            f"of this corpus"
        )
    return [rewritten.get(sentence, sentence) for sentence in sentences]
