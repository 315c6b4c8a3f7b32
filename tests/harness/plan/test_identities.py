"""Identities of runs, sources, derived corpora and cached vectors: every field counts, or has a reason."""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.data.augmentation.views import Copy, Edit, Fill, Generate
from harness.data.sources import SOURCES, Provider, Source
from harness.plan import identity
from harness.plan.entries import Corpus, Params, Run, SourceLink
from harness.plan.entry_files import entries_by_part
from harness.plan.identity import corpus_identity, library_versions, run_identity, vectors_identity
from harness.plan.inputs import _entry_hash
from harness.plan.params_file import read_params
from harness.plan.recipes import declared_systems, load_corpora, load_recipes
from methods.registry import METHODS

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer")  # of values of another type
IRRELEVANT = {
    "tasks": "evaluation reads them: they are part of `.entries/evaluation`",
    "weights": "training keeps the best and the last weights until it ends: part of `.entries/evaluation`",
    "outputs": "where the scores are kept: part of `.entries/evaluation`",
    "train/save_every": "when a resume point is written changes no number, as test_trainer_resume.py shows",
}
"""Fields of a run's entry that are not part of the run's identity -> why."""
NOT_OF_A_RECIPE = {"tasks", "weights", "outputs", "seed"}


class Code:
    """A stand-in for the code: its fingerprint is the names of its root modules."""

    def fingerprint(self, roots: Any) -> str:
        return " ".join(roots)


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """The small plan in a folder where everything that its runs need is a folder of one file."""
    monkeypatch.setattr(identity, "code_base", Code)
    monkeypatch.setattr(identity, "_check_teacher", lambda folder, planned: None)  # nobody made them
    monkeypatch.chdir(tmp_path)
    result = plan()
    links = {
        f"selection-{form}": SourceLink(source=f"data/of-{form}", after=f"data/of-{form}")
        for form in ("senteval", "raw")
    }
    for run in result.runs.values():
        for folder in (run.backbone, run.corpus, run.parent):
            write(Path(folder))
    for link in links.values():
        write(Path(link.source))
    teachers = {name + end: entry for name, entry in result.teachers.items() for end in ("", "-2")}
    return result.model_copy(update={"reads": links, "teachers": teachers})


@cache
def plan() -> Params:
    return read_params(ROOT / "params.yaml")


def write(folder: Path, text: str = "one") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "file.txt").write_text(text)
    return folder


def other(value: Any) -> Any:
    """Returns another value of about the same kind; a folder's is a folder that is there."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return (
            str(write(Path(value + "-2"))) if "/" in value else {"senteval": "raw"}.get(value, value + "-2")
        )
    if isinstance(value, list | tuple):
        return [*value[:-1], other(value[-1])] if value else [1]
    return {"more": 1} if isinstance(value, dict) else 1


def varied(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the path of every field, at any depth, and the whole value with that field changed."""
    for key, entry in value.items():
        path = f"{where}{key}"
        if isinstance(entry, dict) and entry:
            for name, changed in varied(entry, f"{path}/"):
                yield name, {**value, key: changed}
        else:
            yield path, {**value, key: other(entry)}


def run_of(method: str, params: Params) -> Run:
    """Returns a run of a method; if the plan has none, with the settings of a recipe."""
    for run in params.runs.values():
        if run.method == method:
            return run
    systems = declared_systems(load_recipes(ROOT / "recipes")).values()
    system = next(system for system in systems if system.method == method)
    settings = {"method": method, "config": system.config, "train": system.train}
    return next(iter(params.runs.values())).model_copy(update=settings)


@pytest.mark.parametrize("method", METHODS)
def test_every_field_of_a_run_is_part_of_its_identity_its_recipe_and_its_entry(
    method: str, params: Params
) -> None:
    run = run_of(method, params)
    before = run_identity(params, run, "portable"), run.recipe_hash()
    named = set()
    for path, entry in varied(run.model_dump()):
        changed = Run.model_construct(**entry)
        named.add(path)
        if path != "method":  # see below: the code of a method is looked up by its name
            actual = run_identity(params, changed, "portable")
            assert (actual == before[0]) == (path in IRRELEVANT), path
        if path == "seed":  # and with it the runs that it needs
            for need in ("backbone", "parent"):
                entry[need] = entry[need].replace(f"__s{run.seed}", f"__s{entry['seed']}")
            changed = Run.model_construct(**entry)
        assert (changed.recipe_hash() == before[1]) == (path in NOT_OF_A_RECIPE), path
    assert {path.split("/")[0] for path in named} == set(Run.model_fields)
    method = "una" if method == "glove" else "glove"
    assert run_identity(params, run.model_copy(update={"method": method}), "portable") != before[0]
    assert run_identity(params, run, "native") != before[0]
    for folder in {run.backbone, run.corpus, run.parent, f"data/of-{run.text}"}:
        write(Path(folder), "two")
        assert run_identity(params, run, "portable") != before[0], folder
        write(Path(folder))
    assert run_identity(params, run, "portable") == before[0]


def test_the_code_of_a_run_covers_its_training_and_the_evaluation_of_its_tasks(params: Params) -> None:
    modules = identity.run_code("simcse", ["STSB"]).split()
    parts = (identity.training_roots("simcse"), identity.evaluation_roots(["STSB"]))
    assert modules == [module for part in parts for module in part]
    assert {"harness.stages.train", "methods.simcse.method", "harness.tasks.declared.sts"} <= {*modules}


def test_every_field_of_the_plan_changes_the_file_that_its_stage_depends_on(params: Params) -> None:
    """The file of an entry, and in `evaluation` also the file of the run's evaluation."""
    before = entries_by_part(params)
    for part in ("backbones", "corpora", "teachers", "runs"):
        for key, entry in [*getattr(params, part).items()][:4]:
            for path, changed in varied(entry.model_dump()):
                made = type(entry).model_construct(**changed)
                entries = {**getattr(params, part), key: made}
                after = entries_by_part(params.model_copy(update={part: entries}))
                # a run that becomes one of the first seeds is not trained again
                assert (after[part][key] != before[part][key]) == (path != "outputs"), f"{part} {path}"
                if part == "runs":
                    differs = after["evaluation"][key] != before["evaluation"][key]
                    assert differs == (path in ("tasks", "text", "weights", "outputs")), path
    for source in params.sources:
        after = entries_by_part(params.model_copy(update={"providers": ["hub"]}))
        assert after["sources"][source] != before["sources"][source]


def test_every_field_of_a_source_is_part_of_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the source itself and of each provider; a plan whose source changed fetches it again."""
    met = set()
    for name, source in SOURCES.items():
        before = _entry_hash(name)
        changes = [
            (field, source.model_copy(update={field: other_plain(getattr(source, field))}))
            for field in Source.model_fields
        ]
        for provider, entry in source.providers.items():
            for field in Provider.model_fields:
                changed = entry.model_copy(update={field: other_plain(getattr(entry, field))})
                providers = {**source.providers, provider: changed}
                changes.append((f"provider/{field}", source.model_copy(update={"providers": providers})))
        for field, changed_source in changes:
            with monkeypatch.context() as patch:
                patch.setitem(SOURCES, name, changed_source)
                assert _entry_hash(name) != before, f"{name}: {field}"
            met.add(field)
        assert _entry_hash(name) == before
    assert met == {*Source.model_fields, *(f"provider/{field}" for field in Provider.model_fields)}


def other_plain(value: Any) -> Any:
    """Returns another value for a field of the table of sources that is not a folder."""
    if isinstance(value, dict):
        return {**value, "more": None}
    return f"{value}-2"


def test_every_field_of_a_made_corpus_is_part_of_its_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each derived corpus of the recipes, so that views of every kind are among them."""
    monkeypatch.setattr(identity, "code_base", Code)
    monkeypatch.chdir(tmp_path)
    met: dict[str, set[str]] = {}
    for declared in load_corpora(ROOT / "recipes").values():
        raw = {"origin": "data/origin", "tool": "data/tool", "arithmetic": "native", "seed": declared.seed}
        entry = Corpus.model_validate({**raw, "rows": declared.rows, "views": declared.views})
        write(Path("data/origin"))
        write(Path("data/tool"))
        before = corpus_identity(entry, "cpu")
        for path, changed in varied(entry.model_dump(exclude={"views"})):
            made = Corpus.model_construct(**{**changed, "views": entry.views})
            assert corpus_identity(made, "cpu") != before, path
        for number, view in enumerate(entry.views):
            met.setdefault(str(view["kind"]), set()).update(view)
            for path, changed in varied(view):
                views = [*entry.views[:number], changed, *entry.views[number + 1 :]]
                assert corpus_identity(entry.model_copy(update={"views": views}), "cpu") != before, path
        assert corpus_identity(entry, "cuda") != before
        for name, other in {"library_versions": dict, "arithmetic_used": lambda device: "native"}.items():
            with monkeypatch.context() as patched:
                patched.setattr(identity, name, other)
                assert corpus_identity(entry, "cpu") != before, name
        for folder in ("data/origin", "data/tool"):
            write(Path(folder), "two")
            assert corpus_identity(entry, "cpu") != before, folder
            write(Path(folder))
    for kind in (Copy, Generate, Fill, Edit):
        fields = [met[name] for name in met if name in str(kind.model_fields["kind"].annotation)]
        assert fields
        assert all(names == set(kind.model_fields) for names in fields), kind


def test_vectors_are_keyed_by_exactly_the_inputs_that_decide_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "encoder")
    before = vectors_identity(folder, device="cpu")
    assert vectors_identity(folder, device="cuda") != before
    for name, value in (("library_versions", lambda: {"torch": "0"}), ("in_effect", lambda: "other")):
        with monkeypatch.context() as patch:
            patch.setattr(identity, name, value)
            assert vectors_identity(folder, device="cpu") != before, name
    for name in ("last/file.txt", "run.json", "train.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("of no vector")
    assert vectors_identity(folder, device="cpu") == before
    write(folder / "1_Pooling")
    assert vectors_identity(folder, device="cpu") != before
    shutil.rmtree(folder / "1_Pooling")
    assert vectors_identity(write(folder, "two"), device="cpu") != before


def test_the_record_of_a_teachers_folder_has_every_field(params: Params) -> None:
    """Arithmetic alone is not: the entry's file makes the pipeline's stage run again, see above."""
    for teacher in params.teachers.values():
        before = teacher.stated()
        for path, changed in varied(teacher.model_dump()):
            made = type(teacher).model_construct(**{"pooling": None, **changed})
            assert (made.stated() == before) == (path == "arithmetic"), path
        assert teacher.model_copy(update={"pooling": "cls"}).stated() != before


def test_a_result_records_every_library_that_computes_its_numbers() -> None:
    """Tokenizers split texts, torch and transformers encode, NumPy and SciPy score."""
    assert library_versions().keys() == {"torch", "transformers", "tokenizers", "numpy", "scipy"}
