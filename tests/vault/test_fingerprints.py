import hashlib
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.vault import card_fingerprint, import_fingerprint, request_fingerprint

NUMBER = "4242424242424242"
OTHER_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


def test_the_same_number_has_the_same_fingerprint() -> None:
    assert card_fingerprint(NUMBER) == card_fingerprint(NUMBER)


def test_different_numbers_have_different_fingerprints() -> None:
    assert card_fingerprint(NUMBER) != card_fingerprint("4000000000000002")


@pytest.mark.parametrize("fingerprint", [card_fingerprint(NUMBER), request_fingerprint("POST", "/v2/charges/", b"{}")])
def test_a_fingerprint_is_32_bytes(fingerprint: bytes) -> None:
    assert len(fingerprint) == 32


def test_a_fingerprint_depends_on_the_key(settings) -> None:
    before = card_fingerprint(NUMBER), request_fingerprint("POST", "/", b""), import_fingerprint("c-1")
    settings.FINGERPRINT_KEY = OTHER_KEY
    after = card_fingerprint(NUMBER), request_fingerprint("POST", "/", b""), import_fingerprint("c-1")
    assert not set(before) & set(after)


def test_a_fingerprint_is_not_the_plain_digest() -> None:
    assert card_fingerprint(NUMBER) != hashlib.sha256(NUMBER.encode()).digest()


REQUESTS = [
    ("POST", "/v2/charges/", b'{"amount":1}'),
    ("PUT", "/v2/charges/", b'{"amount":1}'),
    ("POST", "/v2/sources/", b'{"amount":1}'),
    ("POST", "/v2/charges/", b'{"amount":2}'),
    ("POST", "/v2/charges/{", b'"amount":1}'),
    ("POST/", "v2/charges/", b'{"amount":1}'),
    ("", "", NUMBER.encode()),
]


@pytest.mark.parametrize(("one", "other"), list(combinations(REQUESTS, 2)))
def test_requests_that_differ_anywhere_have_different_fingerprints(one, other) -> None:
    assert request_fingerprint(*one) != request_fingerprint(*other)


@given(st.text(alphabet="0123456789", min_size=16, max_size=16))
def test_a_request_that_holds_a_number_has_not_the_fingerprint_of_the_card(number: str) -> None:
    assert request_fingerprint("", "", number.encode()) != card_fingerprint(number)
