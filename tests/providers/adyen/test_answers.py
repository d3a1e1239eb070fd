"""What Adyen's answers mean, and which of them are not believed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments import ids
from payments.providers.adyen import answers, bodies
from payments.providers.base import ActionRequired, Approved, CardFacts, Declined, Operation, Outcome, Pending, Unknown
from tests.providers.adyen.factories import asked
from tests.providers.adyen.fake import CHECKOUT

PAYMENT = asked("gcash", provider_ref="PSP1")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "url", "value"]), inner),
    max_leaves=4,
)
# Answers with the right members and whatever in them, now and then what belongs there.
ODD = st.fixed_dictionaries(
    {},
    optional={
        "resultCode": st.sampled_from(["Authorised", "Refused", "Error", "Pending", "Success"]) | ANYTHING,
        "pspReference": st.just("PSP1") | ANYTHING,
        "merchantReference": st.just(PAYMENT.reference) | ANYTHING,
        "amount": st.just(bodies.amount(PAYMENT)) | ANYTHING,
        "additionalData": st.just({"cvcResult": 1}) | ANYTHING,
        "refusalReasonCode": st.just("12") | ANYTHING,
        "action": ANYTHING,
    },
)
PAGE = {"type": "redirect", "method": "GET", "url": "https://checkoutshopper-test.adyen.com/page"}


def announced(result: str, **members: Any) -> dict[str, Any]:
    """Build an answer about PAYMENT."""
    named = {"pspReference": "PSP1", "merchantReference": PAYMENT.reference, "amount": bodies.amount(PAYMENT)}
    return {"resultCode": result, **named, **members}


def created(answer: dict[str, Any]) -> Outcome:
    CHECKOUT.check_answer("POST", "/payments", 200, answer)
    return answers.created(answer, PAYMENT)


def test_a_payment_that_is_authorised_is_taken_or_held_as_was_asked() -> None:
    held = asked(capture=False)
    answer = {"resultCode": "Authorised", "pspReference": "PSP1", "merchantReference": held.reference}
    assert answers.created(answer, held) == Approved("PSP1", False, response={"resultCode": "Authorised"})
    assert created(announced("Authorised")) == Approved("PSP1", True, response={"resultCode": "Authorised"})


@pytest.mark.parametrize(
    ("result", "checked"),
    [("1 Matches", "pass"), ("2 Doesn't match", "fail"), ("5 Issuer not certified", "unavailable"), ("", "unchecked")],
)
def test_how_the_cvc_was_checked_and_the_networks_reference_are_kept(result: str, checked: str) -> None:
    outcome = created(announced("Authorised", additionalData={"cvcResult": result, "networkTxReference": "MCC12"}))
    assert isinstance(outcome, Approved)
    assert (outcome.cvc_checked, outcome.network_reference) == (checked, "MCC12")


def test_what_adyen_says_of_a_card_is_kept_whether_it_is_approved_or_declined() -> None:
    said = {"cardIssuingBank": "Bank of Manila", "cardIssuingCountry": "PH", "fundingSource": "PREPAID_RELOADABLE"}
    outcomes = [created(announced(result, additionalData=said)) for result in ("Authorised", "Refused")]
    assert [getattr(outcome, "card", None) for outcome in outcomes] == 2 * [
        CardFacts("Bank of Manila", "PH", "prepaid")
    ]


def test_what_adyen_says_of_a_card_in_other_words_is_not_known() -> None:
    said = {"cardIssuingCountry": "Philippines", "issuerCountry": 608, "fundingSource": "GIFT", "cardIssuingBank": 7}
    assert answers.card_facts(said) is None


def test_operators_read_the_issuers_answer_and_nothing_of_the_payer() -> None:
    additional = {"refusalReasonRaw": "AUTHORISED", "shopperEmail": "juan@example.com", "cardSummary": "1111"}
    outcome = created(announced("Authorised", additionalData=additional))
    assert isinstance(outcome, Approved)
    assert outcome.response == {"resultCode": "Authorised", "refusalReasonRaw": "AUTHORISED"}


def test_a_page_is_where_the_payer_goes() -> None:
    assert created(announced("RedirectShopper", action=PAGE)) == ActionRequired("PSP1", PAGE["url"])


def test_a_code_is_what_the_payer_scans() -> None:
    action = {"type": "qrCode", "qrCodeData": "weixin://pay/1"}
    assert created(announced("Pending", action=action)) == ActionRequired("PSP1", "", qr="weixin://pay/1")


@pytest.mark.parametrize(
    "action",
    [
        None,
        PAGE | {"method": "POST", "data": {"MD": "1"}},
        {"type": "threeDS2", "subtype": "fingerprint", "token": "eyJ0"},
    ],
    ids=["none", "form", "script"],
)
def test_what_we_cannot_show_is_waited_for(action: dict[str, Any] | None) -> None:
    members = {"action": action} if action else {}
    assert created(announced("IdentifyShopper", **members)) == Pending("PSP1")


@pytest.mark.parametrize("result", ["Received", "Pending", "PresentToShopper", "ChallengeShopper"])
def test_what_is_not_decided_is_pending(result: str) -> None:
    assert created(announced(result)) == Pending("PSP1")


@pytest.mark.parametrize("result", ["PartiallyAuthorised", "AuthenticationFinished", "Success"])
def test_a_result_that_we_never_asked_for_is_unknown(result: str) -> None:
    assert isinstance(created(announced(result)), Unknown)


@pytest.mark.parametrize("answer", [{}, {"resultCode": None}, {"resultCode": "Authorised"}])
def test_an_answer_that_says_too_little_is_unknown(answer: dict[str, Any]) -> None:
    assert isinstance(answers.created(answer, PAYMENT), Unknown)


@given(ODD)
def test_whatever_is_answered_only_an_authorisation_of_what_was_asked_for_is_believed(answer: dict[str, Any]) -> None:
    outcomes = [read(answer, PAYMENT) for read in (answers.created, answers.continued)]
    fits = all(
        answer.get(name, value) == value for name, value in announced("Authorised").items() if name != "pspReference"
    )
    for outcome in outcomes:
        assert isinstance(outcome, Approved | Declined | Pending | ActionRequired | Unknown)
        assert fits or not isinstance(outcome, Approved)


@pytest.mark.parametrize(
    "other",
    [
        {"merchantReference": ids.new_id().hex},
        {"amount": {"currency": "PHP", "value": 10_001}},
        {"amount": {"currency": "USD", "value": 10_000}},
    ],
    ids=["reference", "amount", "currency"],
)
@pytest.mark.parametrize("read", [answers.created, answers.continued])
def test_what_is_said_of_another_payment_or_amount_is_not_believed(read: Any, other: dict[str, Any]) -> None:
    assert isinstance(read(announced("Authorised") | other, PAYMENT), Unknown)


@pytest.mark.parametrize("result", ["Authorised", "Refused"])
def test_what_a_payer_brought_counts_only_where_the_answer_names_the_payment(result: str) -> None:
    answer = {"resultCode": result, "pspReference": "PSP2"}
    CHECKOUT.check_answer("POST", "/payments/details", 200, answer)
    assert answers.continued(answer, PAYMENT) == Pending("PSP1")
    assert isinstance(answers.continued(announced(result), PAYMENT), Approved | Declined)


@pytest.mark.parametrize(
    "other",
    [
        {"status": "done"},
        {"reference": "capture-0"},
        {"paymentPspReference": "PSP9"},
        {"amount": {"currency": "PHP", "value": 1}},
        {"pspReference": None},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_receipt_for_something_else_is_not_believed(other: dict[str, Any]) -> None:
    operation = Operation(ids.new_id().hex, "capture", PAYMENT.reference, "PSP1", 6_000, "PHP")
    receipt = {
        "merchantAccount": "KahaPH",
        "status": "received",
        "reference": f"capture-{operation.reference}",
        "paymentPspReference": "PSP1",
        "pspReference": "PSP2",
        "amount": bodies.amount(operation),
    }
    assert answers.modified(receipt, operation, bodies.TAKEN) == Pending("PSP2")
    assert isinstance(answers.modified(receipt | other, operation, bodies.TAKEN), Unknown)


def test_a_receipt_for_ending_another_payment_is_not_believed() -> None:
    receipt = {"status": "received", "paymentReference": PAYMENT.reference, "pspReference": "PSP2"}
    assert answers.ended(receipt, PAYMENT.reference) == Pending("PSP2")
    assert isinstance(answers.ended(receipt, ids.new_id().hex), Unknown)
