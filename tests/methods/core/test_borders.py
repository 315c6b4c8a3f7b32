"""Values at the borders of the parts that methods share, and of their settings."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from methods.core import dropout
from methods.core.errors import InputError
from methods.core.folders import cut_layers
from methods.core.heads import BatchNormHead
from methods.core.rows import Row
from methods.core.teachers import TeacherVectors, write_teacher
from methods.core.token_edits import by_words, duplicate_in_place, hidden_positions
from methods.core.trainer import Trainer
from methods.core.words import _check_vocabulary
from methods.scd.config import SCDConfig
from methods.sct.config import SCTConfig
from methods.sg_opt.config import SGOptConfig
from methods.una.corruption import Positions, draw_replacements, probabilities, select
from methods.una.terms import Ranking, count_terms
from methods.whitening.method import fit
from tests.methods.scd.sample import RELEASED as SCD
from tests.methods.sct.sample import RELEASED as SCT
from tests.methods.sg_opt.sample import RELEASED as SG_OPT
from tests.support import tiny


def test_a_head_stays_on_a_draw_of_exactly_the_rate_at_the_first_and_at_a_second_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rate 0.5. The first row keeps heads 1 and 2; the second loses all, and at its redraw keeps head 3."""
    draws = [torch.tensor([[0.5, 0.75, 0.25], [0.1, 0.2, 0.3]]), torch.tensor([[0.1, 0.2, 0.5]])]
    monkeypatch.setattr(torch, "rand", lambda *shape: draws.pop(0))
    drop = dropout.DropHead(0.5, when_none="redraw").train()
    assert drop(torch.ones(2, 3, 1, 1)).flatten(1).tolist() == [[1.5, 1.5, 0.0], [0.0, 0.0, 3.0]]


def test_an_encoder_may_keep_all_of_its_layers_or_one(tmp_path: Path) -> None:
    backbone = tiny.write_backbone(tmp_path / "bert")
    for layers in (2, 1):
        assert len(cut_layers(tiny.sentence_encoder(backbone), layers).backbone.encoder.layer) == layers
    for layers in (0, 3):
        with pytest.raises(InputError, match="expected 1 to 2"):
            cut_layers(tiny.sentence_encoder(backbone), layers)


def test_a_vocabulary_may_have_one_word_or_all() -> None:
    words: Any = SimpleNamespace(vocabulary=["a", "b", "c"])
    for size in (1, 3):
        _check_vocabulary(words, size)
    for size in (0, 4):
        with pytest.raises(InputError, match=f"cannot keep {size} words of 3; expected 1 to 3"):
            _check_vocabulary(words, size)


def test_a_teacher_has_the_vectors_of_rows_up_to_its_last(tmp_path: Path) -> None:
    made = [Row(index, f"text {index}") for index in range(3)]
    encoder = SimpleNamespace(dim=2, encode=lambda texts, progress: np.ones((len(texts), 2), np.float32))
    write_teacher(tmp_path, encoder, made[:2], {})
    TeacherVectors(tmp_path, needs="a test").open(made[:2])
    with pytest.raises(InputError, match=r"expected at least \(3, 1, t\)"):
        TeacherVectors(tmp_path, needs="a test").open(made[2:])


def test_batch_norm_takes_two_vectors_and_not_one() -> None:
    head = BatchNormHead([4, 3], first_bias=True).train()
    assert head(torch.randn(2, 4)).shape == (2, 3)
    with pytest.raises(InputError, match="at least 2 vectors"):
        head(torch.randn(1, 4))


@pytest.mark.parametrize(("length", "rest"), [(1, 1), (2, 1), (3, 2)])
def test_the_first_id_has_no_copy_and_is_never_hidden(length: int, rest: int) -> None:
    """A sequence of one id stays; of two only the second may be edited."""
    ids = np.arange(length, dtype=np.int32)
    for seed in range(20):
        copied = duplicate_in_place(ids, np.random.default_rng(seed), share=1.0)
        assert len(copied) == (1 if length == 1 else 2 * length)
        assert (copied == 0).sum() == 1
        hidden = hidden_positions(length, np.random.default_rng(seed), share=1.0)
        assert hidden[0] == 1
        assert length - hidden.sum() <= (0 if length == 1 else rest)


def test_special_tokens_around_no_word_or_one_are_words_of_their_own() -> None:
    """The word after the first token begins a word even if it is a continuation; of two ids both are ends."""
    continues = np.array([False, False, True])
    seen: list[list[int]] = []

    def edit(numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        seen.append(numbers.tolist())
        return numbers

    for ids in ([0, 1], [0, 2, 1], [0, 2, 2, 1], [0, 2, 2, 2]):
        array = np.array(ids, dtype=np.int32)
        made = by_words(array, np.random.default_rng(0), edit, continues=continues)
        assert made.tolist() == ids
    assert seen == [[0, 1], [0, 1, 2], [0, 1, 2], [0, 1, 2]]


def test_limits_of_settings_that_may_be_equal_and_that_may_not() -> None:
    assert SCDConfig.model_validate({**SCD, "dropout_low": 0.1, "dropout_high": 0.1}).dropout_low == 0.1
    SGOptConfig.model_validate({**SG_OPT, "first_layer": 1, "last_layer": 2})
    SGOptConfig.model_validate({**SG_OPT, "objective": "opt1", "first_layer": 0})
    with pytest.raises(ValueError, match="last_layer 1 with first_layer 1"):
        SGOptConfig.model_validate({**SG_OPT, "first_layer": 1, "last_layer": 1})


def test_a_word_is_replaced_by_its_tfidf_on_a_draw_below_its_probability_and_not_at_it() -> None:
    """One sentence with scores 1 and 3 at magnitude 0.25: probabilities 0.25 and 0.75."""
    sentence = Positions(np.arange(2), np.array([1.0, 3.0]), np.array([0, 2]))
    chances = probabilities(sentence, 0.25)
    at: Any = SimpleNamespace(random=lambda size: chances)
    below: Any = SimpleNamespace(random=lambda size: np.nextafter(chances, 0))
    assert not select(sentence, at, by="tfidf", magnitude=0.25).any()
    assert select(sentence, below, by="tfidf", magnitude=0.25).all()


def test_vectors_without_variance_have_no_direction_to_scale() -> None:
    _, weight = fit(np.ones((3, 2)), dim=2, whiten=True)
    assert weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_token_after_the_last_vector_is_refused(tmp_path: Path) -> None:
    """The tokenizer has one token more than the transformer has vectors."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    ids = encoder.token_ids(["the dog runs"])[0]
    vectors = encoder.backbone.get_input_embeddings()
    for rows, refused in ((max(ids) + 1, False), (max(ids), True)):
        vectors.num_embeddings = rows
        if refused:
            with pytest.raises(InputError, match=f"has id {max(ids)} and the transformer {rows} vectors"):
                encoder._check_pieces(["the dog runs"], [ids])
        else:
            encoder._check_pieces(["the dog runs"], [ids])
    encoder._spare = None
    vectors.num_embeddings = max(encoder.tokenizer.get_vocab().values())
    assert encoder._has_spare_pieces()
    encoder._spare = None
    vectors.num_embeddings += 1
    assert not encoder._has_spare_pieces()


def test_sct_reads_the_sentence_itself_as_view_zero() -> None:
    assert SCTConfig.model_validate({**SCT, "views": [0, 1]}).views == [0, 1]


def test_a_draw_at_the_begin_of_the_own_mass_is_the_next_term() -> None:
    """Relevance 1, 1 and 2 without the own term 1: a third of the other mass of 3 is where its own begins."""
    ranking = Ranking(["a", "b", "c"], np.array([1.0, 1.0, 2.0]), np.ones(3), np.array([0.0, 1.0, 2.0, 4.0]))
    drawn = [
        draw_replacements(
            ranking,
            np.array([1]),
            SimpleNamespace(random=lambda size, draw=draw: np.array([draw])),  # type: ignore[arg-type]
            radius=5,
            other=True,
        ).tolist()
        for draw in (0.0, np.nextafter(1 / 3, 0), 1 / 3, 0.99)
    ]
    assert drawn == [[0], [0], [2], [2]]


def test_two_terms_of_a_corpus_can_be_ranked_and_one_cannot() -> None:
    """In three documents `b` is in one and `a` in two."""
    ranking, _ = count_terms(["a a", "a b b", ""], sentences=3, unit="sentence")
    assert ranking.terms == ["b", "a"]
    with pytest.raises(InputError, match="3 sentences and 1 terms"):
        count_terms(["a", "a", ""], sentences=3, unit="sentence")


def test_the_scores_of_candidates_are_logged_if_there_are_two() -> None:
    def logged(*scores: float) -> dict[str, float]:
        own = SimpleNamespace(
            method=SimpleNamespace(watched=lambda: [*scores]),
            evaluate=lambda score: {"score": score},
            record=SimpleNamespace(candidate=None),
        )
        return Trainer._evaluate(own)  # type: ignore[arg-type]

    assert logged(0.5) == {"score": 0.5}
    assert logged(0.5, 0.75) == {"score": 0.75, "score_1": 0.5, "score_2": 0.75}
