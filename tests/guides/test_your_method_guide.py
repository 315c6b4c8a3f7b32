"""docs/your-method.md followed to the letter, from an empty folder to a compared row and the full plan.

Data are small and trainings short; results of the others on real data are not reused.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.command_line import parser_of
from harness.include import include_method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.types import Batch
from methods.registry import METHODS, load_method
from tests.harness.commands.test_try import empty, laws_of, nothing_is_left_included  # noqa: F401 - fixtures
from tests.support import tiny

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/your-method.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line)[1:] for line in re.findall(r"^    (sentbench .+)$", GUIDE, flags=re.M)]


def followed(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    code = main(command)
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


@pytest.mark.usefixtures("nothing_is_left_included")
def test_the_guide_leads_from_an_empty_folder_to_a_compared_row(
    empty: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("harness.commands.try_method.committed", lambda backbone: {})
    code, *_ = re.findall(r"^```python\n(.*?)^```$", GUIDE, flags=re.M | re.S)
    Path("mycse.py").write_text(code)
    tried, full, dry, *others = COMMANDS
    said = followed(tried, capsys)
    assert "FAILS" not in said
    for other in ("simcse-small", "pcl-small"):
        assert re.search(rf"^task +mycse@words-50d +{other}@words-50d", said, flags=re.M)
    assert Path("try/mycse/index.html").is_file()
    assert "46" in followed(full, capsys)
    del METHODS["mycse"]
    assert "mycse-full" in followed(dry, capsys)
    assert [words[:3] for words in others[:2]] == [
        ["--include", "try/mycse", word] for word in ("plan", "launch")
    ]


@pytest.mark.parametrize("name", ["mycse", "two_views"])
def test_an_example_is_a_file_of_the_documents(name: str) -> None:
    assert f"```python\n{(ROOT / f'docs/examples/{name}.py').read_text()}```" in GUIDE


@pytest.mark.usefixtures("nothing_is_left_included")
@pytest.mark.parametrize("name", ["mycse", "two_views"])
def test_an_example_keeps_the_laws(name: str, tmp_path: Path) -> None:
    assert laws_of((ROOT / f"docs/examples/{name}.py").read_text(), tmp_path) == {}


@pytest.mark.usefixtures("nothing_is_left_included")
def test_the_schedule_of_the_example_starts_at_its_first_value_and_ends_at_its_last(tmp_path: Path) -> None:
    """Temperatures of 0.1 to 0.05 over six steps: 0.1, 0.09, ... 0.05."""
    method = load_method(include_method(ROOT / "docs/examples/two_views.py"))
    config = method.Config.model_validate({"max_length": 16})
    built = method(config, Networks(tiny.write_backbone(tmp_path / "bert"), pooling="mean"))
    seen: dict[int, float] = {}
    collate = built.collate

    def watched(rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        batch = collate(rows, step=step, rng=rng)
        seen[step] = batch["temperature"]
        return batch

    built.collate = watched  # type: ignore[method-assign]
    tiny.trainer(built, tmp_path / "run", steps=6).fit(tiny.rows())
    assert seen == pytest.approx({step: 0.1 - 0.01 * step for step in range(6)})


def test_every_option_that_the_guide_lists_is_one() -> None:
    known = parser_of("try").format_help()
    listed = re.findall(r"^\| `(--\w+)", GUIDE, flags=re.M)
    assert len(listed) >= 4
    assert [option for option in listed if option not in known] == []
