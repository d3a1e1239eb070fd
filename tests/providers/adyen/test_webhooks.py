"""What Adyen reports by itself: every item verified, and read as what it is about."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from payments import ids
from payments.providers.adyen import disputes, webhooks
from payments.providers.base import Approved, BadSignature, Declined, Unknown, WebhookEvent
from payments.providers.disputes import Disputed, Reason, Stage
from tests.providers.adyen.webhooks import HMAC_KEY, MERCHANT_ACCOUNT, item_of, signed, webhook_of
from tests.providers.openapi import SPECS

VECTORS = json.loads((SPECS / "adyen-hmac-vectors.json").read_text())["vectors"]
PAYMENT, OPERATION = ids.new_id().hex, ids.new_id().hex
AT_ONCE, LATER = {"metadata.capture": "at_once"}, {"metadata.capture": "later"}


def announced(event: str, *, success: bool = True, reference: str = PAYMENT, **members: Any) -> dict[str, Any]:
    """Return an item about `reference`, whose amount is PHP 100.00."""
    named = {"merchantReference": reference, "pspReference": "PSP2"}
    return item_of(event, success=success, currency="PHP", value=10_000, **named, **members)


def read(*items: dict[str, Any]) -> list[WebhookEvent]:
    """Return the found_all in a message of these items."""
    _, body = webhook_of(*items)
    return webhooks.read(body, HMAC_KEY, MERCHANT_ACCOUNT)


def read_vector(vector: dict[str, Any]) -> list[WebhookEvent]:
    body = vector["body"]
    items = body.get("notificationItems") or [{"NotificationRequestItem": body}]
    message = json.dumps({"live": "false", "notificationItems": items}).encode()
    account = items[0]["NotificationRequestItem"]["merchantAccountCode"]
    return webhooks.read(message, vector["hmac_key_hex"], f"not {account}")


@pytest.mark.parametrize("vector", [each for each in VECTORS if each["valid"]], ids=lambda each: each["name"])
def test_what_adyen_signed_is_accepted(vector: dict[str, Any]) -> None:
    assert read_vector(vector) == []


@pytest.mark.parametrize("vector", [each for each in VECTORS if not each["valid"]], ids=lambda each: each["name"])
def test_one_item_that_adyen_did_not_sign_spoils_the_message(vector: dict[str, Any]) -> None:
    with pytest.raises(BadSignature):
        read_vector(vector)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"notificationItems": []}',
        b'{"notificationItems": null}',
        b'{"notificationItems": [{}]}',
        b'{"notificationItems": [{"NotificationRequestItem": null}]}',
        b'{"notificationItems": [{"NotificationRequestItem": {"additionalData": {"hmacSignature": 1}}}]}',
        b'{"notificationItems": [{"NotificationRequestItem": {"additionalData": {"hmacSignature": "\\u00e9"}}}]}',
    ],
)
def test_what_nobody_signed_is_not_read(body: bytes) -> None:
    with pytest.raises(BadSignature):
        webhooks.read(body, HMAC_KEY, MERCHANT_ACCOUNT)


def test_a_key_of_another_account_is_no_key() -> None:
    _, body = webhook_of(announced("REFUND"))
    with pytest.raises(BadSignature):
        webhooks.read(body, "00" * 32, MERCHANT_ACCOUNT)


@pytest.mark.parametrize(("metadata", "captured"), [(AT_ONCE, True), (LATER, False)])
def test_a_card_that_was_authorised_is_taken_or_held_as_its_metadata_says(
    metadata: dict[str, str], captured: bool
) -> None:
    [found] = read(announced("AUTHORISATION", paymentMethod="visa", additionalData=metadata))
    assert found == WebhookEvent(PAYMENT, Approved("PSP2", captured), "PSP2:AUTHORISATION:true", 10_000, "PHP")


def test_an_authorisation_names_the_networks_reference() -> None:
    additional = AT_ONCE | {"networkTxReference": "MCC1234560321"}
    [found] = read(announced("AUTHORISATION", paymentMethod="visa", additionalData=additional))
    assert isinstance(found.outcome, Approved)
    assert found.outcome.network_reference == "MCC1234560321"


def test_metadata_are_read_in_a_member_of_their_own_too() -> None:
    item = announced("AUTHORISATION", paymentMethod="visa", additionalData={"metadata": {"capture": "later"}})
    assert read(item)[0].outcome == Approved("PSP2", captured=False)


def test_of_a_card_it_is_not_guessed_whether_it_is_held() -> None:
    with pytest.raises(ValueError, match="held"):
        read(announced("AUTHORISATION", paymentMethod="visa"))


def test_what_can_only_be_taken_at_once_was_taken() -> None:
    assert read(announced("AUTHORISATION", paymentMethod="gcash"))[0].outcome == Approved("PSP2", captured=True)


@pytest.mark.parametrize(
    ("reason", "code", "shown"),
    [("Expired Card", "expired_card", "6"), ("FRAUD", "card_declined", "2"), ("", "card_declined", "2")],
)
def test_a_payment_that_was_refused_is_declined_by_the_reasons_words(reason: str, code: str, shown: str) -> None:
    [found] = read(announced("AUTHORISATION", success=False, reason=reason, additionalData=AT_ONCE))
    assert isinstance(found.outcome, Declined)
    assert (found.outcome.code, found.outcome.provider_code) == (code, shown)
    assert found.key == "PSP2:AUTHORISATION:false"


@pytest.mark.parametrize("event", ["OFFER_CLOSED", "EXPIRE"])
def test_what_ran_out_has_expired(event: str) -> None:
    [found] = read(announced(event))
    # Of a hold that was captured in part it reports what was left.
    assert found == WebhookEvent(PAYMENT, Declined("action_expired", "PSP2", event), f"PSP2:{event}:true", None, "PHP")


def test_what_was_ended_by_our_reference_is_over() -> None:
    [found] = read(announced("TECHNICAL_CANCEL", originalReference="PSP1"))
    assert (found.reference, found.outcome) == (PAYMENT, Declined("processing_error", "PSP1", "TECHNICAL_CANCEL"))


def test_that_there_was_nothing_to_end_does_not_say_what_there_was() -> None:
    assert read(announced("TECHNICAL_CANCEL", success=False)) == []


@pytest.mark.parametrize(("event", "kind"), [("CAPTURE", "capture"), ("REFUND", "refund")])
def test_what_was_done_is_reported_with_our_operation_and_its_amount(event: str, kind: str) -> None:
    [found] = read(announced(event, reference=f"{kind}-{OPERATION}"))
    assert found == WebhookEvent(OPERATION, Approved("PSP2"), f"PSP2:{event}:true", 10_000, "PHP")


@pytest.mark.parametrize("event", ["CANCEL_OR_REFUND", "CANCELLATION"])
def test_a_release_is_of_everything_there_is(event: str) -> None:
    [found] = read(announced(event, reference=f"void-{OPERATION}"))
    assert found == WebhookEvent(OPERATION, Approved("PSP2"), f"PSP2:{event}:true")


@pytest.mark.parametrize(
    ("event", "kind"), [("CAPTURE", "capture"), ("REFUND", "refund"), ("CANCEL_OR_REFUND", "void")]
)
def test_what_could_not_be_done_is_declined_and_operators_read_why(event: str, kind: str) -> None:
    [found] = read(announced(event, success=False, reference=f"{kind}-{OPERATION}", reason="Insufficient balance"))
    assert found.outcome == Declined("processing_error", "PSP2", event, "Insufficient balance")


@pytest.mark.parametrize(
    ("event", "kind"), [("CAPTURE_FAILED", "capture"), ("REFUND_FAILED", "refund"), ("REFUNDED_REVERSED", "refund")]
)
def test_what_fails_afterwards_is_declined_though_the_event_succeeded(event: str, kind: str) -> None:
    [found] = read(announced(event, reference=f"{kind}-{OPERATION}", reason="failed at the scheme"))
    assert found.reference == OPERATION
    assert isinstance(found.outcome, Declined)


@pytest.mark.parametrize("event", ["REFUND", "CANCEL_OR_REFUND", "CANCELLATION", "CAPTURE_FAILED"])
def test_what_is_done_by_hand_at_adyen_does_not_pass_for_the_payment(event: str) -> None:
    [found] = read(announced(event, reference=PAYMENT))
    assert (found.reference, found.payment) == ("PSP2", PAYMENT)


def test_an_operation_of_another_kind_does_not_pass_for_ours() -> None:
    [found] = read(announced("REFUND", reference=f"capture-{OPERATION}"))
    assert (found.reference, found.payment) == ("PSP2", OPERATION)


def test_that_what_is_taken_at_once_was_taken_is_no_news() -> None:
    assert read(announced("CAPTURE", reference=PAYMENT)) == []


@pytest.mark.parametrize("reference", [PAYMENT, f"refund-{PAYMENT}"], ids=["payment", "refund"])
def test_an_event_that_no_table_names_is_reported_with_all_that_it_names(reference: str) -> None:
    item = announced("DISPUTE_OF_A_KIND_TO_COME", reference=reference, originalReference="PSP1")
    why = "Adyen reports DISPUTE_OF_A_KIND_TO_COME, which kaha does not know."
    key = "PSP2:DISPUTE_OF_A_KIND_TO_COME:true"
    assert read(item) == [WebhookEvent("PSP2", Unknown(why), key, provider_ref="PSP1", payment=PAYMENT)]


def test_items_of_another_account_and_events_that_are_no_news_are_passed_over() -> None:
    elsewhere = announced("REFUND", reference=f"refund-{OPERATION}") | {"merchantAccountCode": "Somebody"}
    no_news = announced("RECURRING_CONTRACT")
    ours = announced("REFUND", reference=f"refund-{OPERATION}")
    wrapped = [{"NotificationRequestItem": signed(item)} for item in (elsewhere, no_news, ours)]
    body = json.dumps({"live": "false", "notificationItems": wrapped}).encode()
    assert [found.reference for found in webhooks.read(body, HMAC_KEY, MERCHANT_ACCOUNT)] == [OPERATION]


def test_every_item_of_a_message_is_read() -> None:
    other = ids.new_id().hex
    found_all = read(
        announced("REFUND", reference=f"refund-{OPERATION}"), announced("REFUND", reference=f"refund-{other}")
    )
    assert [found.reference for found in found_all] == [OPERATION, other]


def test_an_item_that_lacks_what_every_event_has_cannot_be_understood() -> None:
    item = announced("REFUND")
    del item["pspReference"]
    body = json.dumps({"notificationItems": [{"NotificationRequestItem": signed(item)}]}).encode()
    with pytest.raises(ValueError, match="pspReference"):
        webhooks.read(body, HMAC_KEY, MERCHANT_ACCOUNT)


@pytest.mark.parametrize(("event", "stage"), disputes.STAGES.items())
def test_a_dispute_is_reported_at_its_stage_and_moves_nothing_by_itself(event: str, stage: Stage) -> None:
    additional = {"chargebackReasonCode": "13.1", "defensePeriodEndsAt": "2026-12-01T10:00:00+01:00", "arn": "ARN7"}
    [found] = read(announced(event, originalReference="PSP1", additionalData=additional))
    assert (found.reference, found.outcome, found.key) == (PAYMENT, None, f"PSP2:{event}:true")
    due = datetime(2026, 12, 1, 9, tzinfo=UTC)
    assert found.dispute == Disputed("PSP2", stage, 10_000, "PHP", Reason.NOT_RECEIVED, "13.1", "ARN7", due)


@pytest.mark.parametrize(("event", "stage"), disputes.OF_INQUIRY.items())
def test_what_follows_a_request_for_information_is_no_step_of_a_chargeback(event: str, stage: Stage) -> None:
    [found] = read(announced(event, additionalData={"rfiReasonCode": "30"}))
    assert isinstance(found.dispute, Disputed)
    assert (found.dispute.stage, stage < Stage.CHARGEBACK) == (stage, True)


@pytest.mark.parametrize("given", [{}, {"defensePeriodEndsAt": "soon"}, {"defensePeriodEndsAt": "2026-12-01"}])
def test_a_dispute_without_a_code_or_with_an_odd_deadline_is_reported_all_the_same(given: dict[str, str]) -> None:
    [found] = read(announced("CHARGEBACK", additionalData=given))
    assert found.dispute == Disputed("PSP2", Stage.CHARGEBACK, 10_000, "PHP")
