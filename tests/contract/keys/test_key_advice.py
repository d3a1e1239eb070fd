"""A text that is no key is answered with what is wrong with it, and is never repeated."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.api.access.key_advice import advice_on
from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, error_of

RANDOM = "Q7wLkXo2pD9sVbN4" * 7
STRIPE = f"sk_live_51{RANDOM[:97]}"


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("authorization", "code", "words"),
    [
        *((form, "key_missing", "is your variable set?") for form in (basic(":"), basic(""), "Bearer", "Basic")),
        (basic(" :"), "key_missing", "is your variable set?"),
        *(
            (form, "key_invalid", "is your variable set?")
            for form in ("Bearer $KEY", "Bearer <SECRET_KEY>", "Bearer KEY")
        ),
        (f"Bearer {STRIPE}", "key_invalid", "stripe"),
        (basic(f"{STRIPE}:"), "key_invalid", "stripe"),
        (f"Bearer rk_test_51{RANDOM[:97]}", "key_invalid", "stripe"),
        ("Bearer rzp_test_4f8KxPqL2mNcWd", "key_invalid", "razorpay"),
        ("Bearer xnd_development_O46JfOtygef9kMNs", "key_invalid", "xendit"),
        (f"Bearer AQE{RANDOM}", "key_invalid", "adyen"),
        ("Bearer whsec_c2VjcmV0c2VjcmV0", "key_invalid", "signing secret"),
        (f"Bearer sk_test_{RANDOM[:24]}", "key_invalid", "cut short, or it is of another service"),
        ("Bearer sk_test_", "key_invalid", "cut short"),
        ("Bearer sk_test_…", "key_invalid", "masked"),
        ("Bearer ****51ab", "key_invalid", "masked"),
        (f"Bearer sk_test_{'A' * 48}", "key_invalid", "more or other characters"),
        ("Token sk_test_1", "key_invalid", "must be basic or bearer"),
        (f"sk_test_{'0' * 48}", "key_invalid", "must be basic or bearer"),
        (f"Basic sk_test_{'0' * 48}", "key_invalid", "base64 of key:"),
        ("Bearer hello", "key_invalid", "not a key of kaha"),
    ],
)
def test_what_is_no_key_is_answered_with_what_is_wrong(authorization: str, code: str, words: str) -> None:
    response = Api("").client.get("/v2/ping", headers={"Authorization": authorization})
    error = error_of(response)
    assert (response.status_code, error["code"]) == (401, code)
    assert words in error["message"].lower()


@pytest.mark.parametrize("around", ['"{}"', "'{}'", "{}\n", " {}", "{}\r"])
def test_a_key_with_more_around_it_is_answered_with_what_to_take_away(shop: NewMerchant, around: str) -> None:
    response = Api("").client.get(
        "/v2/ping", headers={"Authorization": basic(around.format(shop.keys["sk_test"]) + ":")}
    )
    assert "Take" in error_of(response)["message"]


@given(
    st.sampled_from(["", "sk_test_", "sk_live_51", "rzp_", "xnd_", "AQE", "$"]),
    st.text("0123456789abcdefXYZ_", min_size=9),
)
def test_no_advice_repeats_the_key(beginning: str, rest: str) -> None:
    assert rest not in advice_on(beginning + rest)


@pytest.mark.parametrize("text", ["\n" * 60_000, '"' * 60_000, "*" * 60_000, "." * 60_000, "sk_test_" + "a" * 60_000])
def test_advice_on_a_long_text_is_short(text: str) -> None:
    assert len(advice_on(text)) < 250
