"""The rows of `tests.harness.option_rows` for the commands that read encoders, scores and stages."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.commands.stage import ARGUMENTS, STAGES
from tests.harness.option_rows import (
    JSON,
    Arrives,
    Given,
    InTurn,
    NoEffect,
    Refused,
    Row,
    Shows,
    Way,
    nothing,
)

ENCODER = SimpleNamespace(to=nothing)


def compare() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.compare"
    both: dict[str, Row] = dict.fromkeys(("before", "after"), NoEffect("see the parameter `names`"))
    options: dict[str, list[str]] = {
        "--tasks": ["--tasks", "STSB, sts"],
        "--pooling": ["--pooling", "first-last-avg"],
        "--no-pairs": ["--no-pairs"],
        "--fail-on": ["--fail-on", "gone"],
        "--device": ["--device", "cpu"],
        "--format": ["--format", "github"],
    }
    refused: dict[str, Row] = {name: Refused(words) for name, words in options.items()}
    output: dict[str, Row] = {"--json": NoEffect("test_compare.py: a comparison is needed")}
    arrives: dict[str, dict[str, Row]] = {
        "system": {
            "--tasks": Arrives(options["--tasks"], {"compare_named.tasks": ["STSB", "sts"]}),
            "--no-pairs": Arrives(options["--no-pairs"], {"compare_named.pairs": False}),
        },
        "model": {
            "--tasks": Arrives(options["--tasks"], {"compare.tasks": "STSB, sts"}),
            "--pooling": Arrives(options["--pooling"], {"compare.pooling": "first-last-avg"}),
        },
        "results": {},
    }
    stubs: dict[str, Any] = {f"{command}:compute_with": nothing, "sentbench:compare": None}
    stubs["harness.report.assembly.systems:compare_named"] = None
    for kind, own in arrives.items():
        kinds = {f"{command}:kind_of_both": lambda first, second, kind=kind: kind}
        yield kind, Way(["compare", "a", "b"], stubs | kinds, {**both, **output, **refused, **own})
    ours = SimpleNamespace(provenance=SimpleNamespace(device="cuda"))
    stubs = {f"{command}:kind_of_both": lambda first, second: "state", f"{command}:moves_between": None}
    stubs |= {f"{command}:results_of": lambda name: [ours]}
    cpu = Arrives(options["--device"], {"moves_between.before": [], "moves_between.after": []})
    way = Way(["compare", "a", "b"], stubs, {**both, **output, **refused, "--device": cpu})
    seen = NoEffect("see `state, shown`")
    yield "state", way._replace(rows={**way.rows} | {"--fail-on": seen, "--format": seen})
    stubs |= {f"{command}:moves_between": lambda *given: [], f"{command}:machine_changes": lambda *given: ""}
    stubs |= {f"{command}:fails": nothing, f"{command}:annotated": lambda moves, fail_on: ["annotation"]}
    stubs |= {"harness.plan.stale:warn_if_stale": nothing, f"{command}:to_pull_request": lambda *given: ""}
    shown: dict[str, Row] = dict.fromkeys(way.rows, NoEffect("see `state`"))
    shown["--format"] = Shows(options["--format"], lambda out: out == "annotation\n")
    shown["--fail-on"] = Arrives(["--fail-on", "gone", "--format", "github"], {"annotated.fail_on": "gone"})
    yield "state, shown", Way(["compare", "a", "b"], stubs, {**shown, "--json": JSON})


def evaluate() -> Iterator[tuple[str, Way]]:
    command, task = "harness.commands.evaluate", SimpleNamespace(name="own", source="stsb", texts=list)
    stubs: dict[str, Any] = {f"{command}:compute_with": nothing, f"{command}:model_folder": Path}
    stubs |= {f"{command}:check_encoder_folder": nothing, f"{command}:check_names": nothing}
    stubs |= {f"{command}:check_models": nothing, "harness.commands.vectors:fetch_data": nothing}
    stubs |= {"harness.tasks.registry:tasks_named": lambda names, *, text: [task]}
    stubs |= {"harness.tasks.own_pairs:own_pairs_task": lambda pairs: task}
    stubs |= {"harness.commands.vectors:quiet": nothing, "harness.commands.vectors:resolve_device": str}
    stubs |= {"harness.report.assembly.pairs:score_lines": lambda *given, **more: []}
    stubs |= {"harness.report.assembly.pairs:average_lines": lambda *given: []}
    stubs |= {f"{command}:note_of": lambda tasks, arguments: ""}
    reads = {"harness.models.read:read_encoder": None}
    words: dict[str, list[str]] = {
        "--tasks": ["--tasks", "STSB, sts"],
        "--text": ["--text", "raw"],
        "--pooling": ["--pooling", "first-last-avg"],
        "--device": ["--device", "cuda"],
        "--batch-size": ["--batch-size", "7"],
        "--interval": ["--interval"],
        "--arithmetic": ["--arithmetic", "portable"],
    }
    files = InTurn([Path("a.tsv"), Path("b.csv")])
    rows: dict[str, Row] = {
        "models": Given({"model_folder.named": "there", "read_encoder.folder": Path("there")}),
        "--tasks": Arrives(words["--tasks"], {"tasks_named.names": ["STSB", "sts"]}),
        "--pairs": Arrives(["--pairs", "a.tsv", "--pairs", "b.csv"], {"own_pairs_task.pairs": files}),
        "--text": Arrives(words["--text"], {"tasks_named.text": "raw"}),
        "--pooling": Arrives(words["--pooling"], {"read_encoder.pooling": "first-last-avg"}),
        "--device": Arrives(words["--device"], {"resolve_device.wanted": "cuda"}),
        "--batch-size": NoEffect("see `table`"),
        "--interval": NoEffect("see `table`"),
        "--out": NoEffect("see `table`"),
        "--json": NoEffect("see `table`"),
        "--arithmetic": Arrives(words["--arithmetic"], {"compute_with.arithmetic": "portable"}),
    }
    yield "encoder", Way(["evaluate", "there"], stubs | reads, rows)
    several = {**rows, "models": Given({"check_models.folders": [Path("here"), Path("there")]})}
    pooled = Arrives(words["--pooling"], {"check_models.arguments.pooling": "first-last-avg"})
    several |= {"--pooling": pooled, "--device": NoEffect("see `encoder`")}
    stopped = {**stubs, f"{command}:check_models": None}
    yield "several", Way(["evaluate", "here", "there"], stopped, several)

    stubs |= {"harness.commands.vectors:vectors_of": None, f"{command}:check_models": nothing}
    table: dict[str, Row] = dict.fromkeys(rows, NoEffect("see `encoder`"))
    for name in ("--pooling", "--device", "--batch-size"):
        value = int(words[name][1]) if words[name][1].isdigit() else words[name][1]
        table[name] = Arrives(words[name], {f"vectors_of.{name[2:].replace('-', '_')}": value})
    yield "vectors", Way(["evaluate", "there"], stubs, table)
    interval: dict[str, Row] = dict.fromkeys(rows, NoEffect("see `encoder`"))
    interval["--interval"] = Arrives(["--interval"], {"score_lines.intervals": True})
    opened = {"harness.commands.vectors:vectors_of": lambda *given, **more: nullcontext()}
    opened |= {"harness.report.assembly.pairs:with_intervals": lambda tasks: tasks}
    opened |= {"harness.report.formats.evaluations:to_text": lambda *given: ""}
    yield "scores", Way(["evaluate", "there"], stubs | opened, interval)
    scored: dict[str, Row] = dict.fromkeys(rows, NoEffect("see `encoder`"))
    written: dict[str, Any] = {"check_table.path": InTurn([Path("a.csv"), Path("b.md")])}
    written |= {"write_text.path": InTurn([Path("to.csv"), Path("to.md")])}
    written |= {"table_in.ending": InTurn([".csv", ".md"])}
    scored |= {
        "--text": Arrives(["--text", "raw", "--out", "a.csv"], {"table_in.text": "raw"}),
        "--out": Arrives(["--out", "a.csv", "--out", "b.md"], written),
        "--json": JSON,
    }
    formats = "harness.report.formats.evaluations"
    stubs |= {f"{formats}:check_table": lambda path: Path("to").with_suffix(path.suffix)}
    stubs |= {f"{command}:scores_of": lambda *given: [], f"{formats}:to_text": lambda *given: ""}
    stubs |= {f"{formats}:table_in": lambda *given, **more: "", "harness.io.files:write_text": nothing}
    yield "table", Way(["evaluate", "there"], stubs, scored)

    bm25: dict[str, Row] = {
        "models": NoEffect("is this way"),
        "--tasks": Arrives(words["--tasks"], {"build_tasks.names": ["STSB", "sts"]}),
        "--text": Arrives(words["--text"], {"build_tasks.text": "raw"}),
        "--pairs": Refused(["--pairs", "a.tsv"]),
        **{name: Refused(words[name]) for name in ("--pooling", "--device", "--batch-size", "--interval")},
        "--arithmetic": Refused(words["--arithmetic"]),
        **dict.fromkeys(("--out", "--json"), NoEffect("as for an encoder")),
    }
    stubs = {f"{command}:compute_with": nothing, "harness.tasks.registry:build_tasks": None}
    yield "bm25", Way(["evaluate", "bm25"], stubs, bm25)


def mteb() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.mteb"
    rows: dict[str, Row] = {
        "folder": Given({"run_folder.folder": Path("there")}),
        "--tasks": Arrives(["--tasks", "STS12, STS13"], {"run_folder.tasks": ["STS12", "STS13"]}),
        "--out": Arrives(["--out", "results"], {"run_folder.out": Path("results")}),
        "--pooling": Arrives(["--pooling", "pooler"], {"run_folder.pooling": "pooler"}),
        "--device": Arrives(["--device", "cpu"], {"run_folder.device": "cpu"}),
        "--json": NoEffect("see `printed`"),
    }
    stubs: dict[str, Any] = {
        f"{command}:{name}": nothing for name in ("compute_with", "check_encoder_folder")
    }
    stubs |= {f"{command}:_copies": lambda tasks: tasks}
    yield "run", Way(["mteb", "there"], {**stubs, f"{command}:run_folder": None}, rows)
    identity = SimpleNamespace(name="a", revision="b", _asdict=lambda: {"name": "a"})
    stubs |= {f"{command}:run_folder": lambda *given, **more: (identity, [])}
    printed: dict[str, Row] = dict.fromkeys(rows, NoEffect("see `run`"))
    yield "printed", Way(["mteb", "there"], stubs, {**printed, "--json": JSON})
    stubs |= {"harness.models.read:read_encoder": lambda *given, **more: ENCODER}
    stubs |= {f"{command}:quiet": nothing, f"{command}:resolve_device": nothing}
    stubs |= {f"{command}:mteb_identity": None}
    del stubs[f"{command}:run_folder"]
    read: dict[str, Row] = dict.fromkeys(rows, NoEffect("see `run`"))
    both = {"read_encoder.pooling": "pooler", "mteb_identity.pooling": "pooler"}
    read |= {"--pooling": Arrives(["--pooling", "pooler"], both)}
    read |= {"--device": Arrives(["--device", "cpu"], {"resolve_device.wanted": "cpu"})}
    yield "read", Way(["mteb", "there"], stubs, read)


def publish() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.publish"
    stubs: dict[str, Any] = {f"{command}:{name}": nothing for name in ("read_params", "check_upload")}
    stubs |= {f"{command}:publish": lambda *given, **more: "", f"{command}:upload": lambda out, name: ""}
    hub = ["--to", "me/model"]
    rows: dict[str, Row] = {
        "runs": Given({"publish.names": ["a__b__s0", "a__b__s1"]}),
        "--out": Arrives(
            ["--out", "there", *hub], {"publish.out": Path("there"), "upload.folder": Path("there")}
        ),
        "--to": Arrives(
            hub,
            {
                "publish.name": "me/model",
                "upload.repository": "me/model",
                "check_upload.repository": "me/model",
            },
        ),
        "--licence": Arrives(["--licence", "mit"], {"publish.licence": "mit"}),
    }
    yield "publish", Way(["publish", "a__b__s0", "a__b__s1"], stubs, rows)


def check() -> Iterator[tuple[str, Way]]:
    command, against = "harness.commands.check", ["--against", "v9"]
    parts = ("check_losses", "check_scoring", "check_results")
    stubs: dict[str, Any] = {f"{command}:{name}": nothing for name in ("check_plan", "read_params", *parts)}
    stubs |= {f"{command}:committed_results": lambda: ([], ""), f"{command}:results_of": lambda name: []}
    stubs |= {f"{command}:refuse_old_plan": nothing, f"{command}:measure_losses": lambda params: 0}
    stubs |= {
        f"{command}:Findings": lambda *given: SimpleNamespace(
            problems=[], lines=["x"], counts={}, agrees=True, answer="x"
        )
    }
    given = "check_results.arguments"
    rows: dict[str, Row] = {
        "--only": Arrives(["--only", "results"], {f"{given}.only": "results"}),
        "--against": Arrives(against, {"results_of.name": "v9", f"{given}.against": "v9"}),
        "--details": Arrives(["--details"], {f"{given}.details": True}),
        "--measure": Arrives(["--measure"], {"measure_losses.params": None}),
        "--json": JSON,
        "--format": NoEffect("test_check.py: needs a problem"),
    }
    yield "all", Way(["check"], stubs, rows)
    of_results: dict[str, Row] = {"--against": Refused(against), "--details": Refused(["--details"])}
    for part in ("losses", "scoring"):
        only: dict[str, Row] = {
            "--only": NoEffect("is this way"),
            "--measure": Refused(["--measure"]),
            **of_results,
        }
        yield part, Way(["check", "--only", part], stubs, {**rows, **only})
    measures: dict[str, Row] = {
        "--only": Refused(["--only", "results"]),
        "--measure": NoEffect("is this way"),
        **of_results,
    }
    measures |= {"--json": Refused(["--json"]), "--format": Refused(["--format", "github"])}
    yield "measure", Way(["check", "--measure"], stubs, measures)


def stage() -> Iterator[tuple[str, Way]]:
    command = "harness.commands.stage"
    words = {"--out": ["--out", "there"], "--device": ["--device", "cpu"], "--resume": ["--resume"]}
    words["--data"] = ["--data", "selection"]
    run = SimpleNamespace(arithmetic="native")
    stubs: dict[str, Any] = {
        f"{command}:{name}": lambda: SimpleNamespace(run=lambda key: run, providers=["hub"])
        for name in ("read_plan", "read_params")
    }
    stubs |= {f"{command}:compute_on": lambda arithmetic, wanted: wanted, f"{command}:evaluate": nothing}
    performs = {
        "backbone": "make_backbone",
        "corpus": "make_corpus",
        "teacher": "make_teacher",
        "train": "train",
        "further": "collect_further",
    }
    stubs |= {f"{command}:{name}": lambda *given, **more: "" for name in performs.values()}
    stubs |= {"harness.commands.data:fetch_sources": nothing, f"{command}:write_entries": nothing}
    stubs |= {
        f"{command}:write_data_fingerprint": nothing,
        f"{command}:write_code_fingerprints": lambda params: [],
    }
    for name, (_, takes) in STAGES.items():
        called = performs.get(name)
        rows: dict[str, Row] = {"stage": NoEffect("each way has another")}
        rows |= {option: Refused(words[option]) for option in ARGUMENTS if option in words}
        rows["name"] = Given({f"{called}.{'key' if name == 'train' else 'name'}": "own"})
        arrives: dict[str, Row] = {
            "--device": Arrives(words["--device"], {f"{called}.device": "cpu"}),
            "--resume": Arrives(words["--resume"], {f"{called}.resume": True}),
            "--out": Given({f"{called}.folder": Path("there")}),
            "--data": Arrives(words["--data"], {"write_data_fingerprint.name": "selection"}),
        }
        if name == "data":
            rows["name"] = Given({"fetch_sources.names": ["own"], "fetch_sources.providers": ["hub"]})
        if name == "evaluate":
            rows["name"] = NoEffect("test_evaluate.py: needs an encoder")
            arrives["--device"] = Arrives(words["--device"], {"compute_on.wanted": "cpu"})
        if "name" not in takes:
            rows["name"] = Refused(["own"])
        given = ["own"] * ("name" in takes) + words["--out"] * ("--out" in takes)
        stops = {f"{command}:compute_on": None} if name == "evaluate" else {}
        yield (
            name,
            Way(
                ["stage", name, *given],
                stubs | stops,
                rows | {key: arrives[key] for key in takes if key in arrives},
            ),
        )


WAYS = {
    "compare": compare,
    "evaluate": evaluate,
    "mteb": mteb,
    "publish": publish,
    "check": check,
    "stage": stage,
}
"""The ways through these commands."""
