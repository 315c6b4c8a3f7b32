"""The report stage on the committed scores: its files, their content, and atomic replacement."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from harness.cli import main
from harness.io.outputs import check_folder
from harness.report.formats import summary
from harness.report.tables import build
from harness.stages.report import OUTPUTS
from tests.support.leaderboards import write_leaderboards
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[3]
PAPERS = ("dclr", "pcl", "ptbert", "sct", "una")
UNLOGGED = "simcse-small"
GPUS = (ROOT / "leaderboards/hours.yaml").read_text(encoding="utf-8")
SOURCES = ("https://github.com/", "https://arxiv.org/abs/", *re.findall(r" source: (https://\S+)", GPUS))


@pytest.fixture(scope="module", autouse=True)
def no_ranks() -> Iterator[None]:
    """Rows keep their cells without ranks, which take half of a report's time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(build, "rank_rows", lambda spec, declared, rows, exact: (rows, []))
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose report was built once; the runs of one system have no curves."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("leaderboards", "recipes", "params.yaml"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("scores", "curves", "further"):
        shutil.copytree(ROOT / "reports" / name, folder / "reports" / name)
    for curve in (folder / "reports/curves").glob(f"{UNLOGGED}__*"):
        curve.unlink()
    with chdir(folder):
        assert main(["report"]) == 0
    return folder / "reports"


def test_the_stage_writes_all_that_the_pipeline_declares_which_leaves_the_former_report_to_it(
    built: Path,
) -> None:
    """DVC deletes the outputs of a stage before it runs, unless they persist; a failed report has none."""
    outs = load_yaml((ROOT / "dvc.yaml").read_text())["stages"]["report"]["outs"]
    assert all([*out.values()] == [{"cache": False, "persist": True}] for out in outs)
    assert sorted(path.stem for path in (built / "papers").glob("*.html")) == list(PAPERS)
    written = {path.name for path in built.iterdir()} - {"scores", "curves", "further"}
    assert {f"reports/{name}" for name in written} == {name for out in outs for name in out}


@pytest.mark.thorough
def test_the_next_report_may_replace_that_of_a_single_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One system has no page that compares systems, nor has every plan the page of the small plan."""
    monkeypatch.chdir(tmp_path)
    for name in ("leaderboards", "recipes", "params.yaml"):
        Path(name).symlink_to(ROOT / name)
    Path("reports/scores").mkdir(parents=True)
    shutil.copy(ROOT / "reports/scores/pooled-mean-small__words-50d__s0.json", "reports/scores")
    assert main(["report"]) == 0
    assert not Path("reports/pages/compare.html").exists()
    for path, layout in OUTPUTS.items():
        if layout is not None:
            check_folder(path, layout)


def test_every_link_of_every_page_leads_somewhere(built: Path) -> None:
    actual = sorted(built.rglob("*.html"))
    assert len(actual) == 10
    followed = 0
    ids = {
        page.resolve(): set(re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8"))) for page in actual
    }
    for page in actual:
        for address in re.findall(r'<a [^>]*href="([^"]+)"', page.read_text(encoding="utf-8")):
            if address.startswith(SOURCES):
                continue
            file, _, anchor = address.partition("#")
            target = (page.parent / file).resolve() if file else page.resolve()
            if built.resolve() not in target.parents:  # the footer's documents of the checkout
                target = ROOT / target.relative_to(built.resolve().parent)
            if target.suffix in (".csv", ".json", ".tex", ".md", ".svg"):
                assert target.stat().st_size > 0
                continue
            assert target in ids, (page.name, address)
            assert not anchor or anchor in ids[target], (page.name, address)
            followed += bool(file)
    assert followed >= 100


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small leaderboard, of which a report takes a second."""
    return write_leaderboards(tmp_path_factory.mktemp("small") / "leaderboards").resolve()


@pytest.fixture
def project(built: Path, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a finished report and a small leaderboard, to spoil."""
    shutil.copytree(built.parent, tmp_path / "project", symlinks=True)
    monkeypatch.chdir(tmp_path / "project")
    Path("leaderboards").unlink()
    Path("leaderboards").symlink_to(small)
    return Path("reports")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("pattern", "content", "said"),
    [
        ("curves/*.json", b'{"evaluations": 3}', "no evaluations with step and score"),
    ],
)
def test_a_damaged_file_is_one_line_and_the_former_report_stays(
    project: Path, refused: Callable[..., str], pattern: str, content: bytes, said: str
) -> None:
    next(project.glob(pattern), project / pattern).write_bytes(content)
    before = files_of(project)
    assert said in refused("report")
    assert files_of(project) == before


def test_a_fault_in_the_last_text_leaves_tables_and_pages_of_the_former_report(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("a fault")

    before = files_of(project)
    monkeypatch.setattr(summary, "to_latex", fail)
    with pytest.raises(RuntimeError, match="a fault"):
        main(["report"])
    assert files_of(project) == before


@pytest.fixture
def without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without pictures and files; their output and result do not depend on these."""
    monkeypatch.setattr("harness.stages.report.render_pages", lambda content: {})
    monkeypatch.setattr("harness.stages.report.write_report", lambda files: None)


@pytest.mark.usefixtures("without_pages")
def test_a_strict_report_fails_where_a_cell_or_a_score_of_the_plan_is_missing_and_says_which(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan `small` fills its tables; `pcl/table4` added to its names, none of that table is there."""
    assert main(["report", "--strict"]) == 0
    params = Path("params.yaml")
    text = params.read_text(encoding="utf-8")
    params.unlink()
    params.write_text(text.replace("plan:\n- small\n", "plan:\n- small\n- pcl/table4\n"), encoding="utf-8")
    capsys.readouterr()
    assert main(["report", "--strict"]) == 1
    assert re.search(r"missing: \d+ cells of table pcl/table4", capsys.readouterr().out)
    params.write_text(text, encoding="utf-8")
    next((project / "scores").glob("simcse-small__*")).unlink()
    assert main(["report", "--strict"]) == 1
    assert main(["report"]) == 0
