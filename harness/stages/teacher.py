"""A teacher's vectors of a corpus, computed once for all students."""

from typing import Any

from harness.data.corpora import read_corpus
from harness.models.read import read_encoder
from harness.stages.inputs import StageInputs
from methods.core.teachers import write_teacher


def run(inputs: StageInputs) -> None:
    """Writes the vectors of every text of a corpus, and their record.

    folders: encoder and corpus. Errors: InputError if the encoder or the corpus cannot be read.
    """
    rows = read_corpus(inputs.folders["corpus"])
    encoder: Any = read_encoder(inputs.folders["encoder"], pooling=inputs.entry.pooling)
    write_teacher(inputs.out, encoder.to(inputs.device), rows, dict(inputs.record))
