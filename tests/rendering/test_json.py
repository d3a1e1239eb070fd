"""JSON as answers, events and columns have it: the same bytes whichever encoder wrote them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.json_codecs import verbatim_json
from payments.json_codecs.verbatim_json import Encoder, Number, number_of, to_bytes, to_sorted_bytes

# Numbers as they are read, also those of more than 64 bits.
NUMBERS = st.integers() | st.integers(-(2**100), 2**100) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
LEAVES = st.none() | st.booleans() | st.text() | NUMBERS.map(lambda it: number_of(it) if isinstance(it, str) else it)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@pytest.mark.long
@given(VALUES)
def test_both_encoders_write_the_same(value: Any) -> None:
    assert to_bytes(value) == Encoder().encode(value).encode()


@pytest.mark.long
@given(VALUES)
def test_both_encoders_sort_in_the_same_way(value: Any) -> None:
    assert to_sorted_bytes(value) == Encoder(sort_keys=True).encode(value).encode()


@pytest.mark.parametrize("text", ["1e2", "1.10", "-0", "1E+16", "1e-07", "123456789012345678901234567890"])
def test_a_number_is_written_as_it_was_read(text: str) -> None:
    assert to_bytes(verbatim_json.loads(f'{{"n":{text}}}')) == f'{{"n":{text}}}'.encode()


def test_a_number_beside_a_long_one_is_written_as_it_was_read() -> None:
    assert to_bytes([Number("1.10"), 2**70]) == b"[1.10,1180591620717411303424]"


def test_a_value_that_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError):
        to_bytes({"moment": object()})
