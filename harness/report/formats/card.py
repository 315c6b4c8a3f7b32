"""The model card of a system: the distribution of its scores over seeds, and how to reproduce them."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.schema import ResultFile
from harness.report.formats.markdown import escape, escape_code
from harness.report.formats.scores import SUBSET
from harness.report.formats.templates import fill
from harness.report.runs import selected_scores

HUB_LICENCES = ("apache-2.0", "mit", "bsd-3-clause", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0")
"""Licences with an id on the hub; any other is `other` with its name."""


def licence_of(text: str) -> tuple[str, str]:
    """Returns the hub's id of a licence, and its name if the id is `other`."""
    plain = text.strip().lower()
    return (plain, "") if plain in HUB_LICENCES else ("other", text.strip())


def score_rows(results: Sequence[ResultFile]) -> list[list[str]]:
    """Returns the scores x 100 of the selected weights, without subsets, as rows of a table.

    The standard deviation is the sample's, a dash below two seeds.
    """
    scores: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    for result in sorted(results, key=lambda result: result.run.seed):
        for score in selected_scores(result):
            if not score.setting.startswith(SUBSET):
                key = (score.task, score.metric, score.setting)
                scores.setdefault(key, []).append((100 * score.value, score.n))
    rows = []
    for entry, seeds in scores.items():
        values = [value for value, _ in seeds]
        sd = statistics.sample_sd(values)
        spread = "–" if sd is None else f"{sd:.2f}"
        each = ", ".join(f"{value:.2f}" for value in values)
        numbers = [f"{statistics.mean(values):.2f}", spread, str(len(values)), each, str(seeds[0][1])]
        rows.append([*map(escape, entry), *numbers])
    return rows


def median_seed(results: Sequence[ResultFile]) -> ResultFile:
    """Returns the run with the median development score, the lower of two middle ones; ties go by seed."""
    if not results:
        raise InputError("a model card needs a run")
    ranked = sorted(results, key=lambda result: (result.selection.best_dev, result.run.seed))
    return ranked[(len(ranked) - 1) // 2]


def render_card(
    results: Sequence[ResultFile],
    *,
    settings: Mapping[str, Any],
    values: Mapping[str, Any],
) -> str:
    """Returns the card of the runs of one system; `values` has everything that is not in result files.

    settings: training settings by name. values: name, pooling, max_length, plan, origin, origin_licence,
    corpus, corpus_licence, licence, licence_name, mteb, no_mteb.
    """
    ordered = sorted(results, key=lambda result: result.run.seed)
    chosen, first = median_seed(ordered), ordered[0]
    runs = [
        {
            "key": result.run.key,
            "seed": result.run.seed,
            "dev": f"{100 * result.selection.best_dev:.2f}",
            "step": result.selection.best_step,
            "sha256": escape_code(result.provenance.encoder_sha256),
        }
        for result in ordered
    ]
    last = first.scores[0].selection == "last"
    details = {
        "method": first.run.method,
        "variant": escape_code(first.run.variant),
        "backbone": first.run.backbone,
        "rows": score_rows(ordered),
        "chosen": next(run for run in runs if run["key"] == chosen.run.key),
        "runs": runs,
        "text": "raw" if first.provenance.text == "raw" else "tokenised and lower-cased as in SentEval",
        "selection": "the last checkpoint" if last else "the checkpoint best on STS-B dev (Spearman)",
        "precision": escape(first.provenance.precision),
        "device": escape(first.provenance.device),
        "settings": [(escape(name), escape_code(value)) for name, value in sorted(settings.items())],
        "stages": " ".join(f"evaluate@{result.run.key}" for result in ordered),
        "hashes": ", ".join(
            f"{escape(name)} `{escape_code(digest)}`" for name, digest in first.provenance.data_sha256.items()
        ),
        "versions": ", ".join(
            f"{escape(name)} {escape(version)}" for name, version in first.provenance.versions.items()
        ),
    }
    return fill("card.md.j2", {**details, **values}, angles=True)
