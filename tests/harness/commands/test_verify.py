"""`sentbench verify`: one number with its evidence, as text and as JSON, on this checkout's declarations."""

import json
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.usefixtures("checkout")


def test_simcse_has_both_answers_by_others_in_every_row_of_this_name(printed: Callable[..., str]) -> None:
    first, *others = printed("verify", "pcl/table2", "SimCSE", "Avg").split("\n\n")
    assert len(others) == 2  # RoBERTa-base and RoBERTa-large
    for part in (
        "pcl/table2  simcse@bert-base-uncased  Avg",
        "verdict    independent runs agree within run-to-run variation",
        "level      the mean of independent sources is 1.01 lower",
        "draw       inside what single runs give; 6 of 63 single runs are above it, and it is above 95 %",
        "assumes    sources that tell good and bad runs alike",
        "independent: 63 single runs, 14 sources, median of sources 75.28; authors of a competing method: ",
        "    https://github.com/hppRC/simple-simcse",
        "run        sentbench plan baselines/simcse --seeds",
    ):
        assert part in first


def test_a_main_number_is_known_from_its_authors_alone_and_its_plan_says_what_it_rests_on(
    printed: Callable[..., str],
) -> None:
    (found,) = json.loads(printed("verify", "una/table1", "una@bert-base-uncased", "avg", "--json"))
    assert (found["reported"]["value"], found["verdict"]) == (76.14, "authors only")
    plan = found["plan"]
    assert plan["more"] == plan["seeds"] > 2
    assert plan["gpu_hours"] > 1
    assert "another system on this backbone" in plan["why"]
    assert plan["command"] == f"sentbench plan una/una --seeds {plan['seeds']} && dvc repro"
    words = plan["command"].split(" && ")[0].split()[1:]
    assert f"{plan['seeds']} runs (0 done)" in printed(*words, "--dry-run")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["una/tabel1", "UNA", "Avg"], "unknown table 'una/tabel1'"),
        (["una/table1", "UNA", "Average"], "has no column 'Average'"),
        (["small-sts", "SimCSE", "STS12"], "prints no score in column STS12"),
    ],
)
def test_a_wrong_name_is_one_line(words: list[str], fault: str, refused: Callable[..., str]) -> None:
    assert fault in refused("verify", *words)
