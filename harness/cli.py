"""The `sentbench` command: one handler a command; imports stand inside so that --help loads nothing heavy."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.commands import add_command, bm25, compare, corpus, cost, entries, mteb, publish
from harness.errors import InputError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns 0 for good, 1 for a failed check, 2 for bad input (told in one line)."""
    arguments = build_parser().parse_args(argv)
    try:
        return int(arguments.handler(arguments) or 0)
    except InputError as error:
        problem = str(error)
    except OSError as error:
        place = error.filename or "a file"
        problem = (
            f"{place}: {error.strerror or error}; expected to read or write it; free space or mend the path"
        )
    except KeyboardInterrupt:
        problem = "interrupted; the same command continues a training with --resume"
    print(f"sentbench: {problem}", file=sys.stderr)
    return 2


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of the public commands and of those the pipeline calls."""
    parser = argparse.ArgumentParser(
        prog="sentbench", description="A reproducibility benchmark for unsupervised sentence embeddings."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_plan(commands)
    _add_lists(commands)
    _add_data(commands)
    _add_train(commands)
    _add_evaluate(commands)
    mteb.add_to(commands)
    cost.add_to(commands)
    bm25.add_to(commands)
    _add_report(commands)
    _add_stages(commands)
    corpus.add_to(commands)
    entries.add_to(commands)
    compare.add_to(commands)
    publish.add_to(commands)
    return parser


def _add_plan(commands: Any) -> None:
    plan = add_command(
        commands, "plan", plan_command, "write params.yaml: the runs that tables or recipes need"
    )
    plan.add_argument(
        "names", nargs="+", metavar="NAME", help="small, pcl, pcl/table2, sct/fig4, ladder/RUN, all"
    )
    plan.add_argument("--seeds", type=int, help="this many seeds for every run that draws random numbers")
    plan.add_argument("--backbone", action="append", help="only these backbones (may be repeated)")
    plan.add_argument("--dry-run", action="store_true", help="print what would run and write nothing")
    plan.add_argument("--power", type=float, metavar="P", help="with --delta: propose seeds that show it")
    plan.add_argument("--delta", type=float, metavar="POINTS", help="the difference to be seen, in points")


def _add_lists(commands: Any) -> None:
    listing = add_command(commands, "list", list_command, "list what is known")
    listing.add_argument("what", choices=["methods", "tasks", "runs", "tables", "sources"])
    listing.add_argument("--json", action="store_true", help="one JSON list of objects with a name")
    listing.add_argument(
        "--coverage", action="store_true", help="tables: rows in the paper, with runs, cited and why"
    )


def _add_data(commands: Any) -> None:
    data = add_command(commands, "data", data_command, "fetch or check data")
    data.add_argument("action", choices=["fetch", "check"])
    data.add_argument("names", nargs="*", metavar="NAME", help="sources; default: those of params.yaml")
    data.add_argument("--tiers", help="order of tiers, for example embedded,mirror,hub")
    data.add_argument("--revision", help="pin a hub source that has no pinned revision")


def _add_train(commands: Any) -> None:
    train = add_command(commands, "train", train_command, "train one run of params.yaml")
    train.add_argument("run", metavar="RUN")
    train.add_argument("--out", type=Path, required=True, metavar="DIR")
    train.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    train.add_argument("--resume", action="store_true", help="continue where a killed run stopped")


def _add_evaluate(commands: Any) -> None:
    evaluate = add_command(commands, "evaluate", evaluate_command, "score an encoder folder")
    evaluate.add_argument("folder", type=Path, metavar="DIR")
    evaluate.add_argument("--tasks", default="sts", help="tasks and suites, comma-separated")
    evaluate.add_argument("--text", choices=["senteval", "raw"], default="senteval")
    evaluate.add_argument("--pooling", help="required for a plain Hugging Face folder")
    evaluate.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    evaluate.add_argument("--out", type=Path, metavar="FILE", help="also write the scores as JSON")
    evaluate.add_argument("--json", action="store_true", help="one JSON object on standard output")
    evaluate.add_argument("--from-store", action="store_true", help="use stored vectors, no model")
    evaluate.add_argument("--run", help="evaluate the artefact of this run of params.yaml on the run's tasks")


def _add_report(commands: Any) -> None:
    report = add_command(commands, "report", report_command, "render tables, figures and the HTML page")
    report.add_argument("--strict", action="store_true", help="fail if a cell is missing or a score is stale")
    check = add_command(commands, "check", check_command, "compare scores with the bands of known-good runs")
    check.add_argument("--bands", type=Path, default=Path("leaderboards/bands.yaml"), metavar="FILE")
    check.add_argument(
        "--measure", action="store_true", help="write the bands from the scores that are there"
    )
    clean = add_command(commands, "clean", clean_command, "remove results of runs that left the plan")
    clean.add_argument("--dry-run", action="store_true")


def _add_stages(commands: Any) -> None:
    backbone = add_command(commands, "backbone", backbone_command, "pipeline stage: make a backbone")
    backbone.add_argument("name")
    teach = add_command(commands, "teach", teach_command, "pipeline stage: a teacher's vectors of a corpus")
    teach.add_argument("name")
    teach.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    mark = add_command(
        commands, "fingerprint", fingerprint_command, "pipeline stage: identity of code or data"
    )
    mark.add_argument("name")
    mark.add_argument("--data", action="store_true", help="NAME is an entry of `reads`, not of `code`")


def plan_command(arguments: argparse.Namespace) -> int:
    from harness.commands.plan import plan

    return plan(
        arguments.names,
        seeds=arguments.seeds,
        backbones=arguments.backbone,
        dry_run=arguments.dry_run,
        power=arguments.power,
        delta=arguments.delta,
    )


def list_command(arguments: argparse.Namespace) -> None:
    from harness.commands.list import listing

    entries = listing(arguments.what, coverage=arguments.coverage)
    if arguments.json:
        print(json.dumps(entries))
        return
    for entry in entries:
        shown = (entry["name"], entry["words"]) if arguments.coverage else entry.values()
        print("  ".join(str(value) for value in shown))


def data_command(arguments: argparse.Namespace) -> None:
    from harness.plan.entries import read_params
    from harness.stages.data import check_sources, fetch_sources

    planned = _params_if_there()
    names = arguments.names or list(read_params().sources)
    if arguments.action == "check":
        check_sources(names, directory=Path("data"))
        return
    tiers = arguments.tiers.split(",") if arguments.tiers else (planned.tiers if planned else None)
    fetch_sources(names, directory=Path("data"), tiers=tiers, revision=arguments.revision)


def train_command(arguments: argparse.Namespace) -> None:
    from harness.stages.train import train

    params = _planned()
    print(train(params, arguments.run, arguments.out, device=arguments.device, resume=arguments.resume))


def evaluate_command(arguments: argparse.Namespace) -> None:
    from harness.files import write_json
    from harness.stages import evaluate as stage

    if arguments.run:
        print(stage.evaluate_run(_planned(), arguments.run, arguments.folder, device=arguments.device))
        return
    scores = stage.evaluate_folder(
        arguments.folder,
        names=[name for name in arguments.tasks.split(",") if name],
        text=arguments.text,
        pooling=arguments.pooling,
        from_store=arguments.from_store,
        device=arguments.device,
    )
    found = {"model": str(arguments.folder), "scores": [score._asdict() for score in scores]}
    if arguments.out:
        write_json(arguments.out, found)
    if arguments.json:
        print(json.dumps(found))
        return
    for score in scores:
        print(f"{score.task:<14} {score.metric:<10} {score.setting:<24} {score.value:8.4f}  n={score.n}")


def report_command(arguments: argparse.Namespace) -> int:
    from harness.stages.report import report

    return report(_planned(), strict=arguments.strict)


def check_command(arguments: argparse.Namespace) -> int:
    from harness.commands.check import check, measure

    return measure(arguments.bands) if arguments.measure else check(arguments.bands)


def clean_command(arguments: argparse.Namespace) -> None:
    from harness.commands.clean import clean

    clean(_planned(), dry_run=arguments.dry_run)


def backbone_command(arguments: argparse.Namespace) -> None:
    from harness.stages.backbone import make_backbone

    print(make_backbone(_planned(), arguments.name))


def teach_command(arguments: argparse.Namespace) -> None:
    from harness.stages.backbone import teach

    print(teach(_planned(), arguments.name, device=arguments.device))


def fingerprint_command(arguments: argparse.Namespace) -> None:
    from harness.stages.fingerprint import write_code_fingerprint, write_data_fingerprint

    write = write_data_fingerprint if arguments.data else write_code_fingerprint
    print(write(_planned(), arguments.name))


def _planned() -> Any:
    """Returns the plan; data that its runs read comes from the plan's tiers and no other."""
    from harness.plan.entries import read_params

    params = read_params()
    os.environ["SENTBENCH_TIERS"] = ",".join(params.tiers)
    return params


def _params_if_there() -> Any:
    from harness.plan.entries import PARAMS, read_params

    return read_params() if PARAMS.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
