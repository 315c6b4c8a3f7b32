"""A small leaderboard: a few of the project's tables, so that a report of it takes a second."""

import shutil
from pathlib import Path

from tests.support.yaml_files import dump_yaml, load_yaml

ROOT = Path(__file__).parents[2]
KEPT = {
    "tables": ("small", "small-sts", "runs-sts", "pcl-table4", "una-table1", "una-table2"),
    "claims": ("una",),
}
"""Kept parts of two of its folders: tables of two papers' pages, and the claims about these tables."""


def write_leaderboards(folder: Path) -> Path:
    """Writes the project's leaderboards with few tables and their texts, as a new folder."""

    def left_out(parent: str, names: list[str]) -> set[str]:
        kept = KEPT.get(Path(parent).name)
        return {name for name in names if kept is not None and Path(name).stem not in kept}

    shutil.copytree(ROOT / "leaderboards", folder, ignore=left_out)
    answers = load_yaml((folder / "answers.yaml").read_text())
    numbers = [number for number in answers["numbers"] if number["table"].replace("/", "-") in KEPT["tables"]]
    (folder / "answers.yaml").write_text(dump_yaml({"numbers": numbers}, sort_keys=False))
    for path in (folder / "claims").iterdir():
        declared = load_yaml(path.read_text())
        kept = [claim for claim in declared["claims"] if claim["table"].replace("/", "-") in KEPT["tables"]]
        path.write_text(dump_yaml({**declared, "claims": kept}, sort_keys=False))
    return folder
