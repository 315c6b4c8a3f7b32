"""Files of a published folder for the hub, mteb and transformers, and its upload."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.data.sources import SOURCES
from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.published import load_published
from harness.evidence.schema import ResultFile
from harness.io.files import disk_errors, write_manifest, write_text
from harness.io.records import FILES, read_object
from harness.models.hub import LOG_IN, Unreachable, asked
from harness.paths import PUBLISHED, RUN_RECORD, declared
from harness.report.formats.templates import fill

WEIGHTS = "model.safetensors"
HUB_RESULTS = Path(".eval_results")
META = "mteb/model_meta.py"
MTEB_TASKS = {
    **{f"STS{year}": (f"STS{year}", f"sts{year}-raw") for year in range(12, 17)},
    "STSB": ("STSBenchmark", "stsb-raw"),
    "SICKR-mteb": ("SICK-R", "sickr-raw"),
}
"""Task -> mteb's task, and the source with the files of mteb's data set."""


def complete_weights(folder: Path) -> bool:
    """Adds an identity pooler if AutoModel expects one and the saved weights lack it; returns whether.
    Without it transformers would warn and draw a random one at each load. Vectors of this project and of
    sentence-transformers do not use it. The checksums of the folder's record are updated. Errors: InputError
    if any other weight is missing.
    """
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoConfig, AutoModel

    tensors = load_file(folder / WEIGHTS)
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    with torch.device("meta"):
        wanted = AutoModel.from_config(config, trust_remote_code=False).state_dict()
    missing = [name for name in wanted if name not in tensors]
    if any(not name.startswith("pooler.") for name in missing):
        raise InputError(f"{folder / WEIGHTS}: lacks {missing[0]}; train the run again")
    for name in missing:
        shape = wanted[name].shape
        tensors[name] = torch.eye(*shape) if len(shape) == 2 else torch.zeros(shape)
    if missing:
        with disk_errors(folder):
            save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
        if (folder / RUN_RECORD).is_file():
            record = read_object(folder / RUN_RECORD, again="train the run again")
            write_manifest(folder / RUN_RECORD, {k: v for k, v in record.items() if k != FILES})
    return bool(missing)


def on_hub(source: str) -> tuple[str | None, str | None]:
    """Returns the hub's repository and commit of a data source; None if it is not on the hub."""
    hub = SOURCES[source].providers.get("hub") if source in SOURCES else None
    return (hub.repo, hub.revision) if hub and hub.repo else (None, None)


def reported_values(system: str, backbone: str) -> dict[str, float]:
    """Returns the values of the system's paper by task, x 100, if all of its tables agree. Rows of other
    variants and measurements of other papers do not count. Cited values count only for a system whose
    original paper is not declared.
    """
    rows = [
        (number.origin, number.column, round(number.printed, 2))
        for number in load_published(declared(PUBLISHED)).numbers.values()
        if number.metric == "spearman" and number.row == f"{system}@{backbone}"
    ]
    source = "this-paper" if any(row[0] == "this-paper" for row in rows) else "cited"
    by_task: dict[str, set[float]] = {}
    for stated, column, value in rows:
        if stated == source:
            by_task.setdefault(column, set()).add(value)
    return {column: values.pop() for column, values in by_task.items() if len(values) == 1}


def card_header(results: Sequence[ResultFile], chosen: ResultFile, values: Mapping[str, Any]) -> str:
    """Returns the card's metadata as YAML: licence, base model, data set and `model-index`.

    An entry of `model-index` is the score of the published weights, and its `args` hold mean, standard
    deviation and number of seeds, and the paper's value.
    """
    from huggingface_hub import EvalResult, ModelCardData

    reported = values["reported"]

    def entry(task: str, metric: str, own: float) -> EvalResult:
        scores = [
            100 * score.value
            for result in results
            for score in result.scores
            if (score.task, score.metric, score.setting, score.selection)
            == (task, metric, "all", result.scores[0].selection)
        ]
        sd = statistics.sample_sd(scores)
        details = {"seeds": len(scores), "mean_over_seeds": round(statistics.mean(scores), 2)}
        details |= {} if sd is None else {"sd_over_seeds": round(sd, 2)}
        details |= {"reported_by_paper": reported[task]} if task in reported and metric == "spearman" else {}
        repository, revision = mteb_data(chosen, task)
        return EvalResult(
            task_type="sentence-similarity" if metric == "spearman" else "text-classification",
            dataset_type=repository or task,
            dataset_name=task,
            dataset_revision=revision,
            metric_type=f"cosine_{metric}" if metric == "spearman" else metric,
            metric_value=round(100 * own, 2),
            metric_args=details,
        )

    entries = [
        entry(score.task, score.metric, score.value)
        for score in chosen.scores
        if score.metric in ("spearman", "accuracy")
        and (score.setting, score.selection) == ("all", chosen.scores[0].selection)
        and ":" not in score.task
    ]
    corpus, _ = on_hub(values["corpus"])
    data = ModelCardData(
        language="en",
        license=values["licence"],
        license_name=values["licence_name"] or None,
        library_name="sentence-transformers",
        pipeline_tag="sentence-similarity",
        tags=["sentence-transformers", "sentence-similarity", "feature-extraction", "sentbench"],
        base_model=on_hub(values["origin"])[0],
        datasets=[corpus] if corpus else None,
        model_name=values["name"],
        eval_results=entries,
    )
    return str(data.to_yaml())


def mteb_data(result: ResultFile, task: str) -> tuple[str | None, str | None]:
    """Returns repository and commit of the data set of mteb's task; None if the task was scored on other
    files."""
    _, source = MTEB_TASKS.get(task, ("", ""))
    return on_hub(source) if source in result.provenance.data_sha256 else (None, None)


def write_mteb(results: Sequence[ResultFile], folder: Path, out: Path) -> tuple[list[str], str]:
    """Writes mteb's result files of scores of raw text; returns the tasks, and the reason if there are none.
    Only scores on the files of mteb's pinned data set revision count. Each seed is an experiment of the
    model, whose revision is made from the encoder's bytes. folder: encoder of one seed.
    """
    if results[0].provenance.text != "raw":
        return [], "the runs were evaluated on SentEval's text, and MTEB scores raw sentences"
    scored = [(result, mteb_scores(result)) for result in results]
    tasks = dict.fromkeys(MTEB_TASKS[task][0] for _, scores in scored for task in scores)
    if not tasks:
        return [], "no task of the runs is one of MTEB's with the same files"
    import mteb

    from harness.tasks.mteb_adapter import MtebModel, identity_of
    from methods.core.folders import load_encoder

    encoder, cache = load_encoder(folder), mteb.ResultCache(out)
    for result, scores in scored:
        run = result.run
        label, revision = identity_of(f"{run.id}__{run.backbone}", result.provenance.encoder_sha256)
        experiment = {} if len(results) == 1 else {"seed": run.seed}
        model = MtebModel(encoder, name=label, revision=revision, experiment=experiment)
        for task, values in scores.items():
            cache.save_to_cache(_task_result(task, values), model.mteb_model_meta)
    return list(tasks), ""


def mteb_scores(result: ResultFile) -> dict[str, dict[str, float]]:
    """Returns cosine_spearman and cosine_pearson of the best-dev weights by task, for tasks of mteb.

    mteb scores raw text, so results of other text forms have no such scores.
    """
    if result.provenance.text != "raw":
        return {}
    by_task: dict[str, dict[str, float]] = {}
    for score in result.scores:
        if mteb_data(result, score.task)[0] and (score.setting, score.selection) == ("all", "best-dev"):
            by_task.setdefault(score.task, {})[f"cosine_{score.metric}"] = score.value
    return {task: scores for task, scores in by_task.items() if "cosine_spearman" in scores}


def _task_result(task: str, values: Mapping[str, float]) -> Any:
    """Returns scores as mteb's result of its task. Errors: InputError if mteb uses another revision."""
    import mteb
    from mteb.results import TaskResult

    name, source = MTEB_TASKS[task]
    theirs, (_, ours) = mteb.get_task(name), on_hub(source)
    if ours != theirs.metadata.revision:
        raise InputError(
            f"source {source}: revision {ours}, mteb scores {name} on {theirs.metadata.revision}; "
            "align the sources table before publishing"
        )
    scores = {**values, "main_score": values["cosine_spearman"]}
    return TaskResult.from_task_results(theirs, {"test": {"default": scores}}, evaluation_time=None)


def write_hub_results(chosen: ResultFile, out: Path) -> None:
    """Writes `.eval_results/TASK.yaml`, the hub's format, for scores of raw text by mteb's task."""
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    for task, values in mteb_scores(chosen).items():
        name, source = MTEB_TASKS[task]
        repository, revision = on_hub(source)
        entry = EvalResultEntry(
            dataset_id=repository or name,
            task_id=f"{name}_default_test",
            value=round(100 * values["cosine_spearman"], 2),
            dataset_revision=revision,
            notes=f"sentbench, seed {chosen.run.seed}, cosine Spearman x 100",
        )
        text = yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False)
        write_text(out / HUB_RESULTS / f"{name}.yaml", text)


def write_model_meta(folder: Path, name: str, values: Mapping[str, Any]) -> None:
    """Writes mteb's declaration of the model, which a pull request to mteb needs: mteb/model_meta.py."""
    from safetensors.torch import load_file

    files = folder.rglob("*.safetensors")  # of the transformer, and of a layer after it
    parameters = sum(tensor.numel() for file in files for tensor in load_file(file).values())
    stated = {
        "name": name,
        "literal": repr(name),
        "variable": "".join(c if c.isalnum() else "_" for c in name.split("/")[-1].lower()),
        "parameters": parameters,
        "memory": round(4 * parameters / 2**20, 1),
        "tokens": values["tokens"],
        "width": values["width"],
        "licence": repr(None if values["licence"] == "other" else values["licence"]),
        "base": repr(on_hub(values["origin"])[0]),
    }
    write_text(folder / META, fill("model_meta.py.j2", stated))


def check_upload(repository: str) -> None:
    """Raises InputError unless the repository has the form NAME/REPO and a hub token is set."""
    from huggingface_hub import get_token
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(repository)
    except HFValidationError as error:
        raise InputError(f"--to {repository}: {' '.join(str(error).split())}") from None
    if "/" not in repository:
        raise InputError(f"--to {repository}: expected NAME/REPO")
    token = get_token()
    if not token:
        raise InputError(f"no token of the hub; {LOG_IN}")
    if not token.isascii():
        raise InputError(f"the token of the hub has a character outside ASCII; {LOG_IN}")


def upload(folder: Path, repository: str) -> str:
    """Uploads a folder in one commit, creates the repository if it is missing, and returns its address.

    Errors: InputError if the hub refuses or cannot be reached; the folder stays, and the upload is atomic.
    """
    from huggingface_hub import HfApi

    api, message = HfApi(), "Upload of sentbench publish"

    def send() -> None:
        api.upload_folder(repo_id=repository, folder_path=folder, commit_message=message)

    try:
        address = asked(repository, lambda: api.create_repo(repository, exist_ok=True))
        asked(repository, send, uploads=True)
    except Unreachable as error:
        raise InputError(f"{error}; the folder {folder} is complete") from None
    return str(address)
