"""SSH signatures of a contributor, made and verified by OpenSSH's ssh-keygen."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness.errors import InputError

NAMESPACE = "sentbench"
"""The namespace of a signature: one made for another purpose does not verify."""


def sign(file: Path, key: Path) -> Path:
    """Returns the file of the signature that a private key, or the public key of an agent's, gives a file.

    Errors: InputError without ssh-keygen, or if the key cannot be read.
    """
    if not key.is_file():
        raise InputError(f"{key}: not a regular file, expected an SSH key; name another one")
    _ssh_keygen("sign", "-f", str(key), str(file), fault=f"{key}: cannot sign with it")
    return file.with_name(f"{file.name}.sig")


def signer_of(file: Path, signature: Path | None, allowed_signers: Path | None) -> str:
    """Returns the name in `allowed_signers` (see ssh-keygen(1)) whose key signed a file; "" without a list.

    Errors: InputError without ssh-keygen or a signature, or if no key of the list signed these bytes.
    """
    if allowed_signers is None:
        return ""
    if signature is None:
        raise InputError("not signed, expected a signature of an allowed signer; leave out --allowed-signers")
    if not allowed_signers.is_file():
        raise InputError(f"{allowed_signers}: not a regular file, expected a list of allowed signers")
    listed = ["-f", str(allowed_signers), "-s", str(signature)]
    fault = f"{signature.name}: not by a key of {allowed_signers}"
    names = _ssh_keygen("find-principals", *listed, fault=fault).splitlines()
    signer = names[0] if names else ""
    _ssh_keygen("verify", "-I", signer, *listed, stdin=file, fault=fault)
    return signer


def _ssh_keygen(action: str, *words: str, fault: str, stdin: Path | None = None) -> str:
    command = ["ssh-keygen", "-Y", action, "-n", NAMESPACE, *words]
    try:
        given = stdin.read_bytes() if stdin else b""
        done = subprocess.run(command, input=given, capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError("no ssh-keygen here, expected OpenSSH to sign and verify; install it") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise InputError(f"{fault} (ssh-keygen: {said[:200]})")
    return done.stdout.decode(errors="replace")
