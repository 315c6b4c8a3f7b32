"""docs/your-method.md followed to the letter, from an empty folder to a compared row and the full plan.

Data are small and trainings short; results of the others on real data are not reused.
"""

import re
import shlex
from pathlib import Path

import pytest

from harness.cli import main, parser_of
from methods.registry import METHODS
from tests.harness.commands.test_try import empty, nothing_is_left_included  # noqa: F401 - fixtures

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
    monkeypatch.setattr("harness.commands.try_runs.committed", lambda backbone: {})
    (code,) = re.findall(r"^```python\n(.*?)^```$", GUIDE, flags=re.M | re.S)
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


def test_the_example_is_a_file_of_the_documents() -> None:
    assert f"```python\n{(ROOT / 'docs/examples/mycse.py').read_text()}```" in GUIDE


def test_every_option_that_the_guide_lists_is_one() -> None:
    known = parser_of("try").format_help()
    listed = re.findall(r"^\| `(--\w+)", GUIDE, flags=re.M)
    assert len(listed) >= 5
    assert [option for option in listed if option not in known] == []
