"""Reference runs: every configuration of the recipes, trained for a few steps on a tiny backbone.

They are built as the pipeline builds them, from an entry of a plan; only sizes differ from their recipes.
Some that together have every setting have known numbers, which `python -m tests.regression.reference` writes
again after a wanted change.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.process import prepare

prepare()  # before NumPy and torch load

from harness.io.files import write_text  # noqa: E402
from harness.paths import CORPUS_ROWS, PIECES, RUN_LOG  # noqa: E402
from harness.plan.entries import Run  # noqa: E402
from harness.plan.params_file import merge  # noqa: E402
from harness.plan.recipes import System, declared_systems, load_recipes  # noqa: E402
from harness.stages.inputs import StageInputs  # noqa: E402
from harness.stages.train import build, rows_of  # noqa: E402
from methods.core.folders import load_encoder  # noqa: E402
from methods.registry import METHODS, load_method  # noqa: E402
from tests.faults.small_project import write_stsb  # noqa: E402
from tests.support import tiny  # noqa: E402
from tests.support.samples import samples_of, write_words  # noqa: E402

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).with_name("reference.json")
ROWS, BATCH, STEPS, EPOCHS = 14, 4, 5, 2
"""An epoch's last batch is incomplete, and three batches are more than a queue holds."""
SIZES = {
    "queue_size": 9,
    "sentences": 12,
    "start_sentences": 12,
    "dim": 8,
    "negatives": 1,
    "directions": 4,
    "hidden": 8,
    "head_width": 8,
    "projector_width": 8,
    "pseudo_length": 6,
    "pseudo_heads": 2,
    "last_layer": 2,
    "max_length": 24,
}
"""Sizes of a configuration that are limited by the tiny backbone and corpus."""
SHORT = {"save_every": 100, "learning_rate": 1.0e-3, "batch_size": BATCH, "eval_every": 2}
PARENTS = {
    None: "corpora/words",
    "teacher": "teachers/bert__words",
    "encoder": "backbones/parent",
    "generator": "backbones/generator",
}
PRESETS = ("released", "paper")
"""Variants of a system that follow the code, or the text."""
SMALL = "small"
"""Recipe of the plan that a laptop trains."""
OTHERS = {"backbones", "seeds", "first_seeds", "start", "preset", "no_verdict", "parent", "corpus"}
"""Fields of a system's recipe that a reference run does not read."""
EACH_STEP = ("loss", "grad_norm", "learning_rate", "score")
"""Numbers kept of every step and evaluation; of other numbers the last."""
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "clipped": ("simcse", {"train": {"max_grad_norm": 0.1}, "weights": "last"}),
    "teacher-mean": ("ckd: original", {"config": {"teacher_pooling": "mean"}}),
    "mostly-generalising": ("congen: released", {"config": {"mapping": "linear", "control_weight": 0.3}}),
    "dropout-features": (
        "consert: released",
        {
            "config": {
                "first_view": "dropout",
                "second_view": "feature-cutoff",
                "positions": "from-zero",
                "training_pooling": "cls",
            }
        },
    ),
    "shuffle-tokens": (
        "consert: released",
        {"config": {"first_view": "shuffle", "second_view": "token-cutoff"}},
    ),
    "cosine": ("ct: released", {"config": {"similarity": "cosine"}}),
    "first-token": (
        "dclr: released",
        {"config": {"complement_vector": "cls", "noise_scale": 2.0}, "parent": "backbones/bert"},
    ),
    "pooler": ("dclr: released", {"config": {"complement_vector": "pooler"}, "parent": "backbones/bert"}),
    "still-keys": ("pt-bert: released", {"config": {"key_dropout": False}}),
    "linear-mapping": ("sct-distill-bert-tiny", {"config": {"distillation": {"mapping": "linear"}}}),
    "summed": ("sg-opt: released", {"config": {"normaliser": "sum-over-batch"}}),
    "less-contrast": ("pcl: released", {"config": {"contrast_weight": 0.3}}),
    "less-self-contrast": ("scd: released", {"config": {"self_contrast_weight": 0.3}}),
}
"""Runs with values that neither a recipe nor a sample has: name -> the run they change, and how."""
SENTENCES = ("the man runs", "a cat sleeps under the tree")


@cache
def covering() -> dict[str, Run]:
    """Returns every preset, and some runs that with them have every setting of all of them.

    `settings_of` tells settings apart.
    """
    every = {name: (run, settings_of(run)) for name, run in configurations().items()}
    count = Counter(setting for _, settings in every.values() for setting in settings)
    by_preset, stated = {}, set(presets().values())
    for name, (run, settings) in reversed(every.items()):
        if name not in stated and all(count[setting] > 1 for setting in settings):
            count.subtract(settings)
        else:
            by_preset[name] = run
    return by_preset


@cache
def presets() -> dict[tuple[str, str, str], str]:
    """Returns (recipe, method, "released" or "paper") -> the run of the recipe's first such system.

    The small plan has the same presets at other sizes; `sentbench check` has their first losses.
    """
    result: dict[tuple[str, str, str], str] = {}
    recipes = load_recipes(ROOT / "recipes")
    for recipe in (recipe_of for name, recipe_of in recipes.items() if name != SMALL):
        for system in recipe.systems.values():
            if system.variant in PRESETS:
                run = _reference_run(system)
                name = next(name for name, other in configurations().items() if other == run)
                result.setdefault((recipe.name, system.method, system.variant), name)
    return result


def settings_of(run: Run) -> set[tuple[str, str, object]]:
    """Returns method or "", field and value of all settings; a number is 0, 0.5, 1 or another one."""
    plain = {"pooling": run.pooling, "weights": run.weights, "text": run.text, "share": run.corpus_share}
    result = {("", name, kind_of(value)) for name, value in plain.items()}
    result |= {("", name, kind_of(value)) for name, setting in _flat(run.train) for value in _each(setting)}
    return result | settings_of_method(run.method, run.config)


def settings_of_method(method: str, config: Mapping[str, Any]) -> set[tuple[str, str, object]]:
    """Returns method, field and value of all settings of a configuration, as `settings_of` does."""
    return {(method, name, kind_of(value)) for name, setting in _flat(config) for value in _each(setting)}


def _flat(settings: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        yield f"{where}{name}", "some" if isinstance(value, Mapping) else value
        if isinstance(value, Mapping):
            yield from _flat(value, f"{where}{name}/")


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def kind_of(value: Any) -> object:
    """Returns the kind of a value: a number is 0, 0.5, 1 or another one."""
    if isinstance(value, list | tuple):
        return tuple(map(kind_of, value))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if not number else f"number {value:g}" if value in (0, 0.5, 1) else "another number"


@cache
def configurations() -> dict[str, Run]:
    """Returns every distinct run of the recipes and the methods' samples, by its first system, and MORE."""
    result: dict[str, Run] = {}
    for name, run in (*_of_recipes(), *_of_samples()):
        if run not in result.values():
            result[name] = run
    for name, (base, change) in MORE.items():
        result[name] = Run.model_validate(merge(result[base].model_dump(), change))
    return result


def _of_recipes() -> Iterator[tuple[str, Run]]:
    for name, system in declared_systems(load_recipes(ROOT / "recipes")).items():
        yield name, _reference_run(system)


def _reference_run(system: System) -> Run:
    entry = system.model_dump(exclude=OTHERS)
    return _run({**entry, "arithmetic": "native"}, words=system.pooling is None)


def _of_samples() -> Iterator[tuple[str, Run]]:
    usual = {"corpus_share": 1.0, "text": "raw", "weights": "both", "tasks": ["STSB"], "pooling": "mean"}
    for method in METHODS:
        for sample in samples_of(method):
            train = {**tiny.TRAIN, "steps": tiny.TRAIN["steps"] if sample.trained else 0}
            entry = {**usual, "method": method, "config": sample.config, "train": train}
            yield f"{method}: {sample.label}", _run(entry, words=sample.backbone == "words")


def _run(entry: Mapping[str, Any], *, words: bool) -> Run:
    """Returns an entry of a plan with the sizes of a reference run."""
    method, train = load_method(entry["method"]), {**entry["train"], **SHORT}
    if train["epochs"] is not None:
        train["epochs"] = EPOCHS
    elif train["steps"]:
        train["steps"] = STEPS
    if train.get("rate_drops"):
        train["rate_drops"] = [[n, share] for n, (_, share) in enumerate(train["rate_drops"], start=1)]
    config = {
        key: min(value, SIZES[key]) if isinstance(value, int) and key in SIZES else value
        for key, value in entry["config"].items()
    }
    kind: str | None = method.Config.model_validate(config).parent_kind
    if config.get("detection_weight"):  # of DiffCSE
        kind = "generator"
    needs = {
        "id": "reference",
        "variant": "",
        "backbone": "backbones/words" if words else "backbones/bert",
        "corpus": "corpora/words",
        "parent": PARENTS[kind],
        "seed": 1,
    }
    return Run.model_validate({**entry, **needs, "config": config, "train": train})


def write_project(folder: Path) -> None:
    """Writes the backbones, parents, corpus and STS-B of the reference runs; one sentence is there twice."""
    rows = tiny.rows(ROWS, augmentations=3)
    rows[7] = rows[7]._replace(text=rows[3].text)
    (folder / "corpora/words").mkdir(parents=True)
    lines = "".join("\t".join(row.columns) + "\n" for row in rows)
    (folder / "corpora/words" / CORPUS_ROWS).write_text(lines)
    write_stsb(folder / "data/stsb")
    tiny.write_backbone(folder / "backbones/bert")
    write_words(folder / "backbones/words")
    (folder / "teachers").mkdir()
    for kind in ("teacher", "encoder", "generator"):
        made = tiny.write_parent(folder / f"made-{kind}", kind, rows)
        assert made is not None
        made.rename(folder / PARENTS[kind])


def measure(run: Run, state: Path) -> dict[str, list[float]]:
    """Returns the log of a run by name, and numbers of its best and last encoder, in the project."""
    folders = {**run.folders(), "pieces": PIECES, "state": state}
    trainer = build(StageInputs(run, folders, state))
    record = trainer.fit(rows_of(run, folders["corpus"]))
    actual: dict[str, list[float]] = {"best_step": [float(record.best_step)]}
    for line in (state / RUN_LOG).read_text(encoding="utf-8").splitlines():
        for name, value in json.loads(line).items():
            if name in EACH_STEP:
                actual.setdefault(name, []).append(float(value))
            else:
                actual[name] = [float(value)]
    for name, folder in (("best", trainer.best_folder), ("last", trainer.folder.last)):
        actual[name] = [
            float(number) for vector in load_encoder(folder).encode(SENTENCES) for number in vector[:2]
        ]
    return {name: [float(f"{value:.6g}") for value in values] for name, values in actual.items()}


def main() -> None:
    """Writes reference.json; `--missing` measures only new runs and keeps the recorded ones."""
    actual = covering()
    known = json.loads(KNOWN.read_text(encoding="utf-8")) if "--missing" in sys.argv[1:] else {}
    numbers = {name: known[name] for name in actual if name in known}
    if len(numbers) == len(actual) == len(known):
        return
    os.environ["SENTBENCH_PROVIDERS"] = "embedded"
    with tempfile.TemporaryDirectory() as scratch:
        write_project(Path(scratch) / "project")
        os.chdir(Path(scratch) / "project")
        numbers |= {
            name: measure(run, Path(scratch, name)) for name, run in actual.items() if name not in numbers
        }
    lines = ",\n".join(f'"{name}": {json.dumps(actual)}' for name, actual in sorted(numbers.items()))
    write_text(KNOWN, f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
