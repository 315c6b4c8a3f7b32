"""A row for each argument of each command, by the ways through the command: where an unusual value arrives,
or that it is refused.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple


class InTurn(tuple[Any, ...]):
    """The values of a parameter in the calls of a stub, in their order."""


class Arrives(NamedTuple):
    """Words with an unusual value, and the value that a parameter then has in every call of a stub."""

    words: list[str]
    at: Mapping[str, Any]


class Given(NamedTuple):
    """The parameters that have the value of a positional argument in every call of a stub."""

    at: Mapping[str, Any]


class Shows(NamedTuple):
    """Words that change the output: the check holds with them and not without."""

    words: list[str]
    check: Callable[[str], bool]


class Refused(NamedTuple):
    """Words that the command refuses on this way, by a line with the option."""

    words: list[str]


class NoEffect(NamedTuple):
    """An option that a command may take without an effect on this way, and why."""

    why: str


Row = Arrives | Given | Shows | Refused | NoEffect


class Way(NamedTuple):
    """A way through a command: its words, the stubs (None ends the command) and the row of each argument."""

    words: list[str]
    stubs: Mapping[str, Callable[..., Any] | None]
    rows: Mapping[str, Row]


def nothing(*given: Any, **options: Any) -> None:
    """A step without an effect."""


def is_json(output: str) -> bool:
    try:
        return json.loads(output) is not None
    except ValueError:
        return False


@contextmanager
def pipeline(*given: Any, **options: Any) -> Iterator[Any]:
    yield SimpleNamespace(order={}, commands={})


TABLE = "una/table1"
JSON: Row = Shows(["--json"], is_json)
ROOMY = SimpleNamespace(failed={}, interrupted=0, skipped=[], summary="", run=nothing)


def verify() -> Iterator[tuple[str, Way]]:
    verify, large = "harness.commands.verify", ["--backbone", "roberta-base"]
    judged = {"table": TABLE, "row": "BERT-base UNA", "column": "Avg"}
    yield (
        "number",
        Way(
            ["verify", *judged.values()],
            {f"{verify}:judged_in": None},
            {name: Given({f"judged_in.{name}": value}) for name, value in judged.items()}
            | {"--backbone": NoEffect("see `judged`"), "--json": NoEffect("see `judged`")},
        ),
    )
    yield (
        "judged",
        Way(
            ["verify", "pcl/table2", "SimCSE", "Avg"],
            {},
            dict.fromkeys(judged, NoEffect("see `number`"))
            | {
                "--json": JSON,
                "--backbone": Shows(["--backbone", "roberta-large"], lambda out: "@roberta-base" not in out),
            },
        ),
    )
    yield (
        "search",
        Way(
            ["verify", "76.14"],
            {"harness.evidence.search:numbers_like": None},
            {"table": Given({"numbers_like.text": "76.14"})}
            | dict.fromkeys(("row", "column"), NoEffect("not given"))
            | dict.fromkeys(("--backbone", "--json"), NoEffect("see `found`")),
        ),
    )
    shows = Shows(large, lambda out: "roberta-base" in out and "bert-base-uncased" not in out)
    for name, words in {"found": ["verify", "una"], "rows": ["verify", TABLE]}.items():
        listed = dict.fromkeys(("table", "row", "column"), NoEffect("see `search`"))
        yield name, Way(words, {}, {**listed, "--json": JSON, "--backbone": shows})


def list_() -> Iterator[tuple[str, Way]]:
    way = Way(["list", "methods"], {}, {"what": Given({"listing.what": "methods"}), "--json": JSON})
    yield "listing", way._replace(stubs={"harness.commands.list:listing": lambda what: [{"name": what}]})


def report() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.report"
    stubs: dict[str, Any] = {f"{command}:read_plan": nothing}
    stubs |= {f"{command}:report": lambda plan, recipes, *, strict: 0}
    stubs |= {f"{command}:warn_if_stale": nothing, f"{command}:to_terminal": lambda table: "table"}
    stubs[f"{command}:build_one_table"] = nothing
    prints = Arrives(["--print", TABLE], {"build_one_table.key": TABLE})
    rows: dict[str, Row] = {"--print": prints, "--strict": Arrives(["--strict"], {"report.strict": True})}
    yield "report", Way(["report"], stubs, rows)
    yield (
        "table",
        Way(
            ["report", "--print", TABLE],
            stubs,
            {"--print": Given(prints.at), "--strict": Refused(["--strict"])},
        ),
    )


def plan() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.plan"
    rows: dict[str, Row] = {
        "names": Given({"resolve.names": ["small", "ct"]}),
        "--seeds": Arrives(["--seeds", "7"], {"resolve.seeds": 7}),
        "--backbone": Arrives(["--backbone", "a", "--backbone", "b"], {"resolve.backbones": ["a", "b"]}),
        "--arithmetic": Arrives(["--arithmetic", "native"], {"resolve.arithmetic": "native"}),
        "--precision": Arrives(["--precision", "bf16"], {"resolve.precision": "bf16"}),
        "--dry-run": NoEffect("see `written`"),
    }
    yield "resolved", Way(["plan", "small", "ct"], {f"{command}:resolve": None}, rows)
    stubs: dict[str, Any] = {f"{command}:check_runs": nothing, f"{command}:describe_plan": lambda params: ""}
    stubs |= {f"{command}:resolve": nothing, f"{command}:write_params": lambda params: True}
    rows = dict.fromkeys(rows, NoEffect("see `resolved`"))
    rows["--dry-run"] = Shows(["--dry-run"], lambda out: "params.yaml written" not in out)
    yield "written", Way(["plan", "small"], {**stubs, f"{command}:warn_if_stale": nothing}, rows)


def data() -> Iterator[tuple[str, Way]]:
    command, names = "harness.commands.data", ["stsb", "sickr"]
    action = NoEffect("each way has another")
    order = Arrives(["--providers", "mirror, hub"], {"fetch_sources.providers": ["mirror", "hub"]})
    yield (
        "fetch",
        Way(
            ["data", "fetch", *names],
            {f"{command}:fetch_sources": nothing},
            {
                "action": action,
                "names": Given({"fetch_sources.names": names}),
                "--providers": order,
                "--revision": Arrives(
                    ["--revision", "refs/pr/9"],
                    {"fetch_sources.revision": "refs/pr/9", "fetch_sources.providers": ["hub"]},
                ),
            },
        ),
    )
    of_each = {"--providers": Refused(order.words), "--revision": Refused(["--revision", "refs/pr/9"])}
    stubs: dict[str, Any] = {
        f"{command}:{name}": nothing for name in ("check_sources", "lock_sources", "read_source_record")
    }
    known = Given({"check_sources.names": names})
    yield "check", Way(["data", "check", *names], stubs, {"action": action, "names": known, **of_each})
    known = Given({"lock_sources.records": dict.fromkeys(names)})
    yield "lock", Way(["data", "lock", *names], stubs, {"action": action, "names": known, **of_each})


def launch() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.launch"
    stubs: dict[str, Any] = {f"{command}:{name}": nothing for name in ("refuse_old_plan", "print_warnings")}
    stubs |= {f"{command}:compute_with": nothing, f"{command}:is_tested": lambda: True}
    stubs |= {f"{command}:open_pipeline": pipeline, f"{command}:read_params": nothing}
    stubs[f"{command}:further_stages"] = lambda params: {"train@a__s9"}
    stubs |= {f"{command}:cores_here": lambda: 8, f"{command}:visible_gpus": lambda: ["0", "1"]}
    stubs |= {f"{command}:forecast": lambda pipeline, jobs: "", f"{command}:LocalExecutor": nothing}
    stubs |= {f"{command}:RayExecutor": nothing, "harness.launch.on_slurm:SlurmExecutor": nothing}
    stubs[f"{command}:Scheduler"] = lambda *given: ROOMY
    common: dict[str, Row] = {
        "targets": Given({"open_pipeline.names": ["train@a", "report"]}),
        "--on": NoEffect("each way has another"),
        "--first-seeds": Arrives(["--first-seeds"], {"open_pipeline.without": {"train@a__s9"}}),
        "--retries": Arrives(["--retries", "2"], {"Scheduler.retries": 2}),
        "--dry-run": Arrives(["--dry-run", "--jobs", "3"], {"forecast.jobs": 3}),
    }
    words = ["launch", "train@a", "report"]
    refused: dict[str, Row] = {"--address": Refused(["--address", "auto"])}
    refused["--slurm"] = Refused(["--slurm", "time=5"])
    local: dict[str, Row] = {
        "--jobs": Arrives(["--jobs", "3"], {"LocalExecutor.slots": 3}),
        "--gpus-per-run": Arrives(["--gpus-per-run", "0.5"], {"LocalExecutor.slots": 4}),
        "--cpus-per-run": Arrives(["--cpus-per-run", "7"], {"LocalExecutor.slots": 1}),
    }
    yield "local", Way(words, stubs, {**common, **refused, **local})
    for kind, stub in {"ray": "RayExecutor", "slurm": "SlurmExecutor"}.items():
        shares: dict[str, Row] = {
            "--jobs": Arrives(["--jobs", "3"], {f"{stub}.jobs": 3}),
            "--gpus-per-run": Arrives(["--gpus-per-run", "0.5"], {f"{stub}.gpus": 0.5}),
            "--cpus-per-run": Arrives(["--cpus-per-run", "7"], {f"{stub}.cpus": 7.0}),
        }
        own = {
            "ray": {"--address": Arrives(["--address", "a:1"], {"RayExecutor.address": "a:1"})},
            "slurm": {"--slurm": Arrives(["--slurm", "time=5"], {"SlurmExecutor.options": {"time": "5"}})},
        }
        yield kind, Way([*words, "--on", kind], stubs, {**common, **refused, **shares, **own[kind]})
    free = NoEffect("a forecast has no executor")
    forecast = {**dict.fromkeys((*common, *local), free), **refused}
    forecast |= {"--jobs": Arrives(["--jobs", "3"], {"forecast.jobs": 3})}
    forecast |= {name: common[name] for name in ("targets", "--first-seeds")}
    yield "forecast", Way([*words, "--dry-run"], stubs, forecast)
    serial = {**dict.fromkeys((*common, *local), NoEffect("a line says: one at a time")), **refused}
    serial |= {"--on": Refused(["--on", "slurm"]), "targets": Given({"run_serially.targets": words[1:]})}
    serial["--dry-run"] = Arrives(["--dry-run"], {"run_serially.dry": True})
    serial["--first-seeds"] = Arrives(["--first-seeds"], {"run_serially.without": {"train@a__s9"}})
    stubs |= {f"{command}:is_tested": lambda: False, f"{command}:run_serially": lambda *given, **more: 0}
    yield "another DVC", Way(words, stubs, serial)


def try_() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.try_method"
    stubs: dict[str, Any] = {f"{command}:committed": lambda backbone: {"kept": []}}
    stubs |= {f"{command}:include_method": lambda file: "mycse", f"{command}:differs_here": lambda known: ""}
    stubs |= {"harness.commands.try_runs:Session": None, f"{command}:write_full": lambda *given, **more: ""}
    stubs[f"{command}:opponents"] = lambda *given: []
    template = SimpleNamespace(backbones=["words-50d"])
    small = SimpleNamespace(systems={"simcse-small": template}, providers=[])
    stubs |= {
        f"{command}:load_recipes": lambda: {"small": small},
        f"{command}:declared_systems": lambda *given: {"simcse": template},
    }
    stubs |= {f"{command}:compute_with": nothing}
    stubs[f"{command}:in_setting_of"] = lambda *given, **more: SimpleNamespace()
    stubs["harness.commands.try_teacher:with_teacher"] = lambda own, *given, **more: own
    stubs["harness.commands.try_teacher:corpus_of_teachers"] = lambda small: "taught"
    setting, teacher = ["--set", "temperature=.1", "--set", "steps=3"], ["--teacher", "minilm-l6"]
    rows: dict[str, Row] = {
        "file": Given({"Session.file": Path("mycse.py"), "include_method.file": Path("mycse.py")}),
        "--against": Arrives(["--against", "pcl,ct"], {"opponents.names": ["pcl", "ct"]}),
        "--seeds": Arrives(["--seeds", "5"], {"in_setting_of.seeds": range(5), "opponents.seeds": 5}),
        "--backbone": Arrives(
            ["--backbone", "l2"],
            {"in_setting_of.backbone": "l2", "opponents.backbone": "l2", "committed.backbone": "l2"},
        ),
        "--teacher": Arrives(teacher, {"with_teacher.name": "minilm-l6"}),
        "--set": Arrives(setting, {"in_setting_of.settings": {"temperature": 0.1, "steps": 3}}),
        "--fresh": Arrives(["--fresh"], {"Session.known": {}}),
        "--scale": Arrives(["--scale", "full"], {"write_full.name": "mycse"}),
        "--out": Arrives(["--out", "there"], {"Session.out": Path("there")}),
    }
    yield "small", Way(["try", "mycse.py"], stubs, rows)
    full: dict[str, Row] = {
        "--against": Refused(["--against", "pcl"]),
        "--backbone": Refused(["--backbone", "minilm-l2"]),
        "--fresh": Refused(["--fresh"]),
        "file": Given({"write_full.file": Path("mycse.py")}),
        "--seeds": Arrives(["--seeds", "5"], {"write_full.seeds": range(5)}),
        "--teacher": Arrives(teacher, {"write_full.teacher": "minilm-l6"}),
        "--set": Arrives(setting, {"write_full.settings": {"temperature": 0.1, "steps": 3}}),
        "--scale": NoEffect("is this way"),
        "--out": Arrives(["--out", "there"], {"write_full.out": Path("there")}),
    }
    words = ["try", "mycse.py", "--scale", "full"]
    yield "full", Way(words, stubs, full)
    del stubs[f"{command}:write_full"]
    stubs["harness.commands.try_teacher:with_teacher"] = None
    taught: dict[str, Row] = dict.fromkeys(full, NoEffect("see `full`"))
    yield "full, taught", Way(words, stubs, {**taught, "--teacher": rows["--teacher"]})


WAYS = {
    "verify": verify,
    "list": list_,
    "report": report,
    "plan": plan,
    "data": data,
    "launch": launch,
    "try": try_,
}
"""The ways through commands that name runs, tables and data."""
