"""`sentbench stage teach`: pipeline stage that computes a teacher's vectors of a corpus.

Example: `sentbench stage teach minilm-l6__wiki-small`
"""

import argparse
from pathlib import Path
from typing import Any

from harness.io.files import sha256_of_folder
from harness.io.layouts import TEACHER, check_inputs
from harness.io.outputs import check_folder, new_folder
from harness.paths import TEACHERS
from harness.plan.entries import Params
from harness.plan.params_file import read_plan
from harness.process import DEVICE, compute_on, quiet

ARGUMENTS = {"name": {"help": "an entry of `teachers` in params.yaml"}, "--device": DEVICE}


def execute(arguments: argparse.Namespace) -> None:
    """Makes teachers/NAME."""
    print(teach(read_plan(), arguments.name, device=arguments.device))


def teach(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes teachers/NAME: the vectors of every text of a corpus, computed once for all students."""
    entry, folder = params.teacher(name), TEACHERS / name
    device = compute_on(entry.arithmetic, device)
    from harness.compute.teacher import read_corpus, write_vectors
    from harness.models.read import read_encoder

    check_folder(folder, TEACHER)
    check_inputs(entry.encoder, entry.corpus)
    description = {
        **entry.stated(),
        "encoder_sha256": sha256_of_folder(Path(entry.encoder)),
        "corpus_sha256": sha256_of_folder(Path(entry.corpus)),
    }
    rows = read_corpus(Path(entry.corpus))
    quiet()
    encoder: Any = read_encoder(Path(entry.encoder), pooling=entry.pooling)
    texts = sum(len(row.columns) for row in rows)
    check_folder(folder, TEACHER, room=texts * (4 * encoder.dim + 16))
    with new_folder(folder, TEACHER) as part:
        write_vectors(part, encoder.to(device), rows, description)
    return folder
