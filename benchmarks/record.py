"""The record reports/benchmarks.json: the figures of every machine that measured, and those they replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measurement import Spread
from harness.disk.files import write_record
from harness.report.measurements import Measurements, load_measurements


def write_figures(
    path: Path,
    about: Mapping[str, Any],
    name: str,
    measured: Mapping[str, Any],
    *,
    order: Sequence[str],
    again: bool = False,
) -> None:
    """Writes a benchmark's figures on one machine; those of other machines and benchmarks stay.

    about: what `machine.machine` returns; measured: a `Measurement` of the record. order: names of the
    benchmarks, others are dropped from this machine. Figures that are replaced become `before`, beside the
    new ones; with `again` they are dropped and `before` stays, because they were spoiled.
    Errors: InputError, and nothing is written, if the file is damaged.
    """
    machines = _machines(path)
    own = machines.setdefault(about["id"], {**about, "products": None, "benchmarks": []})
    known = {entry["name"]: entry for entry in own["benchmarks"]}
    former = known.get(name, {"now": None, "before": None})
    known[name] = {"name": name, "now": measured, "before": former["before" if again else "now"]}
    own["benchmarks"] = [known[name] for name in order if name in known]
    _write(path, machines)


def write_rates(path: Path, about: Mapping[str, Any], rates: Mapping[str, Spread], *, threads: int) -> None:
    """Writes how fast a machine multiplies matrices; all else stays. Errors: as of `write_figures`."""
    machines = _machines(path)
    own = machines.setdefault(about["id"], {**about, "benchmarks": []})
    own["products"] = {"threads": threads, **{name: asdict(rate) for name, rate in rates.items()}}
    _write(path, machines)


def _machines(path: Path) -> dict[str, dict[str, Any]]:
    known = load_measurements(path)
    return {machine.id: machine.model_dump(mode="json") for machine in known.machines} if known else {}


def _write(path: Path, machines: Mapping[str, dict[str, Any]]) -> None:
    record = {"machines": list(machines.values())}
    Measurements.model_validate_json(json.dumps(record))  # nothing is written that would be refused when read
    write_record(path, record)
