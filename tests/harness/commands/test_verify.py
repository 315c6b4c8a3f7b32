"""`sentbench verify`: one number with its evidence, as text and as JSON, on this checkout's declarations."""

import json
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.usefixtures("checkout")


def test_simcse_has_both_answers_by_others_in_every_row_of_this_name(printed: Callable[..., str]) -> None:
    first, *others = printed("verify", "pcl/table2", "SimCSE", "Avg").split("\n\n")
    assert len(others) == 2  # RoBERTa-base and RoBERTa-large
    for part in (
        "pcl/table2  simcse@bert-base-uncased  Avg (spearman, mean of 7)",
        "verdict    independent mean is lower; single runs reach it",
        "level      the mean of independent sources is 1.10 lower",
        "draw       inside the range of single runs and bests of 10 on dev (the paper does not state the "
        "choice); 5 of 61 single runs are above it; with each independent source counted as one run, it is "
        "above 99 %",
        "assumes    sources that report good and bad runs alike",
        "independent: 61 single runs, 13 sources, median of sources 75.27; authors of a competing method: ",
        "    https://github.com/hppRC/simple-simcse",
        "run        sentbench plan baselines/simcse --seeds",
    ):
        assert part in first


def test_a_search_names_who_states_a_number_and_whose_it_is(printed: Callable[..., str]) -> None:
    head, *rows = printed("verify", "GloVe").split("\n\n")[0].splitlines()
    assert head.split() == ["table", "row", "column", "printed", "by"]
    assert ["dclr/table1", "glove-avg", "Avg", "61.32", "cited", "from", "kim-2021-sg-opt"] in map(
        str.split, rows
    )
    (own, *_) = printed("verify", "una").split("\n\n")[0].splitlines()[1:]
    assert own.split()[-1] == "this-paper"


def test_a_main_number_is_known_only_from_its_authors_and_its_plan_states_its_basis(
    printed: Callable[..., str],
) -> None:
    (output,) = json.loads(printed("verify", "una/table1", "una@bert-base-uncased", "avg", "--json"))
    assert (output["reported"]["value"], output["verdict"]) == (76.14, "authors only")
    plan = output["plan"]
    assert plan["more"] == plan["seeds"] > 2
    assert plan["gpu_hours"] > 1
    assert "another system on this backbone" in plan["why"]
    assert plan["command"] == f"sentbench plan una/una --seeds {plan['seeds']} && sentbench launch"
    words = plan["command"].split(" && ")[0].split()[1:]
    assert f"{plan['seeds']} runs (0 done)" in printed(*words, "--dry-run")


def test_a_source_that_reports_a_mean_alone_has_no_single_runs(printed: Callable[..., str]) -> None:
    """PCL reports 78.42 of one run and 78.14 as a mean of five seeds: the mean is no single run."""
    output = printed("verify", "pcl/table2", "pcl/single-run@bert-base-uncased", "Avg")
    assert "\nsame authors: 1 source without single runs, median of sources 78.14\n" in output


def test_a_row_is_found_by_how_it_begins_and_on_a_backbone(printed: Callable[..., str]) -> None:
    def rows(*words: str) -> list[str]:
        output = json.loads(printed("verify", *words, "--json"))
        return [entry["reported"]["row"] for entry in output]

    both = ["una@bert-base-uncased", "una/paraphrase-pegasus@bert-base-uncased"]
    assert rows("una/table1", "BERT-base UN", "Avg") == both
    assert rows("una/table1", "bert-base una", "Avg") == both[:1]  # its whole name
    three = rows("pcl/table2", "simcse", "Avg")
    assert [row.partition("@")[0] for row in three] == ["simcse"] * 3
    assert rows("pcl/table2", "SimCSE", "Avg", "--backbone", "roberta-large") == ["simcse@roberta-large"]
    assert rows("pcl/table2", "SimCSE", "Avg", "--backbone", "bert") == three[:1]
    assert rows("pcl/table2", "SimCSE", "Avg", "--backbone", "roberta") == three[1:]


def test_a_table_is_found_in_any_letter_case(printed: Callable[..., str]) -> None:
    words = ("SimCSE", "Avg", "--backbone", "bert-base-uncased")
    as_listed = printed("verify", "pcl/table2", *words)
    assert as_listed == printed("verify", "PCL/table2", *words) == printed("verify", "Pcl/Table2", *words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["una/table1", "BERT-base UNA", "Avg"], "Only its authors have measured it."),
        (["pcl/table2", "pcl@bert-base-uncased", "Avg"], "Only its authors have measured it."),
        (
            ["pcl/table2", "SimCSE", "Avg", "--backbone", "bert-base-uncased"],
            "of 13 independent sources: ",
        ),
    ],
)
def test_the_first_line_is_a_sentence_on_who_measured_it(
    words: list[str], sentence: str, printed: Callable[..., str]
) -> None:
    first = printed("verify", *words).partition("\n")[0]
    assert sentence in first
    assert first.endswith(".")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["una/tabel1", "UNA", "Avg"], "unknown table 'una/tabel1'"),
        (["pcl", "PCL", "Avg"], "pcl is a paper; its tables and figures: pcl/fig2, pcl/fig3, pcl/fig4, "),
        (["una/table1", "UNA", "Average"], "has no column 'Average'"),
        (["una/table1", "UNNA", "Avg"], "has no row 'UNNA' (did you mean UNA"),
        (["pcl/table2", "nothing like it", "Avg"], "`sentbench verify pcl/table2` lists its 27 rows"),
        (
            ["pcl/table2", "SimCSE", "Avg", "--backbone", "t5"],
            "use one of bert-base-uncased, rob",
        ),
        (["small-sts", "SimCSE", "STS12"], "has no reported score in column STS12"),
    ],
)
def test_a_wrong_name_is_one_line(words: list[str], fault: str, refused: Callable[..., str]) -> None:
    assert fault in refused("verify", *words)


def test_a_table_alone_lists_its_rows_and_columns(printed: Callable[..., str]) -> None:
    *rows, _, last = printed("verify", "pcl/table2").splitlines()
    assert len(rows) == 27
    assert "simcse@bert-base-uncased" in rows
    assert last.endswith("STS12, STS13, STS14, STS15, STS16, STSB, SICKR, Avg")


def test_averages_of_transfer_tasks_and_of_similarities_are_distinct(printed: Callable[..., str]) -> None:
    """PCL's table 4 has accuracies of seven tasks, its table 2 correlations of seven test sets."""
    words = ("SimCSE", "Avg", "--backbone", "bert-base-uncased")
    assert "  Avg (accuracy, mean of 7)\n" in printed("verify", "pcl/table4", *words)
    assert "  Avg (spearman, mean of 7)\n" in printed("verify", "pcl/table2", *words)


def test_many_rows_of_one_name_get_one_line_each_which_begins_with_the_name_that_chooses_it(
    printed: Callable[..., str],
) -> None:
    *rows, empty, last = printed("verify", "pcl/table2", "PCL", "Avg").splitlines()
    assert (empty, last) == ("", "8 rows begin with 'PCL'; name one, or an encoder by --backbone")
    assert len(rows) == 8
    reported = {row.split()[0]: row for row in rows}
    for row, words in {
        "pcl@bert-base-uncased": "78.14 (mean of 5 seeds, by pcl)  ",
        "pcl/single-run@roberta-large": "79.49 (seeds not stated, by pcl)",
    }.items():
        assert words in reported[row]
        assert reported[row].endswith("  authors only")
        assert "begin with" not in printed("verify", "pcl/table2", row, "Avg")


def test_a_number_and_a_system_are_found_in_all_tables(
    printed: Callable[..., str], refused: Callable[..., str]
) -> None:
    """78.42 is PCL's single run; a search by points finds what a paper prints as a correlation."""
    lines = printed("verify", "78.42").splitlines()
    assert any(
        line.split()[:4] == ["pcl/table2", "pcl/single-run@bert-base-uncased", "Avg", "78.42"]
        for line in lines
    )
    first = "pcl/table2 pcl/single-run@bert-base-uncased Avg"
    assert lines[-1] == f"`sentbench verify {first}` prints the verdict on the first"
    for number in json.loads(printed("verify", "78.42", "--json")):
        assert json.loads(printed("verify", number["table"], number["row"], number["column"], "--json"))
    found = json.loads(printed("verify", "diffcse", "--json"))
    assert {"sct/fig2", "una/table-d8"} <= {number["table"] for number in found}
    assert all("diffcse" in number["row"] for number in found)
    bert = json.loads(printed("verify", "DiffCSE", "--backbone", "bert-base", "--json"))
    assert 0 < len(bert) < len(found)
    assert "no published number is 12.3456789" in refused("verify", "12.3456789")
    assert "did you mean diffcse" in refused("verify", "difcse")
    assert "expected a COLUMN" in refused("verify", "pcl/table2", "SimCSE")


@pytest.mark.parametrize(("backbone", "rows"), [(None, 8), ("bert-base", 4), ("roberta", 4)])
def test_the_rows_of_a_table_are_those_of_a_backbone_as_text_and_as_json(
    backbone: str | None, rows: int, printed: Callable[..., str]
) -> None:
    words = ["verify", "una/table1", *(["--backbone", backbone] if backbone else [])]
    text = printed(*words).partition("\n\n")[0].splitlines()
    listed = [entry["row"] for entry in json.loads(printed(*words, "--json"))]
    assert listed == text
    assert len(listed) == rows


def test_blanks_around_a_name_are_no_part_of_it(printed: Callable[..., str]) -> None:
    for words in (["una/table1"], ["una/table1", "BERT-base UNA", "Avg"], ["78.42"], ["PCL", "78.42"]):
        assert printed("verify", *(f" {word}  " for word in words)) == printed("verify", *words)


@pytest.mark.parametrize(
    ("words", "head"),
    [
        (["PCL 78.42"], "pcl/table2  pcl/single-run@bert-base-uncased  Avg"),
        (["PCL", "78.42"], "pcl/table2  pcl/single-run@bert-base-uncased  Avg"),
        (["SimCSE (76.25)"], "pcl/table2  simcse@bert-base-uncased  Avg"),
        (["simcse=76,25"], "pcl/table2  simcse@bert-base-uncased  Avg"),
        (["UNA 77.67"], "una/table1  una/paraphrase-pegasus@bert-base-uncased  Avg"),
        (["pcl roberta-large 79.49"], "pcl/table2  pcl/single-run@roberta-large  Avg"),
    ],
)
def test_a_name_and_a_value_get_the_verdict_of_that_number(
    words: list[str], head: str, printed: Callable[..., str]
) -> None:
    """The mean of a row comes before a single set with this value; every other place is named."""
    text = printed("verify", *words)
    assert text.count("\nreported ") == 1
    assert text.splitlines()[1].startswith(head)
    (number,) = json.loads(printed("verify", *words, "--json"))
    assert head == f"{number['reported']['table']}  {number['reported']['row']}  Avg"
    if words == ["UNA 77.67"]:
        assert text.splitlines()[-1] == (
            "the same value: una/table-d8 una/paraphrase-pegasus@bert-base-uncased Avg, "
            "una/table-d7 una/paraphrase-pegasus@bert-base-uncased seed-42"
        )


def test_a_value_that_a_name_does_not_report_is_answered_by_the_nearest_mean(
    refused: Callable[..., str],
) -> None:
    assert refused("verify", "PCL 78.24").strip() == (
        "sentbench: no row of pcl reports 78.24; the nearest is 78.14, pcl/table2 "
        "pcl@bert-base-uncased Avg; `sentbench verify pcl` lists its rows"
    )
    for words in (["pcl 78,24"], ["PCL = 78.24%"], ["PCL (78.24)"]):
        assert refused("verify", *words).endswith("`sentbench verify pcl` lists its rows"), words
    assert "neither a published number nor part of a system" in refused("verify", "PLC 78.42")
