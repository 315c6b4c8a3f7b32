"""Selection reads the development pairs of STS-B, and each split its own file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.tasks import selection
from harness.tasks.stsb import read_stsb_split


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_split_of_stsb_is_read_from_its_own_file(tmp_path: Path, split: str) -> None:
    for name in ("train", "dev", "test"):
        line = "\t".join(["main-news", "MSRpar", "2012test", "1", "2.5", f"a {name} pair", "its second text"])
        (tmp_path / f"sts-{name}.csv").write_text(line + "\n")
    (row,) = read_stsb_split(tmp_path, split, form="senteval", source="stsb-senteval")
    assert (row.first, row.score) == (f"a {split} pair", 2.5)


def test_weights_are_selected_on_the_development_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(selection, "stsb_task", lambda name, split, text, source: asked.append(split))
    selection.dev_evaluation("senteval")
    assert asked == ["dev"]
