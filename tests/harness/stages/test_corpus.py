"""Stage `corpus`: from a declaration in recipes/corpora.yaml to corpora/NAME and to a run's rows."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.commands.stage import make_corpus
from harness.data.augmentation import records
from harness.data.corpora import evenly_spaced, read_corpus
from harness.errors import InputError
from harness.paths import CORPUS_RESUME
from harness.plan.entries import Params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from tests.harness.data.augmentation.test_generation import SETTINGS as GENERATE
from tests.harness.data.augmentation.tiny_models import write_marian
from tests.support import tiny
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[3]
EDIT = {"column": 0, "share": 0.3, "at_least": 1, "clean": False}
FILL = {"kind": "fill", "column": 0, "share": 0.2, "choice": "best", "max_input": 32, "batch_tokens": 64}
DECLARED: dict[str, Any] = {
    "words": {
        "origin": "wiki-small",
        "seed": 0,
        "views": [{**EDIT, "kind": "swap"}, {**EDIT, "kind": "delete"}],
    },
    "forth": {"origin": "wiki-small", "tool": "opus-mt-en-de", "seed": 0, "views": [GENERATE]},
    "back": {"origin": "forth", "tool": "opus-mt-de-en", "seed": 0, "views": [{**GENERATE, "column": 1}]},
    "both": {
        "origin": "back",
        "tool": "words",
        "seed": 0,
        "views": [
            {"kind": "copy", "source": "origin", "column": 1},
            {"kind": "copy", "source": "tool", "column": 2},
        ],
    },
    "masked": {"origin": "wiki-small", "tool": "bert-base-uncased", "seed": 0, "views": [FILL, FILL]},
}


def resolved(folder: Path, corpus: str, **changes: Any) -> Params:
    """Returns the plan of one run on `corpus`, with entries of the declaration replaced."""
    run = {
        "id": "a", "method": "simcse", "variant": "v", "backbones": ["minilm-l2"], "pooling": "mean",
        "corpus": corpus, "seeds": [0], "tasks": ["STSB"], "config": {}, "train": {},
    }  # fmt: skip
    recipes = folder / "recipes"
    recipes.mkdir(exist_ok=True)
    shutil.copy(ROOT / "recipes/backbones.yaml", recipes)
    (recipes / "corpora.yaml").write_text(dump_yaml({**DECLARED, **changes}))
    (recipes / "one.yaml").write_text(dump_yaml({"name": "one", "runs": [run]}))
    return resolve(load_recipes(recipes), ["one"], folder=recipes)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder with a corpus of 20 rows, two translators and a masked model."""
    data = tmp_path_factory.mktemp("place") / "data"
    (data / "wiki-small").mkdir(parents=True)
    (data / "wiki-small" / "wiki.txt").write_text("".join(f"{row.text}\n" for row in tiny.rows(20)))
    write_marian(data / "opus-mt-en-de", seed=0)
    write_marian(data / "opus-mt-de-en", seed=1)
    tiny.write_backbone(data / "bert-base-uncased", masked_model=True)
    return data


@pytest.fixture
def project(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").symlink_to(tools)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def derive(params: Params) -> None:
    for name in params.corpora:
        make_corpus(params, name, device="cpu")


def test_a_run_names_a_derived_corpus_and_the_plan_has_all_it_is_made_from(tmp_path: Path) -> None:
    params = resolved(tmp_path, "both")
    assert list(params.corpora) == ["forth", "back", "words", "both"], "each after what it is made from"
    assert params.runs["a__minilm-l2__s0"].corpus == "corpora/both"
    assert params.corpora["back"].origin == "corpora/forth"
    assert (params.corpora["both"].origin, params.corpora["both"].tool) == ("corpora/back", "corpora/words")
    assert params.corpora["words"].tool == params.corpora["words"].origin == "data/wiki-small"
    assert {"wiki-small", "opus-mt-en-de", "opus-mt-de-en"} <= set(params.sources)
    assert "both" not in params.sources
    assert resolved(tmp_path, "wiki-small").corpora == {}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"origin": "words"}, "depends on itself"),
        ({"origin": "wiki-big"}, "source 'wiki-big' is not in"),
        ({"tool": "wordnet"}, "`tool` is required exactly if a view uses one"),
    ],
)
def test_a_bad_declaration_is_one_line(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        resolved(tmp_path, "words", words={**DECLARED["words"], **entry})
    assert "\n" not in str(caught.value)


def test_views_are_next_to_the_sentences_of_the_origin_in_order(project: Path) -> None:
    params = resolved(project, "both")
    derive(params)
    origin = [row.text for row in read_corpus(project / "data/wiki-small/wiki.txt")]
    columns = {name: read_corpus(Path("corpora") / name) for name in params.corpora}
    for rows in columns.values():
        assert [row.text for row in rows] == origin
    for back, words, both in zip(columns["back"], columns["words"], columns["both"], strict=True):
        assert both.augmentations == (back.augmentations[0], words.augmentations[1])
    translated = [row.augmentations[0] for row in columns["forth"]]
    returned = [row.augmentations[0] for row in columns["back"]]
    assert translated != returned
    assert sum(a != b for a, b in zip(origin, returned, strict=True)) > 10
    rows = read_corpus(Path("corpora/both"))
    assert (rows[3].index, rows[3].text, len(rows[3].augmentations)) == (3, origin[3], 2)


def test_the_record_counts_the_outcomes_of_the_rows(project: Path) -> None:
    derive(resolved(project, "masked"))
    record = json.loads(Path("corpora/masked/corpus.json").read_text())
    assert (record["rows"], record["tool"], record["seed"]) == (20, "data/bert-base-uncased", 0)
    assert [sum(view["outcomes"].values()) for view in record["views"]] == [20, 20]
    rows = read_corpus(Path("corpora/masked/corpus.tsv"))
    assert sum(row.augmentations[0] != row.augmentations[1] for row in rows) > 10, (
        "the two draws are independent"
    )


def test_a_killed_stage_continues_to_the_same_bytes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records.augment_all, "__kwdefaults__", {"part": 8})
    params = resolved(project, "forth")
    derive(params)
    whole = {path.name: path.read_bytes() for path in Path("corpora/forth").iterdir()}
    assert not any(CORPUS_RESUME.iterdir()), "nothing is left behind by a whole run"
    shutil.rmtree("corpora")
    from harness.data.augmentation.models import Generator

    real, asked = Generator.__call__, []

    def dying(self: Generator, ids: Any, texts: Any) -> Any:
        asked.append(next(iter(ids)))
        if asked == [0, 8]:
            raise KeyboardInterrupt
        return real(self, ids, texts)

    monkeypatch.setattr(Generator, "__call__", dying)
    with pytest.raises(KeyboardInterrupt):
        derive(params)
    assert not Path("corpora/forth").exists()
    derive(params)
    assert asked == [0, 8, 8, 16], "the first part was not made again"
    assert {path.name: path.read_bytes() for path in Path("corpora/forth").iterdir()} == whole


def test_a_count_of_rows_is_spread_over_the_origin() -> None:
    rows = [(letter,) for letter in "abcdefgh"]
    assert evenly_spaced(rows, 4) == [("a",), ("c",), ("e",), ("g",)]
    assert evenly_spaced(rows[:5], 3) == [("a",), ("b",), ("d",)]
    assert evenly_spaced(rows, None) == evenly_spaced(rows, 8) == evenly_spaced(rows, 9) == rows
