"""Which source STS-B is read from: of those that hold the same pairs, the one that the tiers offer first."""

from __future__ import annotations

from collections.abc import Sequence

STSB_SOURCES = {"senteval": ("stsb-senteval", "stsb"), "raw": ("stsb", "stsb-raw")}
"""Text form -> its sources. Converting the published sentences gives SentEval's exactly, in all 8,628 pairs
(a mirror test), so either form can be made from any tier."""


def stsb_source(text: str, tiers: Sequence[str] | None) -> str:
    """Returns the source in the earliest tier, the form's own files first."""
    from harness.data.download import tier_order
    from harness.data.sources import SOURCES

    order = tier_order(tiers)

    def rank(source: str) -> int:
        return min((order.index(tier) for tier in SOURCES[source].tiers if tier in order), default=len(order))

    return min(STSB_SOURCES[text], key=rank)


def source_with_origins(text: str, tiers: Sequence[str] | None) -> str:
    """Returns the same among the sources that name the origin of a pair, as stsb-raw does not."""
    return "stsb" if text == "raw" else stsb_source(text, tiers)
