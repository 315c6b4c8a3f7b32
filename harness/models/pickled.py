"""The tensors of a pickled state dict as safetensors: `python -m harness.models.pickled PICKLE TARGET`.

torch reads the pickle with `weights_only`, in a separate process, and reads only its tensors.
"""

import json
import sys
from pathlib import Path

from harness.errors import InputError


def write_tensors(pickle: Path, target: Path) -> None:
    """Writes the tensors of a pickled state dict as safetensors, by name, without shared memory."""
    import torch
    from safetensors.torch import save_file

    state = torch.load(pickle, map_location="cpu", weights_only=True)
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError("contains objects other than named tensors")
    tensors = {name: state[name].detach().contiguous().clone() for name in sorted(state)}
    save_file(tensors, target, metadata={"format": "pt"})


if __name__ == "__main__":
    try:
        write_tensors(Path(sys.argv[1]), Path(sys.argv[2]))
    except Exception as error:  # noqa: BLE001  # any error of reading the file is reported by its first line
        sys.exit(json.dumps(str(error).strip().splitlines()[0])[1:-1])
