"""Bytes that are stored compressed and read as they were."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from payments.json_codecs.compression import DICTIONARY, compress, expand

EVENT = (
    b'{"id":"evt_01a210acc6e4767abd0f1dc644c0590f","object":"event",'
    b'"data":{"object":{"object":"charge","amount":10000}}}'
)


@given(st.binary(max_size=10_000))
def test_any_bytes_are_read_as_they_were_written(raw: bytes) -> None:
    assert expand(compress(raw)) == raw


def test_what_was_stored_once_can_be_read_for_ever() -> None:
    stored = (
        "482ca405e8c343cb858606c0868059aa89b9997962528a419a614ab2998949b281a9a5411ad05478"
        "6a81e550a86be012c8092a039aa7503211d0dd00dca02391"
    )
    assert zlib.adler32(DICTIONARY) == 2_751_850_691
    assert expand(bytes.fromhex(stored)) == EVENT
