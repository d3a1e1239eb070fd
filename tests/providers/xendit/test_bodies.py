"""What Xendit is sent. That it is as described is checked by the fake, whenever anything is sent in any test."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from payments.money import major_units, minor_units
from payments.providers.base import OnFile, Payer, Payment
from payments.providers.xendit.client import read, write
from tests.providers.bench import CARD, RETURN_URL, asked, operation, redirected, taken
from tests.providers.xendit.bench import XenditBench

AMOUNTS = st.integers(1, 99_999_999_999)


def sent(bench: XenditBench, payment: Payment) -> dict[str, Any]:
    """Return the body of the request for a payment."""
    bench.connector.create_payment(payment)
    body: dict[str, Any] = json.loads(bench.fake.requests[-1].body)
    return body


def test_a_payment_is_sent_in_whole_units_by_our_reference(bench: XenditBench) -> None:
    payment = asked(bench, amount=1_889)
    body = sent(bench, payment)
    assert (
        body.items() >= {"reference_id": payment.reference, "type": "PAY", "country": "PH", "currency": "PHP"}.items()
    )
    assert b'"request_amount": 18.89,' in bench.fake.requests[-1].body


@settings(deadline=None)
@given(amount=AMOUNTS, currency=st.sampled_from(["PHP", "JPY", "KWD"]))
def test_an_amount_is_written_and_read_to_the_last_digit(amount: int, currency: str) -> None:
    written = read(write({"amount": major_units(amount, currency)}))["amount"]
    assert isinstance(written, Decimal)
    assert minor_units(written, currency) == amount


def test_an_amount_is_written_digit_by_digit() -> None:
    assert write({"amount": Decimal("18.90")}) == b'{"amount": 18.90}'


def test_an_amount_with_more_decimals_than_the_currency_has_is_none_of_ours() -> None:
    with pytest.raises(ValueError):
        minor_units(Decimal("18.891"), "PHP")


@pytest.mark.parametrize("content", [b"[]", b"1", b"{", b'{"amount": NaN}', b"[" * 100_000, b"\xff"])
def test_what_is_no_object_of_json_is_not_read(content: bytes) -> None:
    with pytest.raises(ValueError):
        read(content)


def test_a_card_is_sent_with_its_holder(bench: XenditBench) -> None:
    card = replace(CARD, exp_month="3", name="Maria Clara de los Santos")
    assert sent(bench, asked(bench, card=card))["channel_properties"]["card_details"] == {
        "card_number": CARD.number,
        "expiry_month": "03",
        "expiry_year": "2039",
        "cvn": "123",
        "cardholder_first_name": "Maria Clara de los",
        "cardholder_last_name": "Santos",
        "cardholder_email": "juan@example.com",
        "cardholder_phone_number": "+639171234567",
    }


def test_a_name_is_sent_in_ascii(bench: XenditBench) -> None:
    card = replace(CARD, name="José Peña Ünal, Łódź")
    details = sent(bench, asked(bench, card=card))["channel_properties"]["card_details"]
    assert (details["cardholder_first_name"], details["cardholder_last_name"]) == ("Jose Pena Unal,", "Lodz")
    customer = sent(bench, asked(bench, source_type="bpi", card=None, payer=Payer("Niño Muñoz")))["customer"][
        "individual_detail"
    ]
    assert customer == {"given_names": "Nino", "surname": "Munoz"}


def test_what_is_not_known_of_a_payer_is_left_out(bench: XenditBench) -> None:
    card = replace(CARD, name="Juan", cvc=None)
    details = sent(bench, asked(bench, card=card, payer=Payer()))["channel_properties"]["card_details"]
    assert details.keys() == {"card_number", "expiry_month", "expiry_year", "cardholder_first_name"}


@pytest.mark.parametrize(
    ("authenticate", "absent", "skips"), [(True, False, False), (False, False, True), (True, True, True)]
)
def test_a_payer_is_authenticated_where_it_is_asked_and_they_are_there(
    bench: XenditBench, authenticate: bool, absent: bool, skips: bool
) -> None:
    properties = sent(bench, asked(bench, authenticate=authenticate, payer_absent=absent))["channel_properties"]
    assert properties["skip_three_ds"] is skips


@pytest.mark.parametrize(
    ("on_file", "absent", "recurring", "word"),
    [
        (OnFile.NO, False, False, None),
        (OnFile.TO_BE_KEPT, False, False, None),
        (OnFile.KEPT, False, False, "CUSTOMER_UNSCHEDULED"),
        (OnFile.KEPT, True, False, "MERCHANT_UNSCHEDULED"),
        (OnFile.KEPT, False, True, "RECURRING"),
        (OnFile.KEPT, True, True, "RECURRING"),
    ],
)
def test_a_kept_card_is_charged_in_the_words_of_card_networks(
    bench: XenditBench, on_file: OnFile, absent: bool, recurring: bool, word: str | None
) -> None:
    payment = asked(bench, on_file=on_file, payer_absent=absent, recurring=recurring)
    assert sent(bench, payment)["channel_properties"].get("card_on_file_type") == word


@pytest.mark.parametrize(("capture", "method"), [(True, "AUTOMATIC"), (False, "MANUAL")])
def test_a_hold_is_asked_for_as_one(bench: XenditBench, capture: bool, method: str) -> None:
    assert sent(bench, asked(bench, capture=capture))["capture_method"] == method


def test_a_statement_is_cut_to_what_fits(bench: XenditBench) -> None:
    properties = sent(bench, asked(bench, statement_descriptor="SARI STORE OF TONDO - MANILA"))["channel_properties"]
    assert properties["statement_descriptor"] == "SARI STORE OF TONDO -"


@pytest.mark.parametrize("source_type", ["gcash", "maya", "paymaya", "grabpay", "qrph", "instapay", "bdo", "rcbc"])
def test_a_payer_comes_back_to_us_whatever_they_did(bench: XenditBench, source_type: str) -> None:
    body = sent(bench, asked(bench, source_type=source_type, card=None))
    assert body["channel_properties"] == {"success_return_url": RETURN_URL, "failure_return_url": RETURN_URL}
    assert "customer" not in body


def test_a_bank_gets_the_payers_name(bench: XenditBench) -> None:
    payment = asked(bench, source_type="bpi", card=None)
    assert sent(bench, payment)["customer"] == {
        "type": "INDIVIDUAL",
        "reference_id": payment.reference,
        "individual_detail": {"given_names": "Juan dela", "surname": "Cruz"},
        "email": "juan@example.com",
        "mobile_number": "+639171234567",
    }


@pytest.mark.parametrize("payer", [Payer(), Payer(email="juan@example.com")])
def test_a_bank_gets_no_payer_without_a_name(bench: XenditBench, payer: Payer) -> None:
    assert "customer" not in sent(bench, asked(bench, source_type="bpi", card=None, payer=payer))


def test_what_is_too_long_of_a_customer_is_left_out(bench: XenditBench) -> None:
    payer = Payer(name="A" * 60, email=f"{'j' * 60}@example.com", phone="9" * 60)
    customer = sent(bench, asked(bench, source_type="bpi", card=None, payer=payer))["customer"]
    assert customer["individual_detail"] == {"given_names": "A" * 50}
    assert customer.keys() == {"type", "reference_id", "individual_detail"}


@pytest.mark.parametrize(
    ("reason", "announced"),
    [
        ("requested_by_customer", "REQUESTED_BY_CUSTOMER"),
        ("Duplicate", "DUPLICATE"),
        ("requested by customer", "REQUESTED_BY_CUSTOMER"),
        ("the mangoes were green", "OTHERS"),
        ("", "OTHERS"),
    ],
)
def test_a_refund_has_a_reason_that_xendit_knows(bench: XenditBench, reason: str, announced: str) -> None:
    bench.connector.refund(operation("refund", taken(bench), reason=reason))
    assert json.loads(bench.fake.requests[-1].body)["reason"] == announced


def test_a_refund_is_named_for_anybody_who_sends_it_twice(bench: XenditBench) -> None:
    refund = operation("refund", taken(bench), 4_000)
    bench.connector.refund(refund)
    request = bench.fake.requests[-1]
    assert request.headers["idempotency-key"] == refund.reference == json.loads(request.body)["reference_id"]


def test_a_payment_on_a_page_has_no_card(bench: XenditBench) -> None:
    assert "card_details" not in sent(bench, redirected(bench))["channel_properties"]
