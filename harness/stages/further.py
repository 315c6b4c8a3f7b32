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

    entry: the further seeds. folders: the file with the scores of each run of the system.
    """
    results = [read_result(path) for path in inputs.folders.values()]
    first = [result for result in results if result.run.seed not in inputs.entry]
    further = [result for result in results if result.run.seed in inputs.entry]
    record = collected(first, further).model_dump(mode="json", by_alias=True, exclude_none=True)
    write_record(inputs.out / RECORD, rounded(record))
