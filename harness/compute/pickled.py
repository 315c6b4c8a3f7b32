"""`sentbench data convert`: weights that a repository has as a pickle only, written as safetensors.

torch reads the pickle with `weights_only`, in a separate process, and takes only tensors from it.
"""

import json
import subprocess
import sys
from pathlib import Path

from harness.data.hub import PICKLED_WEIGHTS, WEIGHTS, commit_of, hub_file
from harness.data.hub_requests import Absent, HubFile, Unreachable
from harness.data.providers import below, converted_weights
from harness.data.sources import Provider, source_named
from harness.disk.files import atomic_path, discard, sha256_of, write_json
from harness.errors import InputError


def convert(name: str, *, revision: str | None = None) -> Path:
    """Returns the safetensors file made of a source's pickled weights, which `data fetch` uses.

    A record next to it holds the sha256 of both files. Errors: InputError if the source is not on the hub,
    has no pickle, has safetensors too, or if the pickle contains other objects than tensors.
    """
    provider = source_named(name).providers.get("hub")
    if provider is None or provider.repo is None:
        raise InputError(f"source {name} is not on the hub")
    pickle, wanted = below(provider, PICKLED_WEIGHTS), revision or str(provider.revision)
    try:
        commit = commit_of(provider.repo, provider.repo_type, wanted, pickle, ask=revision is not None)
        made = converted_weights(provider, commit)
        if not made.with_suffix(".json").is_file() and _has_safetensors(provider, commit):
            raise InputError(f"source {name}: already has {WEIGHTS} on the hub")
        pickled = hub_file(provider.repo, provider.repo_type, commit, pickle)
    except Unreachable as error:
        raise InputError(f"source {name}: {error}") from None
    for path in (made, made.with_suffix(".json")):
        if path.is_dir():
            discard(path)
    with atomic_path(made) as part:
        command = [sys.executable, "-P", "-m", "harness.compute.pickled", str(pickled), str(part)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
            raise InputError(
                f"{PICKLED_WEIGHTS} of {provider.repo} at {commit}: {reason}; expected only tensors; pin "
                f"a revision that has model.safetensors"
            )
    record = {PICKLED_WEIGHTS: sha256_of(pickled), made.name: sha256_of(made)}
    write_json(made.with_suffix(".json"), {"commit": commit, "sha256": record})
    return made


def _has_safetensors(provider: Provider, commit: str) -> bool:
    try:
        HubFile(str(provider.repo), provider.repo_type, commit, below(provider, WEIGHTS)).metadata()
    except Absent:
        return False
    return True


def write_tensors(pickle: Path, target: Path) -> None:
    """Writes the tensors of a pickled state dict as safetensors, by name, without shared memory."""
    import torch
    from safetensors.torch import save_file

    state = torch.load(pickle, map_location="cpu", weights_only=True)
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError("contains other objects than named tensors")
    tensors = {name: state[name].detach().contiguous().clone() for name in sorted(state)}
    save_file(tensors, target, metadata={"format": "pt"})


if __name__ == "__main__":
    try:
        write_tensors(Path(sys.argv[1]), Path(sys.argv[2]))
    except Exception as error:  # noqa: BLE001  # any error of reading the file is reported by its first line
        sys.exit(json.dumps(str(error).strip().splitlines()[0])[1:-1])
