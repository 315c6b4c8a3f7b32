"""Things that are made from each other: every chain ends, and soon enough for what follows it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import InputError
from harness.plan.entries import read_params

ROOT = Path(__file__).parents[3]
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
RUN, OTHER = "simcse-small__words-50d__s0", "simcse-small__words-50d__s1"
CYCLES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "reads": (("reads", "evaluation-senteval", "after", ".fingerprints/data/evaluation-senteval.txt"),),
    "a corpus is its tool": (("corpora", "wiki-small-views", "tool", "corpora/wiki-small-views"),),
    "a run starts from another one, which has it as parent": (
        ("runs", RUN, "backbone", f"artefacts/{OTHER}"),
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
    ("field", "needed"),
    [
        ("parent", f"artefacts/{OTHER}"),
        ("backbone", f"artefacts/{OTHER}"),
        ("parent", f"teachers/{min(PARAMS['teachers'])}"),
        ("corpus", "corpora/wiki-small-views"),
    ],
)
def test_a_portable_run_that_needs_something_native_is_one_line(
    tmp_path: Path, field: str, needed: str
) -> None:
    params = deepcopy(PARAMS)
    params["runs"][RUN][field] = needed
    read_params(written(tmp_path, params))
    for part in ("corpora", "teachers", "runs"):
        for entry in params[part].values():
            entry["arithmetic"] = "native"
    read_params(written(tmp_path, params))
    params["runs"][RUN]["arithmetic"] = "portable"
    with pytest.raises(InputError, match=f"{RUN} is portable and needs {needed}, which is native"):
        read_params(written(tmp_path, params))
