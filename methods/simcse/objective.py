"""The two objectives of SimCSE runs, of vectors of two views [B, d]; both are shared with other methods."""

from __future__ import annotations

from methods.core.losses import info_nce, nt_xent

OBJECTIVES = {"info-nce": info_nce, "nt-xent": nt_xent}
"""Name of an objective -> the loss of anchors, positives and a temperature."""
