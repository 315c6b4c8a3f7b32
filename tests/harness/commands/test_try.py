"""`sentbench try`: a method of one file from an empty folder to its compared row."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

import methods
from harness import paths
from harness.check.laws import LAWS, check_laws
from harness.cli import main
from harness.commands import try_runs
from harness.commands.try_teacher import corpus_of_teachers, with_teacher
from harness.errors import InputError
from harness.evidence.schema import ResultFile
from harness.include import include_method
from harness.io.files import sha256_of_folder
from harness.plan.entries import Params
from harness.plan.estimate import duration
from harness.plan.recipes import DeclaredBackbone, Recipe, load_backbones, load_recipes
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.train_config import TrainConfig
from methods.registry import METHODS, load_method
from tests.faults.small_project import write_source_record, write_stsb
from tests.support import tiny
from tests.support.networks import each_network_is_built_once

SAME = '''"""SimCSE under another name."""

import torch

from methods.core.heads import training_head
from methods.core.losses import info_nce
from methods.core.method import Method, MethodConfig
from methods.core.types import Loss


class Config(MethodConfig):
    temperature: float = 0.05


class MyCSE(Method):
    Config = Config

    def __init__(self, config, networks):
        super().__init__(config, networks)
        self.head = training_head("mlp", self.encoder.width)

    def loss(self, batch):
        tokens = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}
        first, second = self.head(self.encoder(tokens)).chunk(2)
        return Loss(info_nce(first, second, temperature=self.config.temperature), {})
'''
APART = SAME.replace("Loss(info_nce(", "Loss(-info_nce(")
"""Drives the two views of a sentence apart."""
FORGETS = (
    SAME
    + """
    @torch.no_grad()
    def after_step(self, step):
        words = self.encoder.backbone.get_input_embeddings().weight
        words.copy_(torch.arange(len(words), dtype=words.dtype)[:, None].remainder(2).expand_as(words))
"""
)
"""Keeps of every word the parity of its number."""


@pytest.fixture(scope="module", autouse=True)
def networks() -> Iterator[None]:
    """Networks of equal settings are read once: each trial trains several runs from one folder."""
    with each_network_is_built_once():
        yield


@pytest.fixture(autouse=True)
def nothing_is_left_included(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kept = [(METHODS, dict(METHODS)), (paths.MODULES, dict(paths.MODULES))]
    searched, folders = list(methods.__path__), list(paths.FOLDERS)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.setenv(paths.INCLUDE, "")
    for silence in ("harness.commands.waiting.FIRST", "harness.check.workers.SILENCE"):
        monkeypatch.setattr(silence, 600.0)  # no line says that a slow machine still works
    yield
    for known, before in kept:
        known.clear()
        known.update(before)
    methods.__path__[:], paths.FOLDERS[:] = searched, folders


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, with small data in the user's folder."""
    data, folder = tmp_path / "data", tmp_path / "here"
    write_data(data)
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SENTBENCH_DATA", str(data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("harness.commands.try_method.load_recipes", short_recipes)
    monkeypatch.setattr("harness.plan.resolve.load_backbones", small_backbones)
    return folder


def write_data(data: Path) -> None:
    """Writes the sources of the small plan with sentences of known words."""
    write_stsb(data / "stsb")
    (data / "wiki-small").mkdir()
    (data / "wiki-small/wiki.txt").write_text("".join(f"{row.text}\n" for row in tiny.rows(80)))
    (data / "glove-6b-50d").mkdir()
    vectors = torch.randn(len(tiny.WORDS), 50, generator=torch.Generator().manual_seed(5))
    save_file({"vectors": vectors}, data / "glove-6b-50d/vectors.safetensors")
    (data / "glove-6b-50d/vocab.txt").write_text("\n".join(tiny.WORDS) + "\n")
    for name in ("wiki-small", "glove-6b-50d"):
        write_source_record(data / name)


def short_recipes() -> dict[str, Recipe]:
    """Returns the recipes with four steps and one task in the small plan."""
    recipes = load_recipes()
    train = {"steps": 4, "batch_size": 8, "eval_every": 2, "save_every": 4}
    systems = {
        key: system.model_copy(update={"tasks": ["STSB"], "train": {**system.train, **train}})
        for key, system in recipes["small"].systems.items()
    }
    return {**recipes, "small": recipes["small"].model_copy(update={"systems": systems})}


def small_backbones(folder: Path) -> dict[str, DeclaredBackbone]:
    """Returns the backbones; the one over word vectors has the words of the small data."""
    actual = load_backbones(folder)
    shape = actual["words-50d"].shape
    assert shape is not None
    shape = shape.model_copy(update={"vocabulary": len(tiny.WORDS)})
    return {**actual, "words-50d": actual["words-50d"].model_copy(update={"shape": shape})}


def scores(system: str, seed: int) -> list[dict[str, object]]:
    path = Path(f"try/mycse/reports/scores/{system}__words-50d__s{seed}.json")
    result: list[dict[str, object]] = json.loads(path.read_text())["scores"]
    return result


def test_simcse_under_another_name_equals_it_bit_for_bit(empty: Path, printed: Callable[..., str]) -> None:
    Path("mycse.py").write_text(SAME)
    said = printed("try", "mycse.py", "--fresh", "--seeds", "2")
    assert said.count("holds  ") == len(LAWS)
    for seed in (0, 1):
        assert scores("mycse", seed) == scores("simcse-small", seed)
    assert scores("mycse", 0) != scores("mycse", 1)
    table = Path("try/mycse/table.txt").read_text()
    assert table in said
    assert "mycse@words-50d: 0 won, 0 lost, 0 inconclusive, 1 equal of 1 test sets" in table
    page = Path("try/mycse/index.html").read_text()
    assert "+0.00 to +0.00" in page
    begin = page[page.index("<main") : page.index("<h2>Comparisons")]
    assert "mycse@words-50d does not beat" in begin or "mycse@words-50d beats its controls" in begin
    assert begin.count("<svg") == 3  # for phones, tablets and wide screens
    assert "http:" not in re.sub(r"http://www\.w3\.org/[\w/]+", "", page)  # names of SVG
    assert "https:" not in page


def laws_of(source: str, folder: Path, *, until: str = "") -> dict[str, str]:
    """Returns the violations of a method in a file by law, on a tiny encoder; those up to a law, or all."""
    file = folder / "toy.py"
    file.write_text(source)
    method = load_method(include_method(file))
    backbone = tiny.write_backbone(folder / "bert")

    def build() -> Method:
        torch.manual_seed(1)
        return method(method.Config.model_validate({"max_length": 16}), Networks(backbone, pooling="mean"))

    violations = {}
    for law in check_laws(build, tiny.rows(40), TrainConfig.model_validate(tiny.TRAIN), file):
        if law.fault:
            violations[law.name] = law.fault
        if law.name == until:
            break
    return violations


def changed(old: str, new: str) -> str:
    assert old in SAME
    return SAME.replace(old, new)


RETURN = "        return Loss(info_nce(first, second, temperature=self.config.temperature), {})"
COLLATE = """
    def collate(self, rows, *, step, rng):
        import random

        found = super().collate(rows, step=step, rng=rng)
        return {**found, "noise": torch.rand(3)}
"""
COUNTS = """
        self.count = getattr(self, "count", 0) + 1
        loss = info_nce(first, second, temperature=self.config.temperature)
        return Loss(loss * self.count, {})
"""
GROWS = """
        self.register_buffer("queue", first.detach())
        return Loss(info_nce(first, second, temperature=self.config.temperature), {})
"""
INACTIVE = "        return Loss(((first - second).float().norm(dim=-1) - 1e6).relu().mean(), {})"
"""A hinge that no pair of the first batch reaches."""
LOUDER = SAME.replace(
    "    def loss",
    """        self.calls = 0
        self.encoder.backbone.embeddings.register_forward_hook(self.louder)

    def louder(self, layer, given, made):
        self.calls += 1
        return made * self.calls

    def loss""",
)
"""A hook whose effect grows with each call."""
BEHIND_ZEROS = SAME.replace(
    "    def loss",
    """        self.encoder.requires_grad_(False)
        for layer in self.encoder.backbone.encoder.layer:
            layer.output.dense.weight.data.zero_()
        layer.intermediate.requires_grad_(True)

    def loss""",
)
"""Trains one layer, whose output a frozen layer of zeros takes: so is the small encoder at its start."""
LOSS, GRADIENT, PURE, SEED, RESUME, STATE, ATTACHED, VECTORS, SAVED = LAWS


@pytest.mark.parametrize(
    ("source", "law", "said"),
    [
        (changed("info_nce(first, second", "0 / 0 * info_nce(first, second"), LOSS, "toy.py:25: Zero"),
        (changed("info_nce(first, second", "float('nan') * info_nce(first, second"), LOSS, "is nan before"),
        (changed("info_nce(first, second", "first.sum().abs().neg().log() * info_nce(first, second"), LOSS,
         "loss is nan before the first step: toy.py:25: log of values from -"),
        (changed("info_nce(first, second", "(first @ second.T / 1e-9).exp().mean() * info_nce(first, second"),
         LOSS, "loss is inf before the first step: toy.py:25: exp of values from"),
        (changed("info_nce(first, second", "(0 * first.sum()).sqrt() + info_nce(first, second"), GRADIENT,
         "weight is not finite before the first step: toy.py:25: the gradient of sqrt is inf"),
        (changed("Loss(info_nce", "Loss(torch.ones(2) * info_nce"), LOSS, "shape [2]; return its mean"),
        (changed(RETURN, "        return Loss((first @ second.T).mean(), {})"), LOSS,
         "autocast is torch.bfloat16: there the product of fp32 vectors has it too; compute it within"),
        (changed("info_nce(first, second", "info_nce(first.detach(), second.detach()"), GRADIENT, "no graph"),
        (changed("self.head(self.encoder(tokens))", "self.head(self.encoder(tokens).detach())"), GRADIENT,
         "no parameter of self.encoder"),
        (changed(RETURN, INACTIVE), GRADIENT, "exactly zero: the loss is constant there (an inactive hinge"),
        (changed(RETURN, "        return info_nce(first, second, temperature=0.05)"), LOSS,
         "return Loss(total, {})"),
        (SAME + COLLATE.replace("torch.rand(3)", "random.random()"), PURE, "draw only from `rng`"),
        (SAME + COLLATE, PURE, "draw only from `rng`"),
        (changed("self.config.temperature)", "0.05 + __import__('time').time() % 1)"), SEED, "with one seed"),
        (changed(RETURN, COUNTS), RESUME, "registered buffer"),
        (changed(RETURN, GROWS), STATE, "queue; create it in __init__"),
        (LOUDER, ATTACHED, "self.encoder(tokens) differs before training"),
    ],
)  # fmt: skip
def test_a_broken_law_is_described_in_the_authors_terms(
    source: str, law: str, said: str, tmp_path: Path
) -> None:
    assert said in laws_of(source, tmp_path, until=law)[law]


@pytest.mark.parametrize(
    ("source", "law"),
    [
        (changed("info_nce(", "first.sum().abs().neg().log() * info_nce("), LOSS),
        (changed("info_nce(", "(0 * first.sum()).sqrt() + info_nce("), GRADIENT),
        (changed(RETURN, f"        self.step = getattr(self, 'step', 0) + 1\n        first = first / "
         f"(self.step < 3)\n{RETURN}"), SEED),
    ],
)  # fmt: skip
def test_a_loss_that_is_not_finite_is_said_by_one_law(source: str, law: str, tmp_path: Path) -> None:
    """The laws that train meet it too, and a rate is the cause only after the first step."""
    ((name, fault),) = laws_of(source, tmp_path).items()
    assert name == law
    assert ("lower the learning rate" in fault) is (law == SEED)


def test_a_trained_layer_behind_frozen_zeros_is_not_blamed_on_the_loss(tmp_path: Path) -> None:
    assert GRADIENT not in laws_of(BEHIND_ZEROS, tmp_path, until=GRADIENT)


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        (SAME, ["--set", "temprature=1"], "did you mean temperature"),
        (
            SAME,
            ["--set", "parent=minilm-l6"],
            "--set parent=minilm-l6: is no setting; write --teacher minilm-l6",
        ),
        (SAME, ["--set", "seeds=20"], "--set seeds=20: is no setting; write --seeds 20"),
        (SAME, ["--set", "temperature=warm", "--fresh"], 'temperature is "warm"'),
        (SAME, ["--against", "pcl2"], "did you mean pcl, dclr?"),
        (SAME, ["--out", "."], "contains other files"),
        (SAME.replace("float = 0.05", "float\n    margin: float"), [], "no value of temperature, margin"),
        (SAME.replace("class MyCSE(Method)", "class MyCSE"), [], "mycse.py: must define exactly one"),
        (SAME.replace("import torch\n", "import torhc\n"), [], "mycse.py:3: ModuleNotFoundError"),
    ],
)
def test_bad_input_is_one_line_without_training(
    empty: Path, refused: Callable[..., str], source: str, words: list[str], said: str
) -> None:
    Path("mycse.py").write_text(source)
    assert said in refused("try", "mycse.py", *words)
    assert not list(empty.glob("try/*/artefacts"))


def tried(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """Returns the output of a successful trial, and its progress notes."""
    assert main(["try", "mycse.py", "--seeds", "1", *words]) == 0
    said = capsys.readouterr()
    return said.out, said.err


def test_others_with_other_settings_are_trained_here_and_the_first_lines_state_the_cost(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundredth of an hour for each run: 36 s times the number of runs."""
    monkeypatch.setattr(try_runs.Estimate, "run", lambda estimate, run: SimpleNamespace(cpu_hours=0.01))
    Path("mycse.py").write_text(SAME)
    table, notes = tried(capsys)
    why = "simcse-small: trained here, its committed results are not reused: their settings have changed"
    first, second, *_ = notes.splitlines()
    assert first == f"sentbench: {why}"
    stated = re.fullmatch(r"sentbench: (\d+) runs to train: 1 of mycse, 1 of simcse-small.*; (.*)", second)
    assert stated
    assert stated[2] == f"about {duration(36 * int(stated[1]))} on one core"
    assert why in table
    assert "0 won, 0 lost, 0 inconclusive, 1 equal of 1 test sets" in table


def test_with_another_torch_no_result_is_reused_and_a_line_says_so_before_imports(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the method is imported after it, which loads torch."""
    monkeypatch.setattr("harness.commands.try_reuse.library_versions", lambda: {"torch": "2.9.0"})
    Path("mycse.py").write_text("import torhc\n" + SAME)
    assert main(["try", "mycse.py"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("sentbench: the committed results were computed with torch 2.")
    assert first.endswith("here is 2.9.0: the systems to compare with are trained here too")
    assert "torhc" in second
    Path("mycse.py").write_text(SAME)
    table, notes = tried(capsys)
    assert "1 of simcse-small" in notes
    assert "1 equal of 1 test sets" in table


def test_rows_of_other_libraries_are_ranked_with_a_mark(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code and data are taken as equal; the system to compare with is trained here."""
    monkeypatch.setattr("harness.commands.try_reuse.library_versions", lambda: {"torch": "2.9.0"})
    for name in ("code_differs", "data_differ"):
        monkeypatch.setattr(f"harness.commands.try_reuse.{name}", lambda *given: "")
    Path("mycse.py").write_text(SAME)
    table, _ = tried(capsys)
    marked = re.findall(r"^\d+ +(\S+)@words-50d †", table, re.MULTILINE)
    assert {"pcl-small", "distill-small"} <= set(marked)
    assert not {"mycse", "simcse-small"} & set(marked)
    assert re.search(r"^† the committed results were computed with torch .*, here is 2.9.0$", table, re.M)
    assert "simcse-small: 0 of 1 results are bit-identical to the committed ones" in table


def test_a_teacher_is_named_by_an_option(tmp_path: Path) -> None:
    small = load_recipes()["small"]
    taught = small.systems["distill-small"]
    own = taught.model_copy(update={"parent": None, "corpus": "wiki-small"})
    assert with_teacher(own, "minilm-l6", small, corpus=corpus_of_teachers(small)) == taught
    with pytest.raises(InputError, match=r"needs a teacher's vectors: name it, .* --teacher minilm-l6"):
        with_teacher(own, None, small)
    with pytest.raises(InputError, match="did you mean minilm-l6"):
        with_teacher(own, "minilm6", small)
    with pytest.raises(InputError, match="simcse reads none"):
        with_teacher(small.systems["simcse-small"], "minilm-l6", small)
    reads_encoder = small.systems["dclr-small"].model_copy(update={"parent": None})
    assert with_teacher(reads_encoder, "simcse-small", small) == small.systems["dclr-small"]


def test_trials_share_a_backbone_until_its_data_change(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy has the bytes of the folder that was made; other words make another one."""

    class Planned(Exception):
        """Ends a trial when its folders are made."""

    def stop(session: Any) -> Any:
        raise Planned

    monkeypatch.setattr("harness.commands.try_jobs.perform", stop)
    Path("mycse.py").write_text(SAME)
    made = []
    for out in ("a", "b", "c"):
        if out == "c":
            data = empty.parent / "data"
            (data / "wiki-small/wiki.txt").write_text("a dog sleeps\n" * 80)
            (data / "wiki-small/source.json").unlink()
            write_source_record(data / "wiki-small")
        with pytest.raises(Planned):
            main(["try", "mycse.py", "--fresh", "--seeds", "1", "--out", out])
        made.append((capsys.readouterr().err, sha256_of_folder(Path(out, "backbones/words-50d"))))
    (first, one), (second, two), (third, three) = made
    kept = "sentbench: backbones/words-50d: of an earlier trial"
    assert [kept in notes.splitlines() for notes in (first, second, third)] == [False, True, False]
    assert one == two != three


def as_recipes_are(result: ResultFile, params: Params) -> str:
    """Simulates code and settings equal to the committed results."""
    return ""


def test_a_trial_that_was_run_before_says_that_nothing_is_trained(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then seed 1 is added: a run of each system, while the controls have the first seed only."""
    Path("mycse.py").write_text(SAME)
    first, notes = tried(capsys, "--fresh")
    assert "runs to train: 1 of mycse, 1 of simcse-small" in notes
    assert re.findall(r"^\[\d/\d\]", notes, re.MULTILINE) == ["[1/3]", "[2/3]", "[3/3]"]
    second, notes = tried(capsys, "--fresh")
    assert second == first
    assert notes == "sentbench: no run to train: all 3 were trained before\n"
    _, notes = tried(capsys, "--fresh", "--seeds", "2")
    assert "sentbench: 2 runs to train: 1 of mycse, 1 of simcse-small; about " in notes
    assert "on one core; 3 were trained before\n" in notes
    assert re.findall(r"^\[\d/\d\] \w+-?\w*__words-50d__s1", notes, re.MULTILINE) == [
        "[1/2] mycse__words-50d__s1",
        "[2/2] simcse-small__words-50d__s1",
    ]


def test_results_on_other_data_are_trained_again_on_these(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.commands.try_runs.code_differs", as_recipes_are)
    Path("mycse.py").write_text(SAME)
    table, notes = tried(capsys)
    assert "runs to train: 1 of mycse, 1 of simcse-small" in notes
    assert "its committed results are not reused: the data of stsb differ" in table
    assert "1 equal of 1 test sets" in table


def test_a_method_that_breaks_a_law_is_not_trained(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mycse.py").write_text(changed("info_nce(first, second", "info_nce(first.detach(), second.detach()"))
    assert main(["try", "mycse.py", "--fresh"]) == 1
    assert "FAILS  the gradient reaches the encoder: loss has no graph" in capsys.readouterr().out
    assert not Path("try/mycse/artefacts").exists()


def test_an_error_in_the_loss_is_reported_once_with_its_line_and_the_laws_that_need_the_loss_are_named(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name is wrong in line 25; collate and the saved encoder do not need the loss."""
    Path("mycse.py").write_text(changed("Loss(info_nce(", "Loss(info_nec("))
    assert main(["try", "mycse.py", "--fresh", "--seeds", "1"]) == 1
    out = capsys.readouterr().out
    assert out.count("info_nec") == out.count("FAILS") == 1
    assert f"FAILS  {LOSS}: {empty}/mycse.py:25: NameError: name 'info_nec' is not defined" in out
    assert [line.removeprefix("holds  ") for line in out.splitlines() if line.startswith("holds")] == [
        PURE,
        SAVED,
    ]
    assert out.splitlines()[-2:] == [
        "not checked, for they meet the same error: "
        + ", ".join([GRADIENT, SEED, RESUME, STATE, ATTACHED, VECTORS]),
        "nothing was trained: 1 of 9 laws do not hold",
    ]


def test_an_error_of_the_method_in_training_is_one_line_with_its_place(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a BatchNorm whose last batch has one sentence: the laws train four steps, the trial six."""
    fails = "torch.nn.functional.batch_norm(first[:1], None, None, training=True)"
    Path("mycse.py").write_text(changed(RETURN, f"        if self.total_steps > 4: {fails}\n{RETURN}"))
    words = ["try", "mycse.py", "--fresh", "--seeds", "1", "--set", "steps=6", "--set", "save_every=6"]
    assert main(words) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(
        f"sentbench: {empty}/mycse.py:25: ValueError: Expected more than 1 value per channel"
    )


@pytest.mark.thorough
def test_a_loop_over_settings_has_a_dev_score_to_choose_by(empty: Path, printed: Callable[..., str]) -> None:
    Path("mycse.py").write_text(SAME)
    for value in ("0.05", "5"):
        said = printed(
            "try",
            "mycse.py",
            "--fresh",
            "--seeds",
            "1",
            "--set",
            f"temperature={value}",
            "--out",
            f"t/{value}",
        )
        (line,) = [line for line in said.splitlines() if line.startswith("mycse on STS-B dev: ")]
        (run,) = Path(f"t/{value}/artefacts").glob("mycse__*/run.json")
        best = json.loads(run.read_text())["selection"]["best_dev"]
        assert line.split()[4].strip(",") == f"{100 * best:.2f}"


def test_full_scale_writes_a_recipe_that_a_plan_reads(empty: Path, printed: Callable[..., str]) -> None:
    Path("mycse.py").write_text(SAME)
    said = printed("try", "mycse.py", "--scale", "full", "--seeds", "5")
    assert "mycse-full                   bert-base-uncased       5    0  15,625 of 64" in said
    del METHODS["mycse"]
    assert "a step of mycse was not measured and counts like one of simcse\n" in said
    planned = printed("--include", "try/mycse", "plan", "mycse-full", "--dry-run", "--seeds", "5")
    row = next(line for line in said.splitlines() if line.startswith("mycse-full "))
    assert row in planned.splitlines()
    assert "a step of mycse was not measured and counts like one of simcse\n" in planned
    assert all(float(hours.replace(",", "")) > 0 for hours in row.split()[7:9])


@pytest.mark.parametrize("seeds", [2, 7])
def test_the_system_to_compare_with_is_priced_with_as_many_seeds(
    seeds: int, empty: Path, printed: Callable[..., str]
) -> None:
    Path("mycse.py").write_text(SAME)
    said = printed("try", "mycse.py", "--scale", "full", "--seeds", str(seeds))
    rows = [line.split() for line in said.splitlines() if " bert-base-uncased " in line]
    assert {(row[0], row[2]) for row in rows} == {("mycse-full", str(seeds)), ("simcse", str(seeds))}


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "source", "ends"),
    [
        ("mycse", SAME, "0 won, 0 lost, 0 inconclusive, 6 equal"),
        ("forgets", FORGETS, "0 won, 6 lost, 0 inconclusive, 0 equal"),
        ("apart", APART, "0 won, 6 lost, 0 inconclusive, 0 equal"),
    ],
)
def test_simcse_equals_itself_and_a_method_that_forgets_and_the_negated_loss_lose(
    name: str,
    source: str,
    ends: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    printed: Callable[..., str],
) -> None:
    """A minute each on one core; needs the data of the small plan, which the package registry has.

    The last case is a statement of docs/small-setting.md: a loss is told from its negation.
    """
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.py").write_text(source)
    said = printed("try", f"{name}.py")
    assert f"{name}@words-50d: {ends} of 6 test sets" in said
    assert ("is the sign of the loss right" in said) == (name != "mycse")
