"""SentEval's form of a sentence."""

from collections import Counter
from pathlib import Path

import pytest

from harness.data.kept_texts import kept
from harness.data.sts import read_pairs_jsonl, read_senteval_sts, read_stsb
from harness.data.text import senteval_text, senteval_texts
from harness.paths import made_texts


@pytest.mark.parametrize(
    ("raw", "tokenised"),
    [
        ("A girl is styling her hair.", "a girl is styling her hair ."),
        ("He didn't pay $35 today.", "he didn 't pay $ 35 today ."),
        ("R&D <b> \"quoted\" [x] | y", 'r & d < b > " quoted " [ x ] | y'),
        ("  two   blanks ", "two blanks"),
        ("", ""),
    ],
)  # fmt: skip
def test_tokens_are_lower_case_without_escapes(raw: str, tokenised: str) -> None:
    assert senteval_text(raw) == tokenised


def test_texts_are_made_once_and_a_damaged_file_of_them_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for another version of the function, another place, or an additional text."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made = ["a girl 's hair .", "two blanks"]
    assert senteval_texts(["A girl's hair.", "two  blanks"]) == made
    with monkeypatch.context() as patch:
        patch.setattr("harness.data.text.senteval_text", lambda text: "made again")
        assert senteval_texts(["A girl's hair.", "two  blanks"]) == made
        assert senteval_texts(["A girl's hair."]) == ["made again"], "other texts are another file"
        patch.setattr("harness.data.text.version", lambda package: "another")
        assert senteval_texts(["A girl's hair.", "two  blanks"]) == ["made again"] * 2
    for path in made_texts().iterdir():
        path.write_text(path.read_text().replace("blanks", "planks"))
    assert senteval_texts(["A girl's hair.", "two  blanks"]) == made
    makers = [("code", "1.0"), ("code", "1.1"), ("1.0", "code"), ("code", "1.0", "more")]
    for by in makers * 2:
        assert kept(["a"], lambda text, by=by: f"{text} by {by}", by=by) == [f"a by {by}"]


@pytest.mark.mirror
def test_every_published_stsb_sentence_becomes_the_one_of_senteval(mirror: Path) -> None:
    """Measured share of identical sentences: 17,256 of 17,256, over train, dev and test.

    The raw sentences are the mirror's, in mteb's layout; pairs appear in the same order in both.
    """
    same = total = 0
    for part, file in (("train", "train"), ("dev", "validation"), ("test", "test")):
        raw = read_pairs_jsonl(mirror / f"mteb/stsbenchmark-sts/{file}.jsonl")
        tokenised = read_stsb(mirror / f"senteval/downstream/STS/STSBenchmark/sts-{part}.csv")
        for pair, (theirs, _, _) in zip(raw, tokenised, strict=True):
            total += 2
            same += (senteval_text(pair.first) == theirs.first) + (
                senteval_text(pair.second) == theirs.second
            )
    assert (same, total) == (17256, 17256)


@pytest.mark.mirror
def test_every_published_sentence_of_the_sts_years_is_in_sentevals_files(mirror: Path) -> None:
    """Measured share: 25,088 of 25,088. The layouts order pairs differently, so sentences are counted."""
    total = 0
    for year in (12, 13, 14, 15, 16):
        subsets = read_senteval_sts(mirror / f"senteval/downstream/STS/STS{year}-en-test")
        expected = Counter(
            " ".join(text.split()) for pairs in subsets.values() for pair in pairs for text in pair[:2]
        )
        raw = read_pairs_jsonl(mirror / f"mteb/sts{year}-sts/test.jsonl")
        assert Counter(senteval_text(text) for pair in raw for text in pair[:2]) == expected
        total += expected.total()
    assert total == 25088
