"""The model card: the published seed, and the words about selection and text."""

from typing import Any

import pytest

from harness.report.formats.card import licence_of, median_seed, render_card
from tests.harness.report.made_results import result

TEXTS = (
    *("header", "name", "pooling", "max_length", "commit", "plan", "origin", "origin_licence"),
    *("corpus", "corpus_licence", "no_mteb"),
)
VALUES: dict[str, Any] = {
    **dict.fromkeys(TEXTS, "x"),
    "reported": {},
    "mteb": [],
    "dirty": False,
    "pooler": False,
}


@pytest.mark.parametrize(
    ("devs", "chosen"),
    [([0.3], 0), ([0.3, 0.1], 1), ([0.3, 0.1, 0.2], 2), ([0.4, 0.1, 0.3, 0.2], 3), ([0.2, 0.2, 0.2, 0.2], 1)],
)
def test_the_published_seed_has_the_median_dev_score_of_two_the_lower_of_equal_ones_the_first(
    devs: list[float], chosen: int
) -> None:
    """Seeds are numbered in the order of these scores, and given in the reverse order."""
    made = [result("a", seed, {("STSB", "all"): 0.5}, dev=dev) for seed, dev in enumerate(devs)]
    assert median_seed(made[::-1]).run.seed == chosen


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        ("best-dev", "Selection: the checkpoint best on STS-B dev (Spearman)."),
        ("last", "Selection: the last checkpoint."),
    ],
)
def test_a_card_says_which_weights_the_scores_are_of(selection: str, says: str) -> None:
    made = result("a", 0, {("STSB", "all"): 0.5})
    scores = [score.model_copy(update={"selection": selection}) for score in made.scores]
    card = render_card([made.model_copy(update={"scores": scores})], settings={}, values=VALUES)
    assert says in card


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("senteval", "Text of the evaluation: tokenised and lower-cased"),
        ("raw", "Text of the evaluation: raw."),
    ],
)
def test_a_card_says_which_text_was_encoded(text: str, says: str) -> None:
    made = result("a", 0, {("STSB", "all"): 0.5}, text=text)
    assert says in render_card([made], settings={}, values=VALUES)


@pytest.mark.parametrize(
    "licence",
    ["apache-2.0", "mit", "bsd-3-clause", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0"],
)
def test_a_licence_of_the_hub_has_its_id_and_any_other_one_its_name(licence: str) -> None:
    """Source: the hub's list of licences."""
    assert licence_of(f" {licence.upper()} ") == (licence, "")
    assert licence_of(f" {licence} of Mine ") == ("other", f"{licence} of Mine")
