"""Errors of DVC in one line: which file or process is wrong, and what to do."""

from types import SimpleNamespace
from typing import Any

import pytest
from dvc.exceptions import DvcException, NoOutputOrStageError, NotDvcRepoError
from dvc.lock import LockError
from dvc.stage.exceptions import StageNotFound

from harness.errors import InputError
from harness.launch.failures import StageError, project_errors, stage_errors

REPO: Any = SimpleNamespace(
    lock=SimpleNamespace(lockfile=".dvc/tmp/lock"),
    index=SimpleNamespace(stages=[SimpleNamespace(addressing=name) for name in ("report", "train@a")]),
)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            LockError("busy"),
            "another `dvc` or `sentbench launch` is running in this project; wait for it (if it has crashed, "
            "delete .dvc/tmp/lock)",
        ),
        (NotDvcRepoError("no"), "running stages: run this in a checkout of the project"),
        (DvcException("dvc.lock is\ndamaged"), "dvc.lock is damaged; `git checkout dvc.lock` restores it"),
        (DvcException("dvc.yaml is damaged"), "dvc.yaml is damaged; see `dvc status`"),
        (StageNotFound(SimpleNamespace(relpath="dvc.yaml"), "reports"), "(did you mean report"),
        (NoOutputOrStageError("reports", "dvc.yaml"), "(did you mean report"),
    ],
)
def test_a_project_that_cannot_be_opened_is_one_line_with_what_to_do(error: Exception, line: str) -> None:
    with pytest.raises(InputError) as caught, project_errors(REPO, ["reports", "train@a"]):
        raise error
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    if "did you mean" in line:
        assert str(caught.value).endswith("; see `dvc stage list`")
        assert str(caught.value).count("did you mean") == 1


@pytest.mark.parametrize("kind", [AssertionError, AttributeError, TypeError, ValueError])
def test_a_value_of_another_type_is_named_only_where_dvc_loads_a_stage(kind: Any) -> None:
    source = "def load(error):\n    raise error('x')\n"
    loader: dict[str, Any] = {"__name__": "dvc.stage.loader"}
    exec(source, loader)
    with pytest.raises(InputError, match=r"a value that dvc.yaml reads is no text"), project_errors(REPO):
        loader["load"](kind)
    with pytest.raises(kind), project_errors(REPO):
        raise kind("a fault of ours")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DvcException("missing\ninput"), "missing input"),
        (OSError(2, "No such file", "a"), "a: No such file"),
        (KeyError("x"), "an entry of DVC's run cache is damaged; delete .dvc/cache/runs"),
        (IndexError("x"), "an entry of DVC's run cache is damaged; delete .dvc/cache/runs"),
        (TypeError("x"), "an entry of DVC's run cache is damaged; delete .dvc/cache/runs"),
    ],
)
def test_a_stage_that_cannot_be_read_is_one_line(error: Exception, line: str) -> None:
    with pytest.raises(StageError) as caught, stage_errors():
        raise error
    assert str(caught.value) == line
