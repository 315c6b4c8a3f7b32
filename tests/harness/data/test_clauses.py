"""Readers and providers of data, clause by clause: names of columns, borders of scores, files by name."""

import bz2
import json
from pathlib import Path
from typing import Any

import mwparserfromhell
import pytest

from harness.data import classification
from harness.data.corpora import corpus_file, evenly_spaced
from harness.data.lines import decoded_lines, tab_separated
from harness.data.own_pairs import ROLES, SPLITS, read_own_pairs, roles_of
from harness.data.reranking import READERS as RANKINGS
from harness.data.sources import SOURCES
from harness.data.sts import read_pairs_jsonl, read_senteval_sts, read_sick, read_stsb
from harness.data.wikipedia import (
    SILENT_TAGS,
    SPOKEN_TEMPLATES,
    UNREADABLE_TAGS,
    is_prose,
    plain_text,
    sentences_of_dump,
    sentences_of_wikitext,
    tidy,
)
from harness.errors import InputError

FIRST = "sentence1 sentencea text1 texta sent1 senta s1 first"
SCORE = "score label similarity gold goldscore relatednessscore similarityscore rating"
ALL = [
    (role, name) for role, names in zip(ROLES, (FIRST, FIRST, SCORE), strict=True) for name in names.split()
]


def second(name: str) -> str:
    """Returns the name of the second sentence's column next to that of the first."""
    return name.replace("1", "2") if "1" in name else "second" if name == "first" else f"{name[:-1]}b"


@pytest.mark.parametrize(("role", "name"), ALL)
def test_each_column_has_each_of_its_usual_names(role: str, name: str, tmp_path: Path) -> None:
    """In any letter case and with any signs."""
    names = ["Sentence 1", "sentence_2", "Score"]
    number = [*ROLES].index(role)
    names[number] = (second(name) if number == 1 else name).upper().replace("E", "-e")
    (tmp_path / "a.tsv").write_text("\t".join(names) + "\na\tb\t1\nc\td\t2\n")
    assert read_own_pairs(tmp_path / "a.tsv")[1] == ("c", "d", 2.0)
    assert sum(map(len, ROLES.values())) == len(ALL)
    assert roles_of((names[0], names[1])) is None


@pytest.mark.parametrize("name", ["split", "fold", "partition", "subset", "Split"])
def test_sets_that_a_column_divides_are_not_mixed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(f"s1\ts2\tscore\t{name}\na\tb\t1\ttrain\nc\td\t2\ttest\n")
    with pytest.raises(InputError, match=f"column {name} has train, test; keep the rows of one"):
        read_own_pairs(path)
    path.write_text(f"s1\ts2\tscore\t{name}\na\tb\t1\ttrain\nc\td\t2\ttrain \n")
    assert len(read_own_pairs(path)) == 2
    assert len(SPLITS) == 4


def test_long_names_and_ambiguous_columns_are_shortened(tmp_path: Path) -> None:
    path, name = tmp_path / "a.tsv", "sentence1" + " " * 40
    path.write_text(f"{name}\ts1\ts2\tscore\na\tb\tc\t1\n")
    with pytest.raises(
        InputError, match="line 1: the first sentence may be sentence1 or s1; remove or rename"
    ):
        read_own_pairs(path)
    path.write_text(f"s1{'_' * 40}\ts1\ts2\tscore\na\tb\tc\t1\n")
    with pytest.raises(InputError, match=f"may be s1{'_' * 28} or s1; remove"):
        read_own_pairs(path)
    for name, text in (("a.tsv", ""), ("a.csv", "\n\n"), ("a.csv", "a,b\n")):
        (tmp_path / name).write_text(text)
        shown = "a, b" if text == "a,b\n" else "nothing"
        with pytest.raises(InputError, match=f"line 1 has {shown}; expected columns sentence1, sentence2"):
            read_own_pairs(tmp_path / name)


def sts(folder: Path, score: str) -> Any:
    (folder / "STS.input.X.txt").write_text("a\tb\n")
    (folder / "STS.gs.X.txt").write_text(f"{score}\n")
    return read_senteval_sts(folder)["X"][0]


def stsb(folder: Path, score: str) -> Any:
    (folder / "sts.csv").write_text(f"news\tfile\tyear\t1\t{score}\ta\tb\tlicence\n")
    return read_stsb(folder / "sts.csv")[0].pair


def sick(folder: Path, score: str) -> Any:
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    (folder / "SICK.txt").write_text(f"{head}\n1\ta\tb\t{score}\tNEUTRAL\n")
    return read_sick(folder / "SICK.txt")[0].pair


def jsonl(folder: Path, score: str) -> Any:
    (folder / "a.jsonl").write_text(json.dumps({"sentence1": "a", "sentence2": "b", "score": score}))
    return read_pairs_jsonl(folder / "a.jsonl")[0]


@pytest.mark.parametrize(
    ("read", "lowest"),
    [(sts, 0.0), (stsb, 0.0), (sick, 1.0), (jsonl, 0.0)],
    ids=["sts", "stsb", "sick", "jsonl"],
)
def test_a_score_is_taken_from_its_lowest_to_five(read: Any, lowest: float, tmp_path: Path) -> None:
    for score in (lowest, 2.5, 5.0):
        assert read(tmp_path, str(score)) == ("a", "b", score)
    for bad in (str(lowest - 0.001), "5.001", "nan", "inf", "x"):
        with pytest.raises(InputError, match=f"has score '{bad}', expected a number from {lowest:g} to 5"):
            read(tmp_path, bad)


def test_a_folder_without_a_subset_and_rows_with_other_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no STS\.input\.NAME\.txt of an STS year"):
        read_senteval_sts(tmp_path)
    (tmp_path / "a").write_text("a\tb\tc\td\t1\te\n")
    with pytest.raises(InputError, match="line 1 has 6 columns, expected 7"):
        read_stsb(tmp_path / "a")
    row = read_stsb_row(tmp_path)
    assert (row.year, row.file) == ("year", "file")


def read_stsb_row(folder: Path) -> Any:
    stsb(folder, "1")
    return read_stsb(folder / "sts.csv")[0]


def test_snli_has_its_published_number_of_rows() -> None:
    """550,152 pairs of the training set without the 785 that have no gold label."""
    assert classification.SNLI_TRAIN_ROWS == 550_152 - 785
    assert SOURCES["snli"].rows["labels.train"] == 549_367


@pytest.mark.parametrize(("content", "lines"), [
    (b"\xef\xbb\xbfa\r\nb\r\r\n\nc", ["a", "b\r", "", "c"]),
    (b"a\x0bb\x85c\n", None),
    ("a\u2028b\x1cc\n\ufeffd\n".encode(), ["a\u2028b\x1cc", "\ufeffd"]),
])  # fmt: skip
def test_a_line_ends_at_a_line_feed_with_one_carriage_return(
    content: bytes, lines: list[str] | None, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    if lines is None:
        with pytest.raises(InputError, match=r"line 1 is not utf-8 .* at byte 3"):
            [*decoded_lines(path)]
        assert [line for _, line in decoded_lines(path, "latin-1")] == ["a\x0bb\x85c"]
        return
    assert [*decoded_lines(path)] == [*enumerate(lines, 1)]
    with pytest.raises(InputError, match="line 1 has 1 columns, expected 2"):
        [*tab_separated(path, 2)]
    assert [number for number, _ in tab_separated(path, 1, skip=1)] == [*range(2, len(lines) + 1)]


def test_rows_at_even_distances_are_whole_for_as_many_as_there_are(tmp_path: Path) -> None:
    rows = [*range(5)]
    assert [evenly_spaced(rows, count) for count in (None, 9, 5, 4, 2, 1)] == [
        *(rows, rows, rows, [0, 1, 2, 3], [0, 2], [0]),
    ]
    assert evenly_spaced(rows, 5) is not rows
    for name in ("a.txt", "b.csv", "c.json"):
        (tmp_path / name).touch()
    assert corpus_file(tmp_path) == tmp_path / "a.txt"
    (tmp_path / "d.tsv").touch()
    with pytest.raises(InputError, match=r"text files a\.txt, d\.tsv; name one of the files"):
        corpus_file(tmp_path)


@pytest.mark.parametrize("tag", sorted(SILENT_TAGS - {"br", "table", "section"}))
def test_a_silent_tag_leaves_its_sentence(tag: str) -> None:
    assert plain_text(mwparserfromhell.parse(f"One <{tag}>x</{tag}>two.")) == "One two."
    assert plain_text(mwparserfromhell.parse("One<br> two.<table>x</table>")) == "One two.\n"


@pytest.mark.parametrize("tag", sorted(UNREADABLE_TAGS))
def test_an_unreadable_tag_leaves_a_gap(tag: str) -> None:
    assert plain_text(mwparserfromhell.parse(f"One <{tag}>x</{tag}> two.")) == "One \ufffc two."


@pytest.mark.parametrize("name", sorted(SPOKEN_TEMPLATES))
def test_a_spoken_template_is_its_last_value(name: str) -> None:
    assert plain_text(mwparserfromhell.parse(f"One {{{{{name}|x|two}}}}.")) == "One two."
    assert {"lang", "nowrap", "abbr", "transl", "sc"} <= SPOKEN_TEMPLATES


@pytest.mark.parametrize("sign", ["* ", "# ", ": ", "; ", "*# ", "::; "])
def test_a_line_of_a_list_is_dropped_and_bold_is_not(sign: str) -> None:
    words = "This line has seven words in it."
    assert [*sentences_of_wikitext(f"{sign}{words}\n")] == []
    assert [*sentences_of_wikitext("This line '''has''' ''seven'' words in it.\n")] == [words]


@pytest.mark.parametrize("space", ["file:", "Image:", "category:", ":media:", "wikt:", "de:", "zh-yue:"])
def test_a_link_to_another_space_leaves_nothing_and_one_to_an_article_its_words(space: str) -> None:
    assert plain_text(mwparserfromhell.parse(f"One [[{space}x|y]]two [[three]] [[four|five]].")) == (
        "One two three five."
    )


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("The dog (a pug) runs in the park.", True),
        ("The dog (a pug runs in the park.", False),
        ('The dog "Rex" runs in the park.', True),
        ('The dog "Rex runs in the park.', False),
        ("the dog runs in the park.", False),
        ("12 dogs run in the park!", True),
        ("“The dogs run in the park?”", True),
        ("The dog runs in the park", False),
        ("The dog runs in the park;", False),
        *[(f"The dog runs {sign} in the park.", False) for sign in "|{}<>[]=*"],
        *[(f"The dog runs {sign} in the park.", False) for sign in ("__", "''", "http:", "https:", "\ufffc")],
    ],
)
def test_prose_begins_and_ends_as_a_sentence_without_markup(sentence: str, kept: bool) -> None:
    assert is_prose(sentence) is kept


def test_brackets_that_markup_left_empty_go() -> None:
    assert tidy("A  dog ( ; , ) ran (, fast) , then\u00adstopped .") == "A dog ran (fast), thenstopped."


def test_articles_are_of_the_first_space_and_no_redirects(tmp_path: Path) -> None:
    def page(space: str, text: str, more: str = "") -> str:
        return f"<page><ns>{space}</ns>{more}<revision><text>{text}</text></revision></page>"

    words = "{} dogs run in the large park."
    pages = [
        page("0", words.format("Two")), page("1", words.format("Three")), page("0", words.format("Two")),
        page("0", words.format("Four"), '<redirect title="x"/>'), page("0", words.format("Five")),
    ]  # fmt: skip
    dump = f'<mediawiki xmlns="http://x/">{"".join(pages)}</mediawiki>'
    (tmp_path / "a.bz2").write_bytes(bz2.compress(dump.encode()))
    assert [*sentences_of_dump(tmp_path / "a.bz2")] == [words.format("Two"), words.format("Five")]


def test_ranked_candidates_keep_their_order_and_ties_have_that_of_the_published_code(tmp_path: Path) -> None:
    """BM25 scores of 1, 3, 3 and 2: the tied ones stay in their order. Ids of SciDocs descend by bytes."""
    (tmp_path / "text_tokenized.txt").write_text("".join(f"{n}\ttitle {n}\tbody\n" for n in range(6)))
    (tmp_path / "test.txt").write_text("0\t2 4\t1 2 3 4\t1 3 3 2\n5\t\t1\t1\n")
    (query,) = RANKINGS["AskUbuntu"](tmp_path)["all"]
    assert query.text == "title 0"
    assert query.candidates == ("title 1", "title 2", "title 3", "title 4")
    assert (query.relevant, query.positives) == ((False, True, False, True), 2)
    assert query.tie_order == (1, 2, 3, 0)
    corpus = {key: {"title": f" {key.upper()} "} for key in ("q", "a", "c", "b")} | {"n": {"title": None}}
    judged = {"q": {"a": 1, "n": 1, "c": 0, "b": 1}, "n": {"a": 1}}
    subtasks = dict.fromkeys(("cite", "cocite", "coview", "coread"), judged)
    (tmp_path / "data.json").write_text(json.dumps({"corpus": corpus, "test": subtasks}))
    found = RANKINGS["SciDocs"](tmp_path)
    assert [*found] == ["cite", "cocite", "coview", "coread"]
    (query,) = found["cite"]
    assert (query.text, query.candidates) == ("Q", ("A", "C", "B"))
    assert (query.relevant, query.positives, query.tie_order) == ((True, False, True), 3, (1, 2, 0))
    line = {"query": " q ", "positive": [" p "], "negative": ["n ", "m"]}
    (tmp_path / "test.jsonl").write_text(json.dumps(line) + "\n")
    (query,) = RANKINGS["TRECQA"](tmp_path)["all"]
    assert query == ("q", ("p", "n", "m"), (True, False, False), 1, None)
