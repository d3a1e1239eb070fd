"""What Adyen is asked, held to its own description."""

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments import ids
from payments.providers.adyen import bodies
from payments.providers.adyen.channels import METHODS
from payments.providers.adyen.client import to_bytes
from payments.providers.base import OnFile, Operation, Payer, Payment
from tests.providers.adyen.factories import asked
from tests.providers.adyen.fake import CHECKOUT
from tests.providers.adyen.webhooks import MERCHANT_ACCOUNT
from tests.providers.bench import CARD

KNOWN = Payer("Juan", "juan@example.com", "+639171234567")
# What a merchant may have on a statement.
DESCRIPTORS = st.text(string.ascii_letters + string.digits + " '#_.,-ñ", min_size=3, max_size=100)


def body_of(payment: Payment) -> dict[str, object]:
    body = bodies.payment(payment, MERCHANT_ACCOUNT)
    CHECKOUT.check_request("POST", "/payments", body)
    return body


@pytest.mark.parametrize(
    "payer", [Payer(), Payer("Juan", "juan@example.com", "+639171234567")], ids=["nobody", "known"]
)
@pytest.mark.parametrize("source_type", METHODS)
def test_a_payment_of_each_type_is_as_described(source_type: str, payer: Payer) -> None:
    assert body_of(asked(source_type, payer=payer))["paymentMethod"]["type"] == METHODS[source_type]


def test_a_holder_is_sent_in_ascii() -> None:
    method = body_of(asked(card=replace(CARD, name="José Peña")))["paymentMethod"]
    assert method["holderName"] == "Jose Pena"


@pytest.mark.parametrize("capture", [True, False])
@pytest.mark.parametrize("authenticate", [True, False])
@pytest.mark.parametrize("payer_absent", [True, False])
def test_a_card_is_as_described_however_it_is_asked_for(capture: bool, authenticate: bool, payer_absent: bool) -> None:
    body = body_of(asked(capture=capture, authenticate=authenticate, payer_absent=payer_absent))
    assert (body.get("captureDelayHours") == 0) == capture
    assert (body.get("additionalData") == {"manualCapture": "true"}) == (not capture)
    assert body["authenticationData"]["attemptAuthentication"] == (
        "always" if authenticate and not payer_absent else "never"
    )
    assert body["shopperInteraction"] == ("ContAuth" if payer_absent else "Ecommerce")


@pytest.mark.parametrize(
    ("on_file", "payer_absent", "recurring", "interaction", "model"),
    [
        (OnFile.NO, False, False, "Ecommerce", None),
        (OnFile.TO_BE_KEPT, False, False, "Ecommerce", "UnscheduledCardOnFile"),
        (OnFile.KEPT, False, False, "ContAuth", "CardOnFile"),
        (OnFile.KEPT, False, True, "Ecommerce", "Subscription"),
        (OnFile.KEPT, True, False, "ContAuth", "UnscheduledCardOnFile"),
        (OnFile.KEPT, True, True, "ContAuth", "Subscription"),
    ],
)
def test_a_kept_card_is_charged_in_the_words_of_card_networks(
    on_file: OnFile, payer_absent: bool, recurring: bool, interaction: str, model: str | None
) -> None:
    body = body_of(asked(on_file=on_file, payer_absent=payer_absent, recurring=recurring))
    assert (body["shopperInteraction"], body.get("recurringProcessingModel")) == (interaction, model)


@pytest.mark.parametrize("capture", [True, False])
def test_a_charge_without_the_payer_names_the_networks_first_payment(capture: bool) -> None:
    kept = asked(on_file=OnFile.KEPT, payer_absent=True, network_reference="MCC1234560321", capture=capture)
    held = {} if capture else {"manualCapture": "true"}
    assert body_of(kept)["additionalData"] == {"networkTxReference": "MCC1234560321"} | held
    assert "networkTxReference" not in body_of(replace(kept, payer_absent=False)).get("additionalData", {})


def test_a_card_to_be_kept_is_checked_by_a_payment_of_nothing() -> None:
    body = body_of(asked(amount=0, on_file=OnFile.TO_BE_KEPT, capture=False, authenticate=False))
    assert (body["amount"]["value"], body["shopperInteraction"]) == (0, "Ecommerce")
    assert body["recurringProcessingModel"] == "UnscheduledCardOnFile"


def test_a_kept_card_goes_without_a_cvc() -> None:
    assert "cvc" not in body_of(asked(card=replace(CARD, cvc=None), payer_absent=True))["paymentMethod"]


@pytest.mark.long
@given(DESCRIPTORS)
def test_a_statement_shows_what_banks_can_show(descriptor: str) -> None:
    shown = body_of(asked(statement_descriptor=descriptor)).get("shopperStatement", "a")
    assert 1 <= len(shown) <= 22
    assert set(shown) <= set(string.ascii_letters + string.digits + " .,'_-?+*/")


def test_the_same_question_is_asked_in_the_same_bytes() -> None:
    payment = asked(payer=KNOWN)
    body = body_of(payment)
    again = dict(reversed(body_of(replace(payment, provider_ref="PSP1")).items()))
    assert to_bytes(body) == to_bytes(again)


@pytest.mark.parametrize(
    ("kind", "verb"), [(bodies.TAKEN, "captures"), (bodies.RELEASED, "reversals"), (bodies.RETURNED, "refunds")]
)
def test_what_is_done_with_a_payment_is_as_described(kind: str, verb: str) -> None:
    operation = Operation(ids.new_id().hex, kind, ids.new_id().hex, "PSP1", 6_000, "PHP")
    body = bodies.modification(operation, kind, MERCHANT_ACCOUNT)
    CHECKOUT.check_request("POST", f"/payments/PSP1/{verb}", body)
    assert body["reference"] == f"{kind}-{operation.reference}"


def test_continue_and_end_are_as_described() -> None:
    CHECKOUT.check_request("POST", "/payments/details", bodies.details("X6XtfGC3"))
    CHECKOUT.check_request("POST", "/cancels", bodies.cancel(ids.new_id().hex, MERCHANT_ACCOUNT))
