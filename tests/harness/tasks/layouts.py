"""Small data sets in the upstream layouts, with texts made from a seed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.data.classification import QUESTION_TYPES, SICK_CLASSES, SNLI_CLASSES
from harness.data.sts import SICK_COLUMNS
from harness.tasks.registry import TASKS


def declared_task(name: str, text: str = "raw", **options: Any) -> Any:
    """The task of a name with options that its factory takes, such as a folder instead of its source's."""
    return TASKS[name].factory(text, TASKS[name].source_for(text, ["embedded", "hub"]), **options)


def sentence(number: int) -> str:
    return " ".join(["word"] * (1 + 3 * number % 5)) + f" {number}"


def write_polarity(folder: Path, positive: str, negative: str, rows: int = 60) -> None:
    """Writes `rows` texts of either class."""
    for name in (positive, negative):
        (folder / name).write_text("".join(f"{name} {sentence(i)}\n" for i in range(rows)), "latin-1")


def write_sst(folder: Path) -> None:
    for part, rows in (("train", 90), ("dev", 30), ("test", 40)):
        lines = (f"{part} {i % 2} {sentence(i)}\t{i % 2}\n" for i in range(rows))
        (folder / f"sentiment-{part}").write_text("".join(lines), "utf-8")


def write_trec(folder: Path) -> None:
    for name, rows in (("train_5500.label", 180), ("TREC_10.label", 60)):
        lines = (f"{QUESTION_TYPES[i % 6]}:fine {name} {sentence(i)}\n" for i in range(rows))
        (folder / name).write_text("".join(lines), "latin-1")


def write_mrpc(folder: Path) -> None:
    for part, rows in (("train", 120), ("test", 50)):
        lines = [f"{i % 2}\t1\t2\t{part} a {sentence(i)}\tb {sentence(i)}\n" for i in range(rows)]
        (folder / f"msr_paraphrase_{part}.txt").write_text(
            "".join(["Quality\tid\tid\ts\ts\n", *lines]), "utf-8"
        )


def write_sick(folder: Path) -> None:
    header = "\t".join(("pair_ID", *SICK_COLUMNS)) + "\r\n"
    files = (("SICK_train.txt", 90), ("SICK_trial.txt", 30), ("SICK_test_annotated.txt", 60))
    for name, rows in files:
        lines = [
            f"{i}\t{name} A {sentence(i)}\tB {sentence(i)}\t{1 + 0.2 * (7 * i % 21):.1f}"
            f"\t{SICK_CLASSES[i % 3]}\r\n"
            for i in range(rows)
        ]
        (folder / name).write_text("".join([header, *lines]), "utf-8", newline="")


def write_snli(folder: Path) -> None:
    for part, rows in (("train", 90), ("dev", 30), ("test", 60)):
        for side in ("s1", "s2"):
            lines = (f"{part} {side} {sentence(i)}\n" for i in range(rows))
            (folder / f"{side}.{part}").write_text("".join(lines), "latin-1")
        labels = "".join(f"{SNLI_CLASSES[i % 3]}\n" for i in range(rows))
        (folder / f"labels.{part}").write_text(labels, "utf-8")


def write_trecqa(folder: Path) -> None:
    """Twenty queries of two positives and six negatives, positives first."""
    rows = [
        {
            "query": f"query {q}",
            "positive": [f"good {q} {i}" for i in range(2)],
            "negative": [f"bad {q} {i}" for i in range(6)],
        }
        for q in range(20)
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_askubuntu(folder: Path) -> None:
    """Ten queries of 20 candidates, the first 4 similar; every fifth query has none and is skipped."""
    titles, queries = [], []
    for q in range(10):
        ids = [str(1000 * (q + 1) + i) for i in range(21)]
        titles += [f"{key}\ttitle {key}\tbody\n" for key in ids]
        similar = "" if q % 5 == 4 else " ".join(ids[1:5])
        scores = " ".join(f"{20 - i}.5" for i in range(20))
        queries.append(f"{ids[0]}\t{similar}\t{' '.join(ids[1:])}\t{scores}\n")
    (folder / "text_tokenized.txt").write_text("".join(titles), "utf-8")
    (folder / "test.txt").write_text("".join(queries), "utf-8")


def write_scidocs(folder: Path) -> None:
    """Four sub-tasks of three queries with five candidates, two of them relevant."""
    tasks = ("cite", "cocite", "coview", "coread")
    judged = {
        task: {f"{task}{q}": {f"{task}{q}d{i}": int(i < 2) for i in range(5)} for q in range(3)}
        for task in tasks
    }
    keys = [key for queries in judged.values() for query, docs in queries.items() for key in (query, *docs)]
    corpus = {key: {"title": f"title {key}"} for key in keys}
    (folder / "data.json").write_text(json.dumps({"corpus": corpus, "test": judged}), "utf-8")


LAYOUTS: dict[str, Callable[[Path], None]] = {
    "MR": lambda folder: write_polarity(folder, "rt-polarity.pos", "rt-polarity.neg"),
    "CR": lambda folder: write_polarity(folder, "custrev.pos", "custrev.neg"),
    "SUBJ": lambda folder: write_polarity(folder, "subj.objective", "subj.subjective"),
    "MPQA": lambda folder: write_polarity(folder, "mpqa.pos", "mpqa.neg"),
    "SST": write_sst,
    "TREC": write_trec,
    "MRPC": write_mrpc,
    "SICK-E": write_sick,
    "SNLI": write_snli,
    "AskUbuntu": write_askubuntu,
    "SciDocs": write_scidocs,
    "TRECQA": write_trecqa,
}
"""Writers of a small folder of each task's source."""
