"""Two models, or two systems of recorded results, compared task by task."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness.errors import InputError
from sentbench.encoders import (
    Model,
    Tasks,
    at_home,
    encoded_by,
    include_folders,
    load,
    shown,
    tasks_of,
    text_of,
    texts_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from harness.evidence.schema import ResultFile
    from harness.evidence.system_pairs import SystemComparison, SystemScores

    Side = Model | Sequence[str | Path]


class Picture(str):
    """An SVG drawing as text, displayed as a picture in a notebook."""

    def _repr_svg_(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`; printed, it is a table. `differences` has the differences as values."""

    differences: SystemComparison

    @property
    def frame(self) -> pd.DataFrame:
        """One row per task and one for the mean, in raw units.

        Columns: task, metric, first, second, difference, low, high (nan without an interval), outcome.
        """
        import pandas as pd

        columns = ["task", "metric", "first", "second", "difference", "low", "high", "outcome"]
        rows = [(name.task, name.metric, difference) for name, difference in self.differences.tasks.items()]
        if self.differences.mean is not None:
            rows.append(("Mean", "", self.differences.mean))
        values = []
        for task, metric, difference in rows:
            low, high = difference.interval or (float("nan"),) * 2
            values.append(
                (
                    task,
                    metric,
                    difference.first,
                    difference.second,
                    difference.difference,
                    low,
                    high,
                    difference.outcome,
                )
            )
        return pd.DataFrame(values, columns=columns)

    def to_latex(self) -> str:
        """Returns a booktabs table: a column per task, a row per system, and the differences."""
        from harness.report.formats.scores import differences_to_latex

        return differences_to_latex(self.differences)

    def plot(self, file: str | Path | None = None) -> Picture:
        """Returns the differences with their intervals as SVG; also writes them to `file`.

        Errors: InputError if the file cannot be written or its name does not end in .svg.
        """
        from harness.io.files import write_text
        from harness.io.outputs import check_file
        from harness.report.pages.compare import differences_of

        path = None if file is None else Path(at_home(text_of(str(file), "file")))
        if path is not None and path.suffix.lower() != ".svg":
            raise InputError(f"{file}: the picture is SVG, expected a name that ends in .svg")
        path = None if path is None else check_file(path)
        if path is not None and path.is_file() and path.read_bytes()[:4] not in (b"", b"<svg"):
            raise InputError(f"{file}: exists and is not a drawing")
        picture = Picture(differences_of(self.differences).drawings[0])
        if path is not None:
            write_text(path, picture)
        return picture

    def __str__(self) -> str:
        from harness.report.formats.scores import differences_to_text

        return differences_to_text(self.differences)


def compare(
    first: Side,
    second: Side,
    tasks: Tasks = "sts",
    *,
    text: str = "senteval",
    names: tuple[str, str] | None = None,
    include: str | Path | Sequence[str | Path] = (),
    batch_size: int | None = None,
    pooling: str | None = None,
    progress: bool = False,
) -> Comparison:
    """Returns first minus second on every task and their mean, which is tested first, at 5 %.

    first, second: two models, as for `evaluate`, or two results: a JSON file of `sentbench evaluate --out`, a
    result file of one seed, a folder of result files, or a list of files of one system. Models are compared
    over the pairs of each STS set, results over their seeds. Tasks are tested only if the mean is won or
    lost, with Holm's steps.
    names: of two models; default: folder or function. tasks, text, include, batch_size, progress: as for
    `evaluate`; results are compared on their common tasks and take none of these options. pooling: as for
    `load`, for models that are folders. Both models are opened before the first text is encoded.
    Errors: as of `evaluate`; InputError for a model and results, for results of several systems, for two
    sides without a common task, and for an option of models with results.
    """
    from harness.evidence.system_pairs import compare_systems
    from harness.report.assembly.pairs import compare_models

    first, second = (at_home(side) if isinstance(side, str) else side for side in (first, second))
    ours, theirs = recorded(first), recorded(second)
    if ours and theirs:
        options = {"tasks": tasks, "text": text, "names": names, "include": include, "progress": progress}
        refuse_options_of_models(options | {"batch_size": batch_size, "pooling": pooling})
        comparison = compare_systems(ours, theirs)
    elif ours or theirs:
        raise InputError(f"{shown(first)} and {shown(second)}: expected two models, or two results")
    else:
        include_folders(include)
        chosen = tasks_of(tasks, text)
        if pooling is not None and not any(isinstance(side, str | Path) for side in (first, second)):
            raise InputError(f"pooling is {shown(pooling)}, which is for folders; neither model is one")
        names = names_of(names) or (name_of(first, "first"), name_of(second, "second"))
        both = opened(cast("Model", first), pooling), opened(cast("Model", second), pooling)
        encoders = (
            encoded_by(both[0], chosen, progress, batch_size),
            encoded_by(both[1], chosen, progress, batch_size),
        )
        comparison = compare_models(names, encoders, chosen, text=text)
    if not comparison.tasks:
        raise InputError(f"{comparison.first} and {comparison.second} have no test set in common")
    return Comparison(comparison)


def refuse_options_of_models(options: Mapping[str, Any]) -> None:
    """Raises InputError for an option of models whose value is not the default; the sides are results."""
    defaults = inspect.signature(compare).parameters
    for name, value in options.items():
        if value is not defaults[name].default and value != defaults[name].default:
            raise InputError(f"{name} is {shown(value)}, which is for models; both sides are results")


def opened(model: Model, pooling: str | None) -> Model:
    """Returns the encoder of a folder or a hub name; any other model unchanged. Errors: as of `load`."""
    return load(model, pooling=pooling) if isinstance(model, str | Path) else model


def recorded(side: Any) -> SystemScores | None:
    """Returns the scores of result files or of a file of `sentbench evaluate --out`; None for a model.

    Errors: InputError for another file, and for several systems or models.
    """
    if isinstance(side, str | Path) and is_evaluation(Path(side)):
        from harness.evidence.system_pairs import SystemScores, headlines
        from harness.report.formats.evaluations import read_evaluation

        model, text, lines = read_evaluation(Path(side))
        return SystemScores(model, model, tasks={name: {0: value} for name, value in headlines(lines, text)})
    results = results_at(side)
    return one_system(results, side) if results else None


def is_evaluation(path: Path) -> bool:
    """Returns whether a file is JSON of `sentbench evaluate --out`, which has no run."""
    from harness.io.records import read_object

    if not path.is_file():
        return False
    raw = read_object(path, again="name the JSON file of `sentbench evaluate --out`, or a result file")
    return "scores" in raw and "run" not in raw


def results_at(side: Any) -> list[ResultFile]:
    """Returns the result files of a path or a list of paths, none for a model."""
    from harness.evidence.store import read_results

    if isinstance(side, list | tuple):
        paths = [Path(at_home(text_of(str(path), "a result file"))) for path in side]
    elif isinstance(side, str | Path) and Path(side).is_file():
        paths = [Path(side)]
    elif isinstance(side, str | Path) and not (Path(side) / "config.json").exists():
        paths = sorted(path for path in Path(side).glob("*__*__s*.json"))
    else:
        return []
    return read_results(paths)


def one_system(results: Sequence[ResultFile], side: Any) -> SystemScores:
    """Returns the scores of the only system in results; InputError for several systems."""
    from harness.evidence.system_pairs import system_scores

    systems = system_scores(results)
    if len(systems) != 1:
        raise InputError(f"{shown(side)}: results of {', '.join(sorted(systems))}, expected one system")
    return next(iter(systems.values()))


def names_of(names: Any) -> tuple[str, str] | None:
    """Returns the two names, or None. Errors: InputError unless they are two different names."""
    if names is None:
        return None
    pair = texts_of(names, "names")
    if len(set(pair)) != 2 or len(pair) != 2 or not all(pair):
        raise InputError(f"names is {shown(names)}, expected two different names")
    return pair[0], pair[1]


def name_of(model: Any, otherwise: str) -> str:
    """Returns the name of a model: its folder, its function, or `otherwise`."""
    if isinstance(model, str | Path):
        return str(model)
    return str(getattr(model, "__name__", otherwise))
