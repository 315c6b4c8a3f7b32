"""Files are replaced as a whole: outside `harness.io`, nothing writes into a place where others read."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITERS = {"write_text", "write_bytes", "touch", "rename", "replace", "symlink_to", "hardlink_to"}
NEW_FOLDERS = {
    "harness/commands/publish.py publish": "into the new folder, which is exchanged",
    "harness/data/conversions.py": "into the new folder of a source",
    "harness/data/providers.py": "into the new folder of a source",
    "harness/stages/corpus.py run": "into the new folder of a corpus",
    "harness/stages/report.py write_report": "into the new folders of the report",
}
LOGS = {
    "harness/commands/try_runs.py open": "links to the folders of the data",
    "harness/commands/stage_of_run.py": "the name of a run in its own folder of states",
    "harness/launch/scheduler.py": "appends to a log",
    "harness/launch/worker.py": "appends to a log",
}
KNOWN = NEW_FOLDERS | LOGS


def writes(path: Path) -> set[str]:
    """Returns the functions of a file that write, replace or link a file by themselves."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT).as_posix()
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for call in [node for node in ast.walk(function) if isinstance(node, ast.Call)]:
            if is_write(call):
                found.add(f"{name} {function.name}")
    return found


def is_write(call: ast.Call) -> bool:
    called = call.func
    if isinstance(called, ast.Attribute) and called.attr in WRITERS:
        # str.replace and dataclasses.replace have two values, or names
        return called.attr != "replace" or (len(call.args) == 1 and not call.keywords)
    is_open = (isinstance(called, ast.Name) and called.id == "open") or (
        isinstance(called, ast.Attribute) and called.attr == "open"
    )
    modes = [
        word.value for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)
    ]
    return is_open and any(set(mode) <= set("rwabt+x") and set(mode) & set("wax+") for mode in modes)


def test_what_writes_a_file_outside_the_disks_room_is_known() -> None:
    files = [
        path
        for room in ("harness", "sentbench")
        for path in sorted((ROOT / room).rglob("*.py"))
        if ROOT / "harness/io" not in path.parents
    ]
    found = {place for path in files for place in writes(path)}
    unknown = {place for place in found if place not in KNOWN and place.split()[0] not in KNOWN}
    assert not unknown, "use write_text, write_json or new_outputs of harness.io, which replace a whole file"
    unused = {known for known in KNOWN if not any(place.startswith(known) for place in found)}
    assert not unused, "no longer write"


REMOVERS = {"unlink", "rmtree", "rmdir", "removedirs", "discard"}
REMOVALS = {
    "harness/commands/stage.py make_corpus": "the state of a corpus that is complete",
    "harness/commands/stage_of_run.py remove_state": "of a training, before a new one and after its artefact",
    "harness/commands/stage_of_run.py work_folder": "files of a stage that were taken over",
    "harness/data/download.py _bring_and_make": "inputs, in the new folder of a source",
    "harness/data/providers.py": "a part of a download, in the new folder of a source",
    "harness/launch/failures.py discard_damaged_locks": "a damaged lock of DVC",
    "harness/models/hub.py": "a damaged file of the client's cache, which is downloaded again",
    "harness/plan/fingerprints.py write_code_fingerprints": "fingerprints of stages that the plan lacks",
}


def removals(path: Path) -> set[str]:
    """Returns the functions of a file that remove files or folders by themselves."""
    name = path.relative_to(ROOT).as_posix()
    return {
        f"{name} {function.name}"
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and is_removal(call)
    }


def is_removal(call: ast.Call) -> bool:
    called = call.func
    if isinstance(called, ast.Attribute):
        of = called.value.id if isinstance(called.value, ast.Name) else ""
        return called.attr in REMOVERS - {"discard"} or (called.attr == "remove" and of == "os")
    return isinstance(called, ast.Name) and called.id in REMOVERS


def test_what_removes_a_file_outside_the_disks_room_is_known() -> None:
    """A file that is written again is replaced, not removed before: a kill in between would lose it."""
    files = [path for room in ("harness", "sentbench") for path in sorted((ROOT / room).rglob("*.py"))]
    found = {place for path in files if ROOT / "harness/io" not in path.parents for place in removals(path)}
    assert not {place for place in found if place not in REMOVALS and place.split()[0] not in REMOVALS}
    assert not {known for known in REMOVALS if not any(place.startswith(known) for place in found)}


def test_a_removal_is_recognised_by_its_form() -> None:
    forms = ("p.unlink()", "p.unlink(missing_ok=True)", "shutil.rmtree(p)", "os.remove(p)", "discard(p)")
    others = ("names.remove(n)", "names.discard(n)", "p.is_file()")
    for code in (*forms, *others):
        (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        assert is_removal(call) is (code in forms), code


def test_a_write_is_recognised_by_its_form() -> None:
    for code in (
        "open(p, 'w')",
        "p.open('a', encoding='x')",
        "p.write_text('')",
        "a.replace(b)",
        "p.touch()",
    ):
        (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        assert is_write(call), code
    for code in ("open(p)", "p.open('rb')", "text.replace('a', 'b')", "replace(a, b=1)", "tarfile.open(x)"):
        (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        assert not is_write(call), code
