"""Sources that no table has: a corpus of one small file, and tar files."""

import io
import tarfile
from collections.abc import Mapping
from typing import Any

from harness.data.sources import Source


def made_up_source(
    providers: Mapping[str, Any], *, name: str = "tiny", lines: int = 3, **changes: Any
) -> Source:
    """Returns a corpus whose one file `words.txt` has so many lines, with `changes` of its entry."""
    entry = {
        "name": name,
        "kind": "corpus",
        "text": "raw",
        "licence": "none",
        "confirmed": "made up",
        "note": "made up",
        "rows": {"words.txt": lines},
    }
    return Source.model_validate({**entry, **changes, "providers": providers})


def packed(members: Mapping[str, bytes | None]) -> bytes:
    """Returns a tar file; a member without content is a link out of the folder."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content or b"")
            if content is None:
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member, io.BytesIO(content or b""))
    return whole.getvalue()
