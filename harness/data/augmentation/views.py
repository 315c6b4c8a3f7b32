"""The kinds of view that a derived corpus may declare, with their settings; loads no heavy library.

A view augments one `column` of the origin: 0 is its sentences, p its view p. Settings have no defaults: the
numbers are in recipes/corpora.yaml.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from harness.io.declarations import DeclaredModel, refused_in_one_line


class _View(DeclaredModel):
    column: int = Field(ge=0, description="augmented column: 0 the sentences of the origin, p its view p")


class Copy(_View):
    """An unchanged column of the origin, or of the tool if that is a corpus with the same sentences."""

    kind: Literal["copy"]
    source: Literal["origin", "tool"]


class Generate(_View):
    """Each text's output of a sequence-to-sequence model under beam search; the tool is the model.

    A null field takes the generation setting of the model's folder.
    """

    kind: Literal["generate"]
    beams: int | None = Field(ge=1, description="width of the beam; 1: greedy")
    length_penalty: float | None = Field(description="exponent of the length in a beam's score")
    max_input: int = Field(ge=2, description="input tokens, end of sentence included; the rest is cut")
    max_new_tokens: int = Field(ge=1, description="longest output in tokens")
    longest_ratio: float = Field(
        gt=0, description="outputs of more words than this times the input's run away"
    )
    fallback_limit: float = Field(ge=0, le=1, description="largest share of empty and runaway outputs")
    batch_tokens: int = Field(ge=1, description="padded input tokens of one batch")


class Fill(_View):
    """Each text with a share of its tokens masked and filled in; the tool is a masked language model."""

    kind: Literal["fill"]
    share: float = Field(gt=0, lt=1, description="share of the tokens that is masked, at least one token")
    choice: Literal["best", "sample"] = Field(description="the most probable token, or a sample")
    max_input: int = Field(
        ge=3, description="input tokens, special tokens included; the rest stays unchanged"
    )
    batch_tokens: int = Field(ge=1, description="padded input tokens of one batch")


class Edit(_View):
    """Each text with words edited; `synonym` and `insert` need a WordNet folder as the tool.

    `crop` and `remove` are SimCSE's: contiguous words are kept, or an exact number of words is removed. The
    others are EDA's, whose `delete` draws for each word independently.
    """

    kind: Literal["synonym", "insert", "swap", "delete", "crop", "remove"]
    share: float = Field(
        ge=0, lt=1, description="share of the words; for delete the probability of each word"
    )
    at_least: int = Field(ge=0, description="fewest edits of a text; for delete and crop 0")
    clean: bool = Field(description="first convert to lower case and keep only letters and blanks")


SENTENCE_PIECES = ("sentencepiece", "protobuf")
"""Packages that the tokenizer of a `generate` model needs; the extra `augmentation` installs them."""

View = Copy | Generate | Fill | Edit
NEEDS_TOOL = {"generate", "fill", "synonym", "insert"}

_VIEW: TypeAdapter[View] = TypeAdapter(Annotated[View, Field(discriminator="kind")])


def read_views(entries: Sequence[Mapping[str, Any]], *, where: str) -> list[View]:
    """Returns the views of a declaration. Errors: InputError that names `where` and the setting."""
    views = []
    for number, entry in enumerate(entries, 1):
        with refused_in_one_line(f"{where}, view {number}"):
            views.append(_VIEW.validate_python(dict(entry)))
    return views


def needs_tool(view: View) -> bool:
    """Returns whether a view needs a tool: a model, a lexicon or another corpus."""
    return view.kind in NEEDS_TOOL or (isinstance(view, Copy) and view.source == "tool")
