"""The two forms of a text: `senteval`, which the papers evaluate, and `raw`; and STS-B's source in each.

`senteval` is Moses tokens, lower-cased, joined by single blanks; a text without words becomes a full stop, as
in SentEval. `raw` is the published text without blanks at its ends. If the texts of a file are already
tokenised, its two forms differ only in blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.errors import InputError, near_matches

FORMS = ("senteval", "raw")
STSB_SOURCES = {"senteval": ("stsb-senteval", "stsb"), "raw": ("stsb", "stsb-raw")}
"""Text form -> its sources. Converting the published sentences gives SentEval's exactly, in all 8,628 pairs
(a mirror test), so either form can be made from any provider."""


def check_form(form: str) -> None:
    """Raises InputError for a form that does not exist."""
    if form not in FORMS:
        raise InputError(
            f"text form {form!r} is not known, expected {' or '.join(FORMS)}{near_matches(form, list(FORMS))}"
        )


def in_form(text: str, form: str, *, published: bool) -> str:
    """Returns a text of a file as the encoder gets it; `published`: the file holds raw sentences."""
    if form == "raw":
        return text.strip()
    if published:
        from harness.data.text import senteval_text

        text = senteval_text(text)
    return " ".join(text.split()) or "."


def in_forms(texts: Sequence[str], form: str, *, published: bool) -> list[str]:
    """Returns `in_form` of each text; published texts are tokenised once per source."""
    if published and form != "raw":
        from harness.data.text import senteval_texts

        texts, published = senteval_texts(texts), False
    return [in_form(text, form, published=published) for text in texts]


def never_empty(form: str) -> Callable[[str], str]:
    """Returns the function from a tokenised text of a file to the encoder's; without words it is a full stop.

    Errors: InputError for a form that does not exist.
    """
    check_form(form)
    return lambda text: in_form(text, form, published=False) or "."


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


def source_with_origins(text: str, providers: Sequence[str] | None) -> str:
    """Returns the same among the sources that name the origin of a pair, as stsb-raw does not."""
    return "stsb" if text == "raw" else stsb_source(text, providers)
