"""Which source STS-B is read from: of those with the same pairs, the one that the providers offer first."""

from __future__ import annotations

from collections.abc import Sequence

STSB_SOURCES = {"senteval": ("stsb-senteval", "stsb"), "raw": ("stsb", "stsb-raw")}
"""Text form -> its sources. Converting the published sentences gives SentEval's exactly, in all 8,628 pairs
(a mirror test), so either form can be made from any provider."""


def stsb_source(text: str, providers: Sequence[str] | None) -> str:
    """Returns the source in the earliest provider, the form's own files first."""
    from harness.data.download import provider_order
    from harness.data.sources import SOURCES

    order = provider_order(providers)

    def rank(source: str) -> int:
        return min(
            (order.index(provider) for provider in SOURCES[source].providers if provider in order),
            default=len(order),
        )

    return min(STSB_SOURCES[text], key=rank)


def source_with_origins(text: str, providers: Sequence[str] | None) -> str:
    """Returns the same among the sources that name the origin of a pair, as stsb-raw does not."""
    return "stsb" if text == "raw" else stsb_source(text, providers)
