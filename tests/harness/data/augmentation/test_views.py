"""Valid and invalid views in recipes/corpora.yaml."""

from typing import Any

import pytest

from harness.data.augmentation.views import needs_tool, read_views
from harness.errors import InputError

SWAP = {"kind": "swap", "column": 0, "share": 0.1, "at_least": 1, "clean": False}
FILL = {"kind": "fill", "column": 0, "share": 0.15, "choice": "best", "max_input": 128, "batch_tokens": 512}
COPY = {"kind": "copy", "column": 1, "source": "tool"}


def test_views_that_use_a_tool_are_known() -> None:
    views = read_views(
        [SWAP, {**SWAP, "kind": "synonym"}, FILL, COPY, {**COPY, "source": "origin"}], where="x"
    )
    assert [needs_tool(view) for view in views] == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({**SWAP, "kind": "swop"}, r"view 2: its content is .*swop"),
        ({**SWAP, "share": 1.5}, r"view 2: swap\.share is 1\.5"),
        ({**SWAP, "rate": 1}, r"swap\.rate"),
        ({key: value for key, value in SWAP.items() if key != "clean"}, r"swap\.clean"),
        ({**FILL, "share": 0.0}, r"fill\.share"),
    ],
)
def test_a_bad_setting_is_one_line_with_its_place(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_views([SWAP, entry], where="corpus 'x'")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("corpus 'x', view 2")
