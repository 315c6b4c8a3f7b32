"""The two forms of a text: `senteval`, used by the papers, and `raw`; and STS-B's source in each.

`senteval` is Moses tokens, lower-cased, joined by single blanks; a text without words becomes a full stop, as
in SentEval. `raw` is the published text without blanks at its ends. If the texts of a file are already
tokenised, its two forms differ only in blanks.
"""

from collections.abc import Sequence

FORMS = ("senteval", "raw")
STSB_SOURCES = {"senteval": ("stsb-senteval", "stsb"), "raw": ("stsb", "stsb-raw")}
"""Text form -> its sources. Converting the published sentences gives SentEval's exactly, in all 8,628
pairs (a mirror test), so both forms are available from any provider."""


def in_form(text: str, form: str) -> str:
    """Returns a file's text as input of the encoder; published sentences are tokenised first."""
    return text.strip() if form == "raw" else " ".join(text.split()) or "."


def stsb_source(text: str, providers: Sequence[str] | None) -> str:
    """Returns the source of STS-B in a form: from the first provider, preferring files of this form."""
    from harness.data.download import provider_order
    from harness.data.sources import SOURCES

    order = provider_order(providers)

    def rank(source: str) -> int:
        return min(
            (order.index(provider) for provider in SOURCES[source].providers if provider in order),
            default=len(order),
        )

    return min(STSB_SOURCES[text], key=rank)
