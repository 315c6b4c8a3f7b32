"""Contributed results: files that a pull request adds below reports/contributed/NAME/. They are not verified:
they are listed, but excluded from means and verdicts. The checks here need neither data nor training.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from harness.errors import InputError
from harness.evidence.schema import ResultFile, ScoreName
from harness.evidence.store import read_result
from harness.io.declarations import DeclaredModel, read_declaration

ABOUT = "contributor.yaml"
CORRELATIONS = ("spearman", "pearson")
"""Metrics whose digits identify a run; counts of examples may agree between runs."""
DIGITS = 9
"""Decimals of compared scores, one fewer than in a result file."""
Declared = Callable[[str], Mapping[str, object] | None]
"""Returns the description of a run (id, seed, recipe ...) according to the recipes; None if no recipe
declares the run."""


class Contributor(DeclaredModel):
    """The file contributor.yaml. by: the contributor. link: address of the run or its author."""

    by: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f<>]+$")
    link: str = Field(max_length=200, pattern=r"^https://[^\s<>\"]+$")


class Contributed(NamedTuple):
    """One contributed result, its path and its contributor."""

    path: Path
    contributor: Contributor
    result: ResultFile


def check_contributed(
    folder: Path, *, ours: Iterable[ResultFile], declared: Declared
) -> tuple[list[Contributed], list[str]]:
    """Returns the contributed results that pass all checks, by path, and one line for each problem.

    A result has our schema and scores within the range of their metric; its file is named after its run; a
    recipe declares the run with the same settings; and its weights or scores do not copy another result, ours
    or contributed. folder: has a folder for each contributor, with contributor.yaml and result files.
    """
    present = Present(ours)
    good: list[Contributed] = []
    problems: list[str] = []
    for sender in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not sender.is_dir():
            if sender.name != "README.md":
                problems.append(f"{sender}: not a folder, expected a folder for each contributor")
            continue
        try:
            contributor = read_contributor(sender)
        except (InputError, OSError) as error:
            problems.append(str(error))
            continue
        for path in sorted(path for path in sender.iterdir() if path.name != ABOUT):
            try:
                result = read_contributed(path, declared)
                present.add(result, str(path))
            except (InputError, OSError) as error:
                problems.append(str(error))
            else:
                good.append(Contributed(path, contributor, result))
    return good, problems


def read_contributor(folder: Path) -> Contributor:
    """Returns the contributor of a folder. Errors: InputError if contributor.yaml is missing or wrong."""
    path = folder / ABOUT
    if not path.is_file():
        raise InputError(f"{path}: no such file; add it, with `by` and `link`")
    return read_declaration(path, Contributor)


def read_contributed(path: Path, declared: Declared) -> ResultFile:
    """Returns a result file. Errors: InputError if it is invalid, or differs from the run that the recipes
    declare."""
    if path.suffix != ".json" or not path.is_file():
        raise InputError(f"{path}: expected {ABOUT} and result files RUN.json only")
    result = read_result(path)
    key = result.run.key
    if path.stem != key:
        raise InputError(f"{path}: holds the run {key!r}; rename the file to {key}.json")
    expected = declared(key)
    if expected is None:
        raise InputError(f"{path}: no recipe declares {key!r}; see `sentbench list systems`")
    for name, value in expected.items():
        if getattr(result.run, name) != value:
            raise InputError(
                f"{path}: {name} {getattr(result.run, name)!r}, expected {value!r}; run the present recipe"
            )
    return result


class Present:
    """Index of results by the digests of their weights and the digits of their scores."""

    def __init__(self, results: Iterable[ResultFile]) -> None:
        self._by_weights: dict[str, str] = {}
        self._by_score: defaultdict[tuple[ScoreName, float], set[str]] = defaultdict(set)
        for result in results:
            self._keep(result, result.run.key)

    def add(self, result: ResultFile, name: str) -> None:
        """Adds a result; `name` is for messages. Errors: InputError if an earlier result has the same
        weights, or shares more than half of the scores.
        """
        weights = self._by_weights.get(result.provenance.encoder_sha256)
        if weights is not None:
            raise InputError(f"{name}: a copy of {weights}: the weights are the same; remove it")
        keys = list(_digits(result))
        equal = Counter(other for key in keys for other in self._by_score.get(key, ()))
        for other, count in equal.most_common(1):
            if 2 * count > len(keys):
                raise InputError(
                    f"{name}: a copy of {other}: {count} of {len(keys)} scores are the same; remove it"
                )
        self._keep(result, name)

    def _keep(self, result: ResultFile, name: str) -> None:
        self._by_weights.setdefault(result.provenance.encoder_sha256, name)
        for key in _digits(result):
            self._by_score[key].add(name)


def _digits(result: ResultFile) -> Iterator[tuple[ScoreName, float]]:
    """Yields the scores that identify a result: its correlations, or all scores without correlations."""
    correlations = [score for score in result.scores if score.metric in CORRELATIONS]
    for score in correlations or result.scores:
        yield score.name, round(score.value, DIGITS)
