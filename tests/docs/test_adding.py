"""The example of docs/adding.md: its files are read as they stand, and its commands give what it says."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
FILES = ("published/toy.yaml", "tables/toy-table1.yaml", "evidence/toy.yaml")


@pytest.fixture
def with_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The declarations of the project, and the files of the guide under the names that it states."""
    shutil.copytree(ROOT / "leaderboards", tmp_path / "leaderboards")
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", GUIDE, flags=re.M | re.S)
    for name, text in zip(FILES, blocks, strict=True):
        assert f"`leaderboards/{name}`" in GUIDE
        (tmp_path / "leaderboards" / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("with_example")
def test_the_commands_of_the_guide_name_the_example_and_its_verdict(printed: Callable[..., str]) -> None:
    commands = re.findall(r"^    sentbench (\S.*)$", GUIDE, flags=re.M)
    assert commands[:3] == ["list tables", "verify toy/table1", "verify toy/table1 ToyCSE STSB"]
    assert re.search(r"^toy/table1 +table +Toy table 1: STS$", printed("list", "tables"), re.M)
    assert printed("verify", "toy/table1").splitlines()[:2] == [
        "simcse@bert-base-uncased",
        "toycse@bert-base-uncased",
    ]
    verdict = printed("verify", "toy/table1", "ToyCSE", "STSB")
    assert "reported   78.21 " in verdict
    assert "independent: 3 single runs, 1 source, median of sources 77.82\n" in verdict
