"""A plan refuses everything that training would refuse, in one line with the run."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.plan.checks import check_runs
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from methods.core.method import ParentKind
from methods.core.networks import Networks
from methods.registry import METHODS
from tests.support.networks import each_network_is_built_once
from tests.support.plan import small_plan
from tests.support.samples import SampleFolders, make, samples_of
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[3]
SMALL = small_plan()["runs"]
ENTRIES = {
    "simcse": SMALL["simcse-small__words-50d__s0"],
    "distill": SMALL["distill-small__words-50d__s0"],
    "sct": SMALL["sct-small__words-50d__s0"],
    "dclr": SMALL["dclr-small__words-50d__s0"],
    "glove": SMALL["glove-small__glove-6b-50d__s0"],
}


def system(of: str, **changes: Any) -> dict[str, Any]:
    """Returns a system of a recipe with the settings of the small plan; a change of a block is merged."""
    entry = copy.deepcopy(ENTRIES[of])
    result = {name: entry[name] for name in ("method", "variant", "pooling", "tasks", "config", "train")}
    result |= {"id": "a", "backbones": ["minilm-l2"], "seeds": [0], "corpus": "wiki-small"}
    for name, value in changes.items():
        result[name] = {**result[name], **value} if name in ("config", "train") else value
    return result


def plan(folder: Path, *systems: dict[str, Any], providers: tuple[str, ...] = ("embedded",)) -> set[str]:
    """Resolves and checks a recipe of these systems; returns the systems of the plan."""
    recipe = {"name": "paper", "providers": list(providers), "runs": list(systems)}
    (folder / "paper.yaml").write_text(dump_yaml(recipe))
    resolved = resolve(load_recipes(folder), ["paper/a"], folder=ROOT / "recipes")
    check_runs(resolved)
    return {run.id for run in resolved.runs.values()}


TEACHER = {"teacher": "minilm-l6"}
SOUND = {
    "no parent": [system("simcse")],
    "a teacher": [system("distill", parent=TEACHER)],
    "a backbone as parent": [system("dclr", parent={"backbone": "minilm-l6"})],
    "a run as parent": [system("dclr", parent={"run": "b"}), system("simcse", id="b")],
    "a parent that nothing reads": [system("simcse", parent=TEACHER)],
    "two views": [system("sct", corpus="wiki-small-views")],
    "word vectors": [system("glove", backbones=["glove-6b-50d"])],
}
REFUSED = {
    "parent: missing, a teacher is needed": ([system("distill")], "distill needs a teacher's vectors"),
    "parent: missing, an encoder is needed": ([system("dclr", parent=None)], "dclr needs an encoder"),
    "parent: a backbone for a teacher": (
        [system("distill", parent={"backbone": "minilm-l6"})],
        "backbones/minilm-l6 is an encoder.*distill expects a teacher",
    ),
    "parent: a teacher for an encoder": (
        [system("dclr", parent=TEACHER)],
        "teachers/minilm-l6__wiki-small is a teacher's vectors.*dclr expects an encoder",
    ),
    "parent: a run on word vectors": (
        [
            system("dclr", parent={"run": "b", "backbone": "glove-6b-50d"}),
            system("glove", id="b", backbones=["glove-6b-50d"]),
        ],
        "artefacts/b__glove-6b-50d__s0 averages word vectors",
    ),
    "backbone: unknown": ([system("simcse", backbones=["minilm"])], "'minilm' is not in recipes"),
    "backbone: word vectors": ([system("simcse", backbones=["glove-6b-50d"])], "expects a transformer"),
    "backbone: a transformer": ([system("glove")], "glove expects word vectors"),
    "corpus: unknown": ([system("simcse", corpus="wiki")], "source 'wiki' is not in the sources table"),
    "corpus: an STS set": ([system("simcse", corpus="stsb")], "a source of sts, expected a corpus"),
    "corpus: without augmentations": ([system("sct")], "has no augmentations, sct reads 2"),
    "corpus: no paraphrases": ([system("simcse", config={"positive": "paraphrase"})], "has no augmentations"),
    "pooling: unknown": ([system("simcse", pooling="maen")], "did you mean mean"),
    "pooling: not stated": ([system("simcse", pooling=None)], "minilm-l2 states none"),
    "method: unknown": ([system("simcse", method="simsce")], "did you mean simcse"),
    "method: not trained": (
        [system("glove", backbones=["glove-6b-50d"], train={"steps": 5})],
        "glove is not trained",
    ),
    "config: an unknown key": ([system("simcse", config={"temprature": 0.1})], "unknown key temprature"),
    "config: settings that do not fit": (
        [system("dclr", parent={"backbone": "minilm-l6"}, config={"threshold": None})],
        "threshold None",
    ),
    "train: a rate as text": ([system("simcse", train={"learning_rate": "3e-5"})], "write 3.0e-5"),
    "train: both lengths": ([system("simcse", train={"epochs": 1})], "exactly one of steps and epochs"),
    "tasks: unknown": ([system("simcse", tasks=["STS12", "STS22"])], "'STS22' is not known"),
    "data: not in the plan's providers": ([system("simcse", corpus="wiki1m")], "comes from .*embedded"),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_plan_that_training_would_take_is_taken(tmp_path: Path, name: str) -> None:
    assert plan(tmp_path, *SOUND[name]) == {system["id"] for system in SOUND[name]}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_that_training_would_refuse_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    systems, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        plan(tmp_path, *systems)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleFolders]:
    written = SampleFolders(tmp_path_factory.mktemp("folders"))
    with each_network_is_built_once():
        yield written


@pytest.mark.parametrize("method", METHODS)
def test_a_method_requires_the_inputs_of_its_config(
    folders: SampleFolders, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A plan reads only the config; here the method is built and its requests are compared."""
    asked: list[ParentKind] = []
    plain = {"teacher": Networks.teacher_vectors, "encoder": Networks.parent_encoder}

    def teacher_vectors(networks: Networks, *given: Any, **options: Any) -> Any:
        asked.append("teacher")
        return plain["teacher"](networks, *given, **options)

    def parent_encoder(networks: Networks, *given: Any, **options: Any) -> Any:
        asked.append("encoder")
        return plain["encoder"](networks, *given, **options)

    monkeypatch.setattr(Networks, "teacher_vectors", teacher_vectors)
    monkeypatch.setattr(Networks, "parent_encoder", parent_encoder)
    samples = samples_of(method)
    assert samples
    for sample in samples:
        asked.clear()
        base = folders.of(sample)
        built = make(sample, base)
        config = built.config
        assert set(asked) == ({config.parent_kind} if config.parent_kind else set()), config
        assert built.word_vectors == {"glove": "needed"}.get(method, built.word_vectors)
        assert sample.backbone != "words" or built.word_vectors != "refused"
        assert built.is_trained() == sample.trained
