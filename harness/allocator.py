"""What the C library does with memory that was freed: a training gives large blocks back at once."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Mapping

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Of mallopt(3), as glibc's malloc.h numbers them."""
LARGE = 2**20
"""Bytes from which a block is mapped by itself: 256 tokens of width 1,024 in fp32."""
KEPT = 2**27
"""Bytes of smaller blocks that stay free for the next step."""
VARIABLES = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
"""Who sets one of these in the environment decides."""


def return_large_blocks(environment: Mapping[str, str] = os.environ) -> bool:
    """Makes glibc map every block of LARGE bytes by itself, so that freeing gives it back; returns whether.

    By itself glibc raises that limit to the largest block that was freed, up to 32 MiB, and keeps what is
    smaller: tensors have other sizes in every batch, and the heap holds more and more pieces that fit none
    of the next. Values do not depend on it. Another C library, or a variable of VARIABLES, is left alone.
    """
    if platform.libc_ver()[0] != "glibc" or any(name in environment for name in VARIABLES):
        return False
    library = ctypes.CDLL(None)
    return bool(library.mallopt(M_MMAP_THRESHOLD, LARGE) and library.mallopt(M_TRIM_THRESHOLD, KEPT))
