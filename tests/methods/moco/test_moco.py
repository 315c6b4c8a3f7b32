"""MoCo's key views: effect and frequency of augmentations, and sentences rewritten by roles."""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

from methods.core.errors import InputError
from methods.core.types import Batch
from methods.moco.method import read_rewritten, rewrite, rewrite_all
from tests.methods.moco.sample import SAMPLES
from tests.support import tiny

ROWS = tiny.rows(60)


def build(backbone: Path, **changes: Any) -> Any:
    method = tiny.changed(SAMPLES[0], backbone, **changes)
    method.prepare(ROWS)
    return method


def collate(method: Any, rows: Any = ROWS) -> Batch:
    return tiny.collate(method, rows)


def pieces(view: Batch) -> list[list[int]]:
    """Returns each row's ids without padding; 0 is the padding id and occurs nowhere else."""
    return [[piece for piece in row if piece] for row in view["input_ids"].tolist()]


def test_deletion_hides_tokens_from_attention_and_keeps_ids_and_the_first_token(backbone: Path) -> None:
    batch = collate(build(backbone, key_view="deletion", edit_share=0.3, unedited_share=0.0))
    anchor, key = batch["anchor"], batch["key"]
    assert torch.equal(key["input_ids"], anchor["input_ids"])
    assert key["attention_mask"][:, 0].all()
    lengths = anchor["attention_mask"].sum(dim=1)
    hidden = lengths - key["attention_mask"].sum(dim=1)
    assert (hidden >= 1).all()
    assert (hidden <= (0.3 * lengths).long()).all()


def test_reorder_keeps_the_first_token_and_the_multiset(backbone: Path) -> None:
    batch = collate(build(backbone, key_view="reorder", unedited_share=0.0))
    pairs = list(zip(pieces(batch["anchor"]), pieces(batch["key"]), strict=True))
    assert all(sorted(a) == sorted(k) and a[0] == k[0] for a, k in pairs)
    assert sum(a != k for a, k in pairs) > 40
    assert any(k[-1] != a[-1] for a, k in pairs)


def test_duplication_grows_by_the_share_rounded_down_and_may_pass_the_truncation(backbone: Path) -> None:
    method = build(backbone, key_view="duplication", edit_share=0.5, unedited_share=0.0, max_length=6)
    batch = collate(method)
    pairs = list(zip(pieces(batch["anchor"]), pieces(batch["key"]), strict=True))
    assert all(len(k) == len(a) + int(0.5 * len(a)) for a, k in pairs)
    assert all(set(k) == set(a) for a, k in pairs)
    assert max(len(a) for a, _ in pairs) == 6
    assert max(len(k) for _, k in pairs) == 9


def test_one_sentence_in_three_is_edited_and_the_share_is_logged(backbone: Path) -> None:
    """30,000 draws at 2/3 unedited: standard deviation 0.0027, tolerance 0.01. The others read the anchor."""
    method = build(backbone, key_view="reorder", unedited_share=2 / 3)
    batch = collate(method, ROWS * 500)
    edited = batch["edited"]
    assert edited.float().mean().item() == pytest.approx(1 / 3, abs=0.01)
    assert torch.equal(batch["key"]["input_ids"][~edited], batch["anchor"]["input_ids"][~edited])
    few = collate(method, ROWS[:20])
    assert method.loss(few).parts["edited"].item() == pytest.approx(few["edited"].float().mean().item())


def test_the_loss_reads_the_key_view_on_the_key_side_only(backbone: Path) -> None:
    method = build(backbone, key_view="reorder", unedited_share=0.0, key_dropout=False, queue_size=60)
    batch = collate(method)
    expected = method.keys(batch["key"])
    method.loss(batch)
    torch.testing.assert_close(method.queue.newest(method.queue.size), expected)
    assert not torch.allclose(expected, method.keys(batch["anchor"]))


def test_roles_are_written_in_order_predicate_after_predicate() -> None:
    """`eat` has an agent, a denial and an object, `baked` an agent and an object; times are left out."""
    words = ["she", "did", "not", "eat", "the", "cake", "that", "he", "baked"]
    eat = [
        ("", "ARG1", 5, 6),
        ("", "ARG1", 4, 5),
        ("", "PRED", 3, 4),
        ("", "ARGM-NEG", 2, 3),
        ("", "ARG0", 0, 1),
    ]
    baked = [("", "PRED", 8, 9), ("", "ARG0", 7, 8), ("", "ARG1", 4, 6), ("", "ARGM-TMP", 1, 2)]
    assert rewrite(words, [eat, baked]) == "she eat not the cake he baked the cake"
    assert rewrite(words, []) == rewrite(words, [[("", "ARGM-TMP", 0, 1)]]) == ""


def test_a_role_file_defines_the_key_view_and_missing_sentences_stay(backbone: Path, tmp_path: Path) -> None:
    file = tmp_path / "roles.tsv"
    file.write_text(f"{ROWS[0].text}\tthe dog runs\n{ROWS[2].text}\ta cat\n", encoding="utf-8")
    batch = collate(build(backbone, key_view="roles", role_file=str(file), unedited_share=0.0))
    expected = tiny.sentence_encoder(backbone).token_ids(["the dog runs", ROWS[1].text, "a cat"])
    assert pieces(batch["key"])[:3] == expected
    assert pieces(batch["anchor"])[0] != expected[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\nc\td\te\n", "line 2: 3 columns, expected"),
        ("other\tsentence\n", "none of the 1 training sentences"),
    ],
)
def test_bad_role_files_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "roles.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_rewritten(file, ["a sentence"])


def test_the_tagger_is_read_by_word_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in with HanLP's output: words per sentence, [text, role, start, end] per span."""

    def tagger(sentences: list[str], tasks: list[str]) -> dict[str, Any]:
        assert tasks == ["tok", "srl"]
        frame = [["sat", "PRED", 1, 2], ["he", "ARG0", 0, 1]]
        return {
            "tok": [text.split() for text in sentences],
            "srl": [[frame] if "sat" in text else [] for text in sentences],
        }

    monkeypatch.setitem(sys.modules, "hanlp", MagicMock(load=lambda name: tagger))
    assert rewrite_all(["he sat down", "nothing here"] * 40) == ["he sat", "nothing here"] * 40


def test_roles_without_file_and_without_tagger_name_the_two_ways_in(
    backbone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hanlp", None)
    with pytest.raises(InputError, match=r"needs HanLP .*role_file"):
        build(backbone, key_view="roles")
