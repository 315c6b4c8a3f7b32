"""Further seeds: the scores of a system's seeds after the first ones become one file."""

from harness.evidence.further import collected
from harness.evidence.store import read_result
from harness.io.files import write_record
from harness.io.records import rounded
from harness.stages.inputs import StageInputs

RECORD = "further.json"
"""The file that the stage writes."""


def run(inputs: StageInputs) -> None:
    """Writes the scores of a system's further seeds, with the digests of its first seeds' scores.

    entry: the runs of the system by key. folders: the file with the scores of each run.
    """
    results = {key: read_result(path) for key, path in inputs.folders.items()}
    first = [result for key, result in results.items() if inputs.entry[key].is_first]
    further = [result for key, result in results.items() if not inputs.entry[key].is_first]
    record = collected(first, further).model_dump(mode="json", by_alias=True, exclude_none=True)
    write_record(inputs.out / RECORD, rounded(record))
