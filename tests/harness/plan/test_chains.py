"""Things that are made from each other: every chain ends, and soon enough for what follows it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main
from harness.errors import InputError
from harness.plan.entries import LONGEST_CHAIN, read_params

ROOT = Path(__file__).parents[3]
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
RUN, OTHER = "simcse-small__words-50d__s0", "simcse-small__words-50d__s1"
CYCLES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "reads": (("reads", "evaluation-senteval", "after", ".fingerprints/data/evaluation-senteval.txt"),),
    "backbones": (("backbones", "minilm-l2", "origin", "backbones/minilm-l2"),),
    "corpora": (("corpora", "wiki-small-views", "origin", "corpora/wiki-small-views"),),
    "tools": (("corpora", "wiki-small-views", "tool", "corpora/wiki-small-views"),),
    "parents": (("runs", RUN, "parent", f"artefacts/{RUN}"),),
    "starts": (("runs", RUN, "backbone", f"artefacts/{RUN}"),),
    "two runs": (
        ("runs", RUN, "parent", f"artefacts/{OTHER}"),
        ("runs", OTHER, "parent", f"artefacts/{RUN}"),
    ),
    "two backbones": (
        ("backbones", "minilm-l2", "origin", "backbones/minilm-l6"),
        ("backbones", "minilm-l6", "origin", "backbones/minilm-l2"),
    ),
}


def written(folder: Path, params: dict[str, Any]) -> Path:
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump(params, sort_keys=False))
    return path


@pytest.mark.parametrize("changes", CYCLES.values(), ids=CYCLES)
def test_a_plan_in_which_something_is_made_from_itself_is_one_line(
    tmp_path: Path, changes: tuple[tuple[str, str, str, str], ...]
) -> None:
    params = deepcopy(PARAMS)
    for kind, name, key, value in changes:
        params[kind][name][key] = value
    with pytest.raises(InputError, match="made from itself") as caught:
        read_params(written(tmp_path, params))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("field", "kind", "origin"),
    [
        ("parent", "artefacts", {"runs": OTHER}),
        ("backbone", "artefacts", {"runs": OTHER}),
        ("parent", "teachers", {"teachers": None}),
        ("corpus", "corpora", {"corpora": None}),
    ],
)
def test_a_portable_run_that_needs_something_native_is_one_line(
    tmp_path: Path, field: str, kind: str, origin: dict[str, str | None]
) -> None:
    params = deepcopy(PARAMS)
    ((part, name),) = origin.items()
    name = name or next(iter(params[part]))
    params["runs"][RUN][field] = f"{kind}/{name}"
    read_params(written(tmp_path, params))
    for entries in ("corpora", "teachers", "runs"):
        for entry in params[entries].values():
            entry["arithmetic"] = "native"
    params["runs"][RUN]["arithmetic"] = "portable"
    with pytest.raises(InputError) as caught:
        read_params(written(tmp_path, params))
    assert f"artefacts/{RUN} is portable and needs {kind}/{name}, which is native" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    params["runs"][RUN]["arithmetic"] = "native"
    read_params(written(tmp_path, params))


def test_a_cycle_of_several_reads_is_one_line_and_each_link_alone_is_none(tmp_path: Path) -> None:
    params = deepcopy(PARAMS)
    names = [f"link-{number}" for number in range(5)]
    for name, before in zip(names, [names[-1], *names], strict=False):
        params["reads"][name] = {"source": "data/stsb", "after": f".fingerprints/data/{before}.txt"}
    with pytest.raises(InputError, match="made from itself"):
        read_params(written(tmp_path, params))
    params["reads"][names[0]]["after"] = "data/stsb"
    assert read_params(written(tmp_path, params)).folders_read(names[-1]) == ["data/stsb"] * 5


def test_a_link_to_nothing_is_one_line(tmp_path: Path) -> None:
    params = deepcopy(PARAMS)
    params["reads"]["selection-senteval"]["after"] = ".fingerprints/data/nothing.txt"
    with pytest.raises(InputError, match="'nothing' is not in `reads`"):
        read_params(written(tmp_path, params)).folders_read("selection-senteval")


@pytest.mark.parametrize(("length", "message"), [(LONGEST_CHAIN, ""), (3000, "more than 100 others")])
def test_a_chain_of_backbones_in_the_plan_may_be_long_but_not_endless(
    tmp_path: Path, length: int, message: str
) -> None:
    params = deepcopy(PARAMS)
    for number in range(length - 1):
        origin = f"backbones/b{number - 1}" if number else "data/minilm-l6"
        params["backbones"][f"b{number}"] = {"origin": origin, "layers": None}
    path = written(tmp_path, params)
    if message:
        with pytest.raises(InputError, match=message):
            read_params(path)
    else:
        assert len(read_params(path).backbones) > length - 2


def recipes_with(folder: Path, name: str, text: str) -> None:
    """Copies the project's declarations and appends to one of its recipes."""
    for room in ("leaderboards", "methods", "harness"):
        (folder / room).symlink_to(ROOT / room)
    (folder / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    (folder / "recipes").mkdir()
    for path in (ROOT / "recipes").glob("*.yaml"):
        more = text if path.name == name else ""
        (folder / "recipes" / path.name).write_text(path.read_text() + more)


def chained(kind: str) -> tuple[str, str]:
    """Returns which recipe a chain of 3000 is appended to, and the chain, whose end the small plan uses."""
    if kind == "backbones":
        links = [f"c{n}: {{cut: {f'c{n - 1}' if n else 'minilm-l6'}, layers: 1}}\n" for n in range(3000)]
        return "backbones.yaml", "".join(links)
    views = "views: [{kind: swap, column: 0, share: 0.1, at_least: 1, clean: false}]"
    return "corpora.yaml", "".join(
        f"c{n}: {{origin: {f'c{n - 1}' if n else 'wiki-small'}, seed: 0, {views}}}\n" for n in range(3000)
    )


@pytest.mark.parametrize("kind", ["backbones", "corpora", "runs"])
def test_three_thousand_chained_declarations_are_one_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    system = "method: simcse, use: [base], config: {}"
    if kind == "runs":
        name, text = "", ""
        starts = ["", *(f", start: {{run: c{n}}}" for n in range(2999))]
        runs = [f"{{id: c{n}, {system}, backbones: [words-50d]{start}}}" for n, start in enumerate(starts)]
    else:
        name, text = chained(kind)
        backbone, corpus = ("c2999", "wiki-small") if kind == "backbones" else ("words-50d", "c2999")
        runs = [f"{{id: c2999, {system}, backbones: [{backbone}], corpus: {corpus}}}"]
    recipes_with(tmp_path, name, text)
    small = tmp_path / "recipes/small.yaml"
    lines = "".join(f"  - {run}\n" for run in runs)
    small.write_text(small.read_text().replace("\nruns:\n", f"\nruns:\n{lines}"))
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / "params.yaml").read_bytes()
    assert main(["plan", "small/c2999"]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "over more than 100 others" in told.err
    assert (tmp_path / "params.yaml").read_bytes() == before
