"""The numbers of a step's log: their names, how the loss is made of them, and their values by hand."""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from methods.bert_flow.method import log_normal
from methods.congen.method import distribution_distillation
from methods.core.types import Loss
from methods.dclr.objective import noise_share
from methods.diffcse.method import DiffCSE
from methods.diffcse.objective import diffcse_loss
from methods.modals.method import relative_length
from methods.scd.objective import scd_loss
from methods.sct.method import logged
from methods.sct.objective import CrossView
from methods.una.corruption import Negatives
from tests.support import tiny
from tests.support.samples import SampleFolders, make, samples_of
from tests.support.tiny import Sample

Parts = Mapping[str, float]


def plain(parts: Parts, config: Mapping[str, Any]) -> float:
    return parts["contrast"]


def of_pcl(parts: Parts, config: Mapping[str, Any]) -> float:
    contrast = sum(value for name, value in parts.items() if name.startswith(("nce", "group")))
    return config["contrast_weight"] * contrast + parts["kl_consistency"] + parts["kl_agreement"]


def of_congen(parts: Parts, config: Mapping[str, Any]) -> float:
    share = config["control_weight"]
    return share * parts["control"] + (1 - share) * parts["generalise"]


def of_scd(parts: Parts, config: Mapping[str, Any]) -> float:
    weights = config["self_contrast_weight"], config["decorrelation_weight"]
    return weights[0] * parts["self_contrast"] + weights[1] * parts["decorrelation"]


def of_sct(parts: Parts, config: Mapping[str, Any]) -> float:
    return config["loss_weight"] * sum(parts.get(name, 0.0) for name in ("own", "teacher"))


def of_diffcse(parts: Parts, config: Mapping[str, Any]) -> float:
    return parts["contrast"] + config["detection_weight"] * parts[f"detection_{config['detection_mean']}"]


def of_dclr(parts: Parts, config: Mapping[str, Any]) -> float:
    return parts["contrast"] + config["distillation_weight"] * parts.get("distillation", 0.0)


OF_DIFFCSE = "contrast detection_all detection_real accuracy replaced_chosen replaced_others"
CASES: list[tuple[str, str, str, Callable[[Parts, Mapping[str, Any]], float] | None]] = [
    ("bert-flow", "released", "bits log_determinant", lambda parts, config: 2 * parts["bits"]),
    ("bert-flow", "sentences", "bits log_determinant", lambda parts, config: parts["bits"]),
    ("ckd", "released", "keys", None),
    ("ckd", "original", "keys scale", None),
    ("congen", "released", "control generalise entropy keys", of_congen),
    ("consert", "paper", "contrast", lambda parts, config: config["contrast_weight"] * parts["contrast"]),
    ("ct", "released", "score_same score_random", None),
    ("ct", "sbert-inbatch", "scale", None),
    ("dclr", "released", "contrast noise_share masked_share", of_dclr),
    ("dclr", "simcse", "contrast", of_dclr),
    ("dclr", "distill-random-noise", "contrast noise_share distillation", of_dclr),
    ("diffcse", "released", OF_DIFFCSE, of_diffcse),
    ("diffcse", "paper", OF_DIFFCSE, of_diffcse),
    ("diffcse", "contrast-alone", "", None),
    ("mirror-bert", "released", "positive_cosine", None),
    ("moco", "released", "keys", None),
    ("moco", "deletion-still-keys", "keys edited", None),
    ("modals", "interpolation", "moved", None),
    (
        "pcl",
        "released",
        "nce_main group_main nce_peer group_peer kl_consistency kl_agreement positive_mass",
        of_pcl,
    ),
    ("pcl", "no-contrast", "nce_main nce_peer kl_consistency kl_agreement positive_mass", of_pcl),
    ("pcl", "no-peer", "nce_main group_main positive_mass", None),
    ("pt-bert", "released", "keys", None),
    ("scd", "released", "self_contrast decorrelation diagonal_mean off_diagonal_rms", of_scd),
    ("sct", "released", "own own_entropy own_keys", of_sct),
    ("sct", "second-stage", "teacher teacher_entropy teacher_keys", of_sct),
    ("sct", "joint", "own own_entropy own_keys teacher teacher_entropy teacher_keys", of_sct),
    ("sg-opt", "opt2", "contrast distance", plain),
    ("simcse", "info-nce", "", None),
    ("una", "released", "replaced repaired single_term", None),
    ("una", "never", "", None),
]


def sample_of(method: str, label: str) -> Sample:
    return next(sample for sample in samples_of(method) if sample.label == label)


@pytest.mark.parametrize(("method", "label", "names", "total"), CASES)
def test_the_log_of_a_step_has_these_numbers_and_the_loss_is_made_of_them(
    method: str, label: str, names: str, total: Any, folders: SampleFolders
) -> None:
    sample = sample_of(method, label)
    base = folders.of(sample)
    made: Any = make(sample, base).train()
    batch = tiny.collate(made, made.prepare(base.rows)[:8])
    loss = made.loss(batch)
    assert set(loss.parts) == set(names.split())
    assert not any(part.requires_grad or part.ndim for part in loss.parts.values())
    assert loss.total.requires_grad
    if total is not None:
        parts = {name: float(part) for name, part in loss.parts.items()}
        assert float(loss.total.detach()) == pytest.approx(total(parts, sample.config), rel=1e-5)


def numbers(parts: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    return {name: pytest.approx(float(part), abs=1e-6) for name, part in parts.items()}


def test_detection_counts_real_tokens_that_are_classified_rightly() -> None:
    """Three real tokens and one of padding; the first and the last are classified rightly."""
    logits = torch.tensor([[[2.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]])
    labels = torch.tensor([[False, True, True, False]])
    first = torch.eye(2)[:1]
    right, wrong = math.log1p(math.exp(-2)), math.log1p(math.exp(2))
    real = (2 * right + wrong) / 3
    every = (2 * right + wrong + math.log(2)) / 4
    for positions, mean in (("all", every), ("real", real)):
        loss = diffcse_loss(
            first, first, logits, labels, torch.tensor([[1, 1, 1, 0]]),
            temperature=0.5, weight=0.25, positions=positions,  # type: ignore[arg-type]
        )  # fmt: skip
        assert {
            "contrast": 0.0, "detection_all": every, "detection_real": real, "accuracy": 2 / 3
        } == numbers(loss.parts)  # fmt: skip
        assert loss.total.item() == pytest.approx(0.25 * mean)


def test_replaced_tokens_are_counted_among_the_chosen_and_among_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Row 1 has 3 tokens, of 2 chosen ones one is replaced. Row 2 has 2 tokens, none chosen, one replaced."""
    ids, mask = torch.tensor([[5, 6, 7], [5, 8, 0]]), torch.tensor([[1, 1, 1], [1, 1, 0]])
    written = torch.tensor([[5, 9, 7], [5, 9, 9]])
    own: Any = SimpleNamespace(
        config=SimpleNamespace(temperature=0.5, detection_weight=1.0, detection_mean="real"),
        encoder=lambda tokens: torch.randn(4, 3),
        head=lambda vectors: vectors,
        discriminator=lambda tokens, vectors: torch.zeros(2, 3, 2),
        rewrites=lambda batch, original: written,
    )
    chosen = torch.tensor([[False, True, True], [False, False, False]])
    batch = {"anchor": {"input_ids": ids, "attention_mask": mask}, "corrupted": ids, "chosen": chosen}
    loss: Loss = DiffCSE.loss(own, batch)
    assert loss.parts["replaced_chosen"].item() == pytest.approx(1 / 2)
    assert loss.parts["replaced_others"].item() == pytest.approx(1 / 3)


def test_noise_has_its_share_of_the_negatives_and_a_row_without_any_counts_as_none() -> None:
    """Row 1: negatives e^0 = 1 and noise 3; row 2 has no finite negative."""
    logits = torch.tensor([[5.0, 0.0, math.log(3)], [-torch.inf, 5.0, -torch.inf]])
    assert noise_share(logits).item() == pytest.approx((3 / 4) / 2)
    assert noise_share(torch.ones(2, 2)).item() == 0.0


def test_a_move_is_told_in_lengths_of_the_vectors() -> None:
    moves, vectors = torch.tensor([[3.0, 4.0], [0.0, 1.0]]), torch.tensor([[6.0, 8.0], [0.0, 2.0]])
    assert relative_length(moves, vectors).item() == pytest.approx((5 + 1) / (10 + 2))


def test_the_log_density_of_a_normal_vector() -> None:
    """Of zero and of (1, 2): ln(2 pi) less per two numbers, and half of the squared length."""
    expected = [-math.log(2 * math.pi), -math.log(2 * math.pi) - 2.5]
    assert log_normal(torch.tensor([[0.0, 0.0], [1.0, 2.0]])).tolist() == pytest.approx(expected)


def test_scd_logs_the_mean_of_the_diagonal_and_the_root_of_the_others() -> None:
    """C has the columns (1, 0.5) and (0, 0.25): diagonal 1 and 0.25, others 0.5 and 0."""
    first = torch.tensor([[1.0, 1.0], [1.0, -1.0]])
    wanted = torch.tensor([[1.0, 0.0], [0.5, 0.25]])
    second = torch.linalg.solve(first.T / 2, wanted)
    loss = scd_loss(
        torch.eye(2), torch.eye(2), first, second,
        self_contrast_weight=2.0, self_contrast_scale=3.0, self_contrast_reduction="mean",
        decorrelation_weight=5.0, off_diagonal_weight=7.0,
    )  # fmt: skip
    apart = (0.75**2) + 7 * 0.5**2
    assert {
        "self_contrast": 3.0, "decorrelation": apart, "diagonal_mean": 0.625,
        "off_diagonal_rms": math.sqrt(0.25 / 2),
    } == numbers(loss.parts)  # fmt: skip
    assert loss.total.item() == pytest.approx(2 * 3 + 5 * apart)


def test_sct_logs_the_mean_entropy_and_the_number_of_keys() -> None:
    match = CrossView(torch.tensor(2.0, requires_grad=True), torch.tensor(0.5), 28)
    assert numbers(logged("own", match)) == {"own": 2.0, "own_entropy": 0.5, "own_keys": 28.0}


def test_congen_logs_the_entropy_of_its_targets() -> None:
    """Two teachers at right angles and temperature 1: shares e / (e + 1) and 1 / (e + 1)."""
    share = math.e / (math.e + 1)
    entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
    teachers = torch.eye(2)
    terms = distribution_distillation(
        teachers[None], teachers, torch.zeros(0, 2), teacher_temperature=1.0, student_temperature=1.0
    )
    assert terms.entropy.item() == pytest.approx(entropy)
    assert terms.cross_entropy.tolist() == pytest.approx([entropy])
    assert terms.divergence.tolist() == pytest.approx([0.0], abs=1e-6)


def test_una_logs_shares_of_words_and_of_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five words two are replaced, one of four sentences is repaired, two are a single term."""
    own: Any = SimpleNamespace(
        config=SimpleNamespace(select="tfidf", magnitude=0.5, replace="window", radius=3, unchanged="repair"),
        sentences=None, documents=np.arange(9), ranking=None,
        _texts=lambda rows, sentences, ranks: ["a"] * 4,
        _single_terms=lambda rows, texts, rng: 2,
    )  # fmt: skip
    seen: dict[str, Any] = {}

    def corrupt(sentences: Any, ranking: Any, rng: Any, **options: Any) -> Any:
        seen.update(options)
        return None, np.array([1, 0, 1, 0, 0], bool), np.array([0, 1, 0, 0], bool)

    monkeypatch.setattr("methods.una.corruption.take", lambda *given: SimpleNamespace(ranks=[0] * 5))
    monkeypatch.setattr("methods.una.corruption.corrupt", corrupt)
    texts, shares = Negatives.write(own, tiny.rows(4), np.random.default_rng(0))
    assert shares == {"replaced": 0.4, "repaired": 0.25, "single_term": 0.5}
    assert texts == ["a"] * 4
    assert seen == {"by": "tfidf", "magnitude": 0.5, "radius": 3, "repair": True}
    own.config.replace, own.config.unchanged = "anywhere", "keep"
    Negatives.write(own, tiny.rows(4), np.random.default_rng(0))
    assert (seen["radius"], seen["repair"]) == (None, False)
