"""YAML of any content: the written value, or a one-line error."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.io.yaml_files import read_yaml
from tests.support.yaml_files import dump_yaml

pytestmark = pytest.mark.thorough
MANY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cf"], exclude_characters="\u2028\u2029"), max_size=12
)
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), TEXT)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)
MAPPING = st.dictionaries(TEXT, VALUE, min_size=1, max_size=4)
CONTENT = st.one_of(
    st.binary(max_size=80),
    st.text(st.sampled_from("ab:-[]{}&*!|>'\"#%@,?\n \t01.~"), max_size=60).map(str.encode),
    MAPPING.map(lambda value: dump_yaml(value, allow_unicode=True).encode()),
)


@MANY
@given(content=CONTENT)
@example(content=b"")
@example(content=b"a: *b")
@example(content=b"&a [*a]")
@example(content=b"? [a]\n: 1")
@example(content=b"<<: {a: 1}\na: 2")
@example(content=b"[" * 5000)
@example(content=b"!!python/object/apply:os.system [ls]")
@example(content=b"0x: 12:30:45\n2001-99-99: 1")
def test_any_bytes_are_read_as_yaml_reads_them_or_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(content)
    actual, refused = None, str(path)
    try:
        actual = read_yaml(path)
    except InputError as error:
        refused = str(error)
    assert len(refused.splitlines()) == 1
    assert refused.startswith(str(path))
    if actual is not None:
        assert repr(actual) == repr(yaml.load(content.decode(), yaml.CSafeLoader))


@MANY
@given(value=MAPPING, depth=st.integers(0, 3), in_list=st.booleans())
def test_a_repeated_key_is_refused_at_any_depth(
    tmp_path: Path, value: dict[str, Any], depth: int, in_list: bool
) -> None:
    """The first key of the mapping is written once more behind the others, whatever they hold."""
    key, *_ = value
    again = dump_yaml({key: 0}, allow_unicode=True)
    lines = (dump_yaml(value, allow_unicode=True, sort_keys=False) + again).splitlines(True)
    for level in range(depth):
        lines = [f"level{level}:\n", *(f"  {line}" for line in lines)]
    if in_list:
        lines = ["- x: 1\n", "-\n", *(f"  {line}" for line in lines)]
    path = tmp_path / "file.yaml"
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="appears twice") as caught:
        read_yaml(path)
    assert len(str(caught.value).splitlines()) == 1
