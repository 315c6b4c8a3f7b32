"""Every field of what commands list and publish is the one that its name says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands import data, publish, publish_files
from harness.commands.list import listing
from harness.data.sources import LOCKS, SOURCES, Lock
from harness.errors import InputError
from harness.evidence.schema import ResultFile
from harness.plan.params_file import read_params
from methods.registry import METHODS
from tests.support.results import raw_result
from tests.support.sources import made_up_source
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[3]


def test_every_column_of_the_listed_runs_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    runs = read_params().runs
    listed = {entry["name"]: entry for entry in listing("runs")}
    assert [*listed] == [*runs]
    assert listed["pcl-small__words-50d__s1"] == {
        "name": "pcl-small__words-50d__s1",
        "method": "pcl",
        "variant": runs["pcl-small__words-50d__s1"].variant,
        "backbone": "words-50d",
        "seed": 1,
    }
    tables = {entry["name"]: entry for entry in listing("tables")}
    assert [*tables] == sorted(tables)
    assert tables["pcl/fig2"]["kind"] == "figure"
    assert tables["pcl/table2"]["kind"] != tables["pcl/table2"]["title"]
    assert [entry["name"] for entry in listing("methods")] == sorted(METHODS)


def test_every_column_of_the_listed_sources_is_its_own(
    monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    """Hashes: of the delivered files, by any provider or the lock, or all if every input has one."""
    hub = {"repo": "org/own", "revision": "a" * 40}
    rows = {"a.txt": 3, "b.txt": 4, "c.txt": 5}
    common: dict[str, Any] = {"licence": "mine", "confirmed": "here", "rows": rows, "kind": "lexicon"}
    made = {
        "loose": made_up_source({"mirror": {"sha256": {"a.txt": "0"}}, "hub": hub}, name="loose", **common),
        "locked": made_up_source({"hub": hub}, name="locked", **common),
        "built": made_up_source(
            {"hub": {**hub, "make": "gunzip", "inputs": {"x.gz": "0"}}}, name="built", **common
        ),
        "open": made_up_source(
            {"hub": {**hub, "make": "gunzip", "inputs": {"x.gz": None}}}, name="open", **common
        ),
        "near": made_up_source({"mirror": {}}, name="near", **common),
    }
    for name in [*SOURCES]:
        monkeypatch.delitem(SOURCES, name)
    for name, source in made.items():
        monkeypatch.setitem(SOURCES, name, source)
    monkeypatch.setitem(LOCKS, "locked", Lock(commit="b" * 40, files={"a.txt": "1", "b.txt": "2"}))
    listed = {entry["name"]: entry for entry in listing("sources")}
    assert listed["loose"] == {
        "name": "loose", "kind": "lexicon", "providers": ["hub", "mirror"], "repository": "org/own",
        "revision": "a" * 40, "hashes": 1, "files": 3, "licence": "mine", "confirmed": "here",
    }  # fmt: skip
    assert [listed[name]["hashes"] for name in made] == [1, 2, 3, 0, 0]
    assert listed["locked"]["revision"] == "b" * 40
    lines = [line.split() for line in printed("list", "sources").splitlines()]
    assert lines[-1] == ["near", "lexicon", "mirror", "-", "-", "0", "3", "mine", "here"]


def test_the_line_of_a_source_has_its_rows_and_bytes(tmp_path: Path) -> None:
    """Files that are no text have no rows."""
    (tmp_path / "a").write_bytes(b"x" * 1000)
    (tmp_path / "b").write_bytes(b"x" * 234)
    (tmp_path / "c").write_bytes(b"x")
    rows = {"a": 1200, "b": 34, "c": None}
    files = {name: {"rows": count, "sha256": ""} for name, count in rows.items()}
    record = {"name": "own", "provider": "hub", "files": files}
    (tmp_path / "source.json").write_text(json.dumps(record))
    assert data.source_line(tmp_path).split() == ["own", "hub", "1,234", "rows", "1,235", "bytes"]


@pytest.mark.parametrize(("names", "said"), [(["gone"], "^why$"), (["gone", "there"], "^1 of 2 sources are")])
def test_the_reason_of_a_single_source_is_the_error_and_wrong_options_come_before_any_download(
    names: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def fetch(name: str, *given: Any, **options: Any) -> Path:
        fetched.append(name)
        if name == "gone":
            raise data.NotFetched("why")
        return Path(name)

    for name in ("fetch", "source_named", "source_line"):
        monkeypatch.setattr(data, name, fetch if name == "fetch" else lambda name: str(name))
    with pytest.raises(InputError, match=said):
        data.fetch_sources(names, directory=Path(), providers=["hub"])
    assert fetched == names
    for options in ({"providers": ["nope"]}, {"providers": None, "revision": "a b"}):
        with pytest.raises(InputError, match=r"nope|a b"):
            data.fetch_sources(names, directory=Path(), **options)  # type: ignore[arg-type]
    assert fetched == names


@pytest.mark.parametrize("root", ["", "elsewhere"])
def test_data_are_fetched_into_the_named_folder_and_copied_to_the_pipelines(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    """The order of providers is the option, or the plan's; outside a project the last folder is filled."""
    seen: list[Any] = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(data, "fetch_sources", lambda names, **options: seen.append((names, options)))
    monkeypatch.setattr(data, "check_sources", lambda names, **options: seen.append((names, options)))
    monkeypatch.setenv("SENTBENCH_DATA", root)
    folder = Path(root or "data")
    for words in (
        ["data", "fetch"],
        ["data", "fetch", "stsb", "--providers", "hub"],
        ["data", "check", "stsb"],
    ):
        printed(*words)
    copies = Path("data") if root else None
    plan, named, check = seen
    assert plan[0] == [*read_params().sources]
    usual = {"directory": folder, "revision": None, "copies": copies}
    assert plan[1] == {**usual, "providers": read_params().providers}
    assert named == (["stsb"], {**usual, "providers": ["hub"]})
    assert check == (["stsb"], {"directory": folder})
    monkeypatch.setattr(data, "data_roots", lambda: [Path("first"), Path("last")])
    printed("data", "check", "stsb")
    assert seen[-1][1] == {"directory": Path("last")}


def published_result(seed: int, **changes: Any) -> ResultFile:
    scores = [
        {"task": task, "metric": metric, "setting": setting, "selection": selection, "n": 9, "value": value}
        for task, metric, setting, selection, value in (
            ("STSB", "spearman", "all", "best-dev", 0.5 + seed / 100),
            ("STSB", "pearson", "all", "best-dev", 0.61234),
            ("STSB", "spearman", "all", "last", 0.1),
            ("STSB", "spearman", "mean", "best-dev", 0.2),
            ("MR", "accuracy", "all", "best-dev", 0.712345),
            ("STSB:part", "spearman", "all", "best-dev", 0.3),
        )
    ]
    made = raw_result(f"own__b__s{seed}", scores, id="own", backbone="b", seed=seed, text="raw", **changes)
    return ResultFile.model_validate(made)


def test_every_field_of_a_cards_header_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = {
        "words": ("org/words", "c" * 40),
        "model": ("org/model", "d" * 40),
        "stsb-raw": ("org/sts", "e" * 40),
    }
    monkeypatch.setattr(publish_files, "on_hub", lambda source: hub.get(source, (None, None)))
    results = [published_result(seed, data_sha256={"stsb-raw": "d"}) for seed in (0, 2, 4)]
    values = {
        "reported": {"STSB": 55.5, "MR": 66.6}, "corpus": "words", "origin": "model", "licence": "other",
        "licence_name": "Mine", "name": "own on b",
    }  # fmt: skip
    head = load_yaml(publish_files.card_header(results, results[1], values))
    assert (head["license"], head["license_name"]) == ("other", "Mine")
    assert (head["base_model"], head["datasets"]) == ("org/model", ["org/words"])
    assert (head["language"], head["library_name"]) == ("en", "sentence-transformers")
    assert head["pipeline_tag"] == "sentence-similarity"
    (index,) = head["model-index"]
    assert index["name"] == "own on b"
    entries = {
        entry["dataset"]["name"]: (entry["task"]["type"], entry["dataset"], entry["metrics"][0])
        for entry in index["results"]
    }
    assert [*entries] == ["STSB", "MR"]
    task, dataset, metric = entries["STSB"]
    assert (task, dataset["type"], dataset["revision"]) == ("sentence-similarity", "org/sts", "e" * 40)
    assert (metric["type"], metric["value"]) == ("cosine_spearman", 52.0)
    assert metric["args"] == {
        "seeds": 3, "mean_over_seeds": 52.0, "sd_over_seeds": 2.0, "reported_by_paper": 55.5,
    }  # fmt: skip
    task, dataset, metric = entries["MR"]
    assert (task, dataset["type"], metric["type"], metric["value"]) == (
        *("text-classification", "MR", "accuracy", 71.23),
    )
    assert metric["args"] == {"seeds": 3, "mean_over_seeds": 71.23, "sd_over_seeds": 0.0}
    values |= {"corpus": "own", "licence": "mit", "licence_name": ""}
    head = load_yaml(publish_files.card_header(results[:1], results[0], values))
    assert "datasets" not in head
    assert "license_name" not in head
    assert "sd_over_seeds" not in head["model-index"][0]["results"][0]["metrics"][0]["args"]


def test_every_value_of_a_card_is_that_of_its_run() -> None:
    params = read_params(ROOT / "params.yaml")
    run = params.run("simcse-small__words-50d__s0")
    values = publish._card_values(params, run, None)
    source = values["origin"]
    assert values == {
        "name": "simcse-small on words-50d",
        "pooling": run.pooling,
        "max_length": run.config["max_length"],
        "plan": "small",
        "origin": source,
        "origin_licence": SOURCES[source].licence,
        "corpus": Path(run.corpus).name,
        "corpus_licence": SOURCES[Path(run.corpus).name].licence
        if Path(run.corpus).name in SOURCES
        else "made from another source",
        **dict(zip(("licence", "licence_name"), publish.licence_of(SOURCES[source].licence), strict=True)),
    }
    assert SOURCES[source].kind == "vectors"
    assert publish._card_values(params, run, "mit")["licence"] == "mit"
    word = params.run("pooled-cls-small__words-50d__s0").model_copy(update={"config": {}})
    assert publish._card_values(params, word, None)["max_length"] == "any number of"
