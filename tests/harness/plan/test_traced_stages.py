"""What runs in a stage is part of its identity: every call of a whole stage is recorded.

And every statement of the modules that perform stages counts: each is changed, and the fingerprint changes.
"""

import ast
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from harness.commands.stage import collect_further, make_backbone, make_corpus, make_teacher
from harness.commands.stage_of_run import evaluate, train
from harness.io.fingerprint import _parse
from harness.paths import INSTALLED as ROOT
from harness.plan.entries import Params
from harness.plan.identity import FIXED_STAGES, code_base, evaluation_roots, report_roots, training_roots
from harness.plan.params_file import read_params
from tests.faults.small_project import write_stsb
from tests.support import tiny
from tests.support.samples import write_words

NOT_OF_THE_CODE = {
    "harness/data/download": "finds and fetches data, whose bytes are hashed",
    "harness/data/providers": "names the order of providers of a download",
    "harness/data/kept_texts": "keeps converted texts by a hash of all that they are made from",
    "harness/paths": "names folders, whose content is hashed",
    "harness/commands/stage_of_run": "shows an evaluation",
    "harness/plan/identity": "names kept vectors by all that determines them",
    "harness/io/fingerprint": "hashes the code for that name",
}
"""Modules that run in a stage and are not part of its identity -> why they decide no number."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("project")
    write_words(folder / "data/vectors")
    (folder / "data/words").mkdir()
    (folder / "data/words/words.txt").write_text("".join(f"{row.text}\n" for row in tiny.rows()))
    write_stsb(folder / "data/stsb")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SENTBENCH_PROVIDERS", "embedded")
        yield folder


def planned() -> Params:
    """A plan with a backbone over word vectors, a corpus of edits, a teacher of it and its student."""
    params = read_params(ROOT / "params.yaml")
    shape = params.backbones["words-50d"].model_dump()["shape"] | {"vocabulary": 9, "copies": 1, "inner": 8}
    links = {"source": "data/stsb", "after": "data/stsb"}
    run = params.runs["congen-small__words-50d__s0"].model_dump()
    run |= {"backbone": "backbones/words", "corpus": "corpora/edited", "parent": "teachers/teacher"}
    run |= {"tasks": ["STSB", "STSB-dev"], "weights": "both"}
    run["train"] |= {"steps": 2, "batch_size": 4, "eval_every": 1}
    run["config"] |= {"queue_size": 8}
    edits = [view for view in params.corpora["wiki-small-views"].views if view["kind"] in ("delete", "swap")]
    further = {"seed": 1, "outputs": ".further/student__words"}
    raw = {
        "sources": {},
        "backbones": {
            "words": {"origin": "data/vectors", "corpus": "data/words", "layers": None, "shape": shape}
        },
        "corpora": {
            "edited": {
                "origin": "data/words",
                "tool": "data/words",
                "seed": 0,
                "rows": None,
                "arithmetic": "portable",
                "views": edits,
            }
        },
        "teachers": {
            "teacher": {"encoder": "backbones/words", "corpus": "corpora/edited", "arithmetic": "portable"}
        },
        "reads": {"selection-senteval": links, "evaluation-senteval": links},
        "runs": {"student__words__s0": run, "student__words__s1": run | further},
        "further": {"student__words": [1]},
    }
    return Params.model_validate(params.model_dump() | raw)


PERFORMED: dict[str, Callable[[Params], Any]] = {
    "backbone": lambda params: make_backbone(params, "words"),
    "corpus": lambda params: make_corpus(params, "edited"),
    "teacher": lambda params: make_teacher(params, "teacher"),
    "train": lambda params: [
        train(params, key, Path("artefacts") / key, device="cpu", resume=False) for key in params.runs
    ],
    "evaluate": lambda params: [
        evaluate(params, key, Path("artefacts") / key, device="cpu") for key in params.runs
    ],
    "further": lambda params: collect_further(params, "student__words"),
}
"""Stages in the order of the pipeline."""


def traced(perform: Callable[[], Any]) -> tuple[set[str], Any]:
    """Returns the project's modules that a call runs, also in threads, as paths, and its result."""
    files: set[str] = set()

    def seen(frame: FrameType, event: str, argument: object) -> None:
        files.add(frame.f_code.co_filename)

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        result = perform()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = {Path(file).relative_to(ROOT) for file in files if file.startswith(f"{ROOT}/")}
    modules = {path.with_suffix("").as_posix() for path in ours if path.parts[0] in ("harness", "methods")}
    return modules, result


def roots(stage: str) -> tuple[str, ...]:
    if stage == "train":
        return training_roots("congen")
    return evaluation_roots(["STSB", "STSB-dev"]) if stage == "evaluate" else FIXED_STAGES[stage]


def test_every_module_that_runs_in_a_stage_is_part_of_its_identity(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params, code, used = planned(), code_base(), set[str]()
    for stage, perform in PERFORMED.items():
        module = import_module(f"harness.stages.{stage}")
        ran = set[str]()

        def recorded(inputs: Any, run: Any = module.run, ran: set[str] = ran) -> Any:
            files, result = traced(lambda: run(inputs))
            ran |= files
            return result

        monkeypatch.setattr(module, "run", recorded)
        perform(params)
        known = {path.relative_to(ROOT).with_suffix("").as_posix() for path in code.closure(roots(stage))}
        assert f"harness/stages/{stage}" in ran
        used |= ran - known
    assert used == {*NOT_OF_THE_CODE}


PAIRS = "Add Sub, Mult Div, Pow Mod, BitOr BitAnd, And Or, Eq NotEq, Lt LtE, Gt GtE, Is IsNot, Not UAdd"
OTHER: dict[type[ast.AST], ast.AST] = {
    getattr(ast, name): getattr(ast, other)()
    for pair in PAIRS.split(", ")
    for name, other in (pair.split(), pair.split()[::-1])
}
"""Operators, each with the one that replaces it."""


def other_value(value: Any) -> Any:
    """Returns another value of the type; 0 for None."""
    if isinstance(value, str | bytes):
        return value + value[:1] + type(value)("x" if isinstance(value, str) else b"x")
    if isinstance(value, bool):
        return not value
    return 0 if value is None else value + 1


def changed(node: ast.AST) -> Iterator[None]:
    """Changes a node in each way that its kind has; when resumed, it is as before."""
    if isinstance(node, ast.Constant):
        kept, node.value = node.value, other_value(node.value)
        yield
        node.value = kept
    for field in ("args", "keywords", "elts"):
        parts = getattr(node, field, None)
        if isinstance(node, ast.Call | ast.Tuple | ast.List) and parts:
            left_out = parts.pop()
            yield
            parts.append(left_out)
    operator = getattr(node, "op", None) or next(iter(getattr(node, "ops", ())), None)
    if type(operator) in OTHER:
        if hasattr(node, "ops"):
            node.ops[0] = OTHER[type(operator)]
            yield
            node.ops[0] = operator
        else:
            node.op = OTHER[type(operator)]  # type: ignore[attr-defined]
            yield
            node.op = operator  # type: ignore[attr-defined]


def executable(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yields every statement but bare strings, which document."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            yield node


def own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yields the parts of a statement without the statements inside it."""
    waiting = list(ast.iter_child_nodes(statement))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.stmt):
            yield node
            waiting += ast.iter_child_nodes(node)


def stage_of(path: Path) -> str:
    """Returns a stage whose code a module is part of."""
    name = path.stem
    return name if name in PERFORMED or name == "report" else {"vectors": "evaluate"}.get(name, "train")


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "harness/stages").glob("*.py")), ROOT / "harness/process.py"],
    ids=lambda path: path.stem,
)
def test_every_changed_statement_of_a_stage_changes_its_fingerprint(path: Path) -> None:
    """An argument left out, another constant, another operator: one of each kind in every statement."""
    code = code_base()
    names = report_roots(code) if path.stem == "report" else roots(stage_of(path))
    before, tree, count = code.fingerprint(names), ast.parse(path.read_text(encoding="utf-8")), 0
    package = ".".join(path.relative_to(ROOT).parts[:-1])
    for statement in executable(tree):
        kinds = set[type[ast.AST]]()
        for part in own_parts(statement):
            if type(part) in kinds:
                continue
            for _ in changed(part):
                kinds.add(type(part))
                code._codes[path] = _parse.__wrapped__(ast.unparse(tree), str(path), package)
                assert code.fingerprint(names) != before, f"{path}:{statement.lineno}"
                count += 1
    assert count >= 5 or path.stem in ("__init__", "inputs")
    code._codes[path] = _parse.__wrapped__(ast.unparse(tree), str(path), package)
    assert code.fingerprint(names) == before


def test_a_comment_a_docstring_or_a_blank_line_changes_no_fingerprint() -> None:
    path, code = ROOT / "harness/stages/train.py", code_base()
    before, text = code.fingerprint(training_roots("simcse")), path.read_text(encoding="utf-8")
    for new in (
        f"# a comment\n{text}",
        text.replace("    entry, state =", "\n    entry, state  =  "),
        text.replace('"""Returns the method of a run', '"""Another docstring'),
    ):
        assert new != text
        code._codes[path] = _parse(new, str(path), "harness.stages")
        assert code.fingerprint(training_roots("simcse")) == before
