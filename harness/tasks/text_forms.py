"""The two forms of a text: `senteval`, which the papers evaluate, and `raw`; and STS-B's source in each.

`senteval` is Moses tokens, lower-cased, joined by single blanks; a text without words becomes a full stop, as
in SentEval. `raw` is the published text without blanks at its ends. If the texts of a file are already
tokenised, its two forms differ only in blanks.
"""

from collections.abc import Sequence

FORMS = ("senteval", "raw")
STSB_SOURCES = {"senteval": ("stsb-senteval", "stsb"), "raw": ("stsb", "stsb-raw")}
"""Text form -> its sources. Converting the published sentences gives SentEval's exactly, in all 8,628 pairs
(a mirror test), so either form can be made from any provider."""


def in_form(text: str, form: str) -> str:
    """Returns a text of a file as the encoder gets it; published sentences are tokenised before."""
    return text.strip() if form == "raw" else " ".join(text.split()) or "."


def stsb_source(text: str, providers: Sequence[str] | None) -> str:
    """Returns the source of STS-B in a form: in the earliest provider, the form's own files first."""
    from harness.data.download import provider_order
    from harness.data.sources import SOURCES

    order = provider_order(providers)

    def rank(source: str) -> int:
        return min(
            (order.index(provider) for provider in SOURCES[source].providers if provider in order),
            default=len(order),
        )

    return min(STSB_SOURCES[text], key=rank)
