"""Kept sources charged again and again, and what their payer agreed to."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from payments import clock
from payments.db.writes import StaleRow, Update, execute_writes
from payments.domain import sources
from payments.domain.disputes import evidence, respond
from payments.domain.merchants.merchants import create_merchant
from payments.domain.shared.caller import Caller
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, Dispute, Source
from payments.providers.base import Rejected
from payments.providers.disputes import UNUSABLE, DisputeResponse
from tests.charging.doubles import Double, provider
from tests.client import APPROVED, CHALLENGED, STOLEN, Api, error_of, made
from tests.contract.calls import order
from tests.customers.factories import attach, card_of, new_customer, read
from tests.disputes.stories import AT_ONCE, a_week_passes, deliver

NEEDS_FIRST = "4000000000003303"
# Of 15 digits, as the references of a network are.
LIKE_A_CARD = "378282246310005"
LATER_DECLINED = "4000000000000341"


def test_a_kept_source_is_charged_again_and_again_without_the_payer(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, CHALLENGED)

    charges = [api.charge_source(source) for _ in range(2)]

    assert [charge["status"] for charge in charges] == ["succeeded", "succeeded"]


def test_a_payer_at_the_checkout_may_be_asked_again(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, CHALLENGED)

    asked = api.charge_source(source, initiator="customer")
    spared = api.charge_source(source, initiator="customer", require_auth=False)

    assert (asked["status"], asked["action"]["type"]) == ("pending", "redirect_to_url")
    assert (spared["status"], spared["require_auth"]) == ("succeeded", False)


def test_who_charges_a_kept_source_and_how_often_is_on_record(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria)
    words = [{}, {"schedule": "recurring"}, {"initiator": "customer"}]
    ids = [parse_id("ch", api.charge_source(source, **each)["id"]) for each in words]

    rows = [Charge.objects.get(id=charge) for charge in ids]

    assert [(row.initiator, row.schedule) for row in rows] == [
        ("merchant", "unscheduled"),
        ("merchant", "recurring"),
        ("customer", "unscheduled"),
    ]


def test_the_payer_of_a_source_that_is_not_kept_may_be_named(api: Api) -> None:
    asked = api.charge_source(api.source(), initiator="customer", schedule="unscheduled")
    assert asked["status"] == "succeeded"


@pytest.mark.parametrize("member", [{"initiator": "merchant"}, {"schedule": "recurring"}])
def test_a_source_that_is_not_kept_is_not_charged_without_its_payer_nor_in_a_series(
    api: Api, member: dict[str, str]
) -> None:
    source = api.source()

    response = api.post("/charges/", order(source, **member))

    [name] = member
    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, "not_allowed", name)
    assert made(api.get(f"/sources/{source}"))["used"] is False


def test_a_kept_card_that_is_never_approved_is_not_tried_again_for_30_days(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, STOLEN)
    moment = clock.now()
    failed = api.charge_source(source)

    response = api.post("/charges/", order(source))

    error = error_of(response)
    assert failed["failure_data"]["retry"] == "never"
    assert (response.status_code, error["code"], error["param"]) == (409, "retry_not_allowed", "source")
    assert (card_of(source).refused_until - moment).days == 30


def test_a_card_that_is_never_approved_is_not_tried_again_as_another_kept_source(
    api: Api, maria: dict[str, Any]
) -> None:
    before = attach(api, maria, STOLEN)
    # Not kept, and declined as its payer pays.
    assert api.charge(STOLEN)["failure_data"]["retry"] == "never"
    for source in (before, attach(api, maria, STOLEN)):
        assert error_of(api.post("/charges/", order(source)))["code"] == "retry_not_allowed"
    assert api.charge_source(attach(api, maria, APPROVED))["status"] == "succeeded"
    # Its payer may try it, and another merchant knows nothing of it.
    assert api.charge(STOLEN)["status"] == "failed"
    other = Api(create_merchant("Tindahan", statement_descriptor="TINDAHAN").keys["sk_test"])
    assert other.charge_source(attach(other, new_customer(other), STOLEN))["status"] == "failed"


def test_a_kept_card_may_be_tried_after_its_30_days(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, STOLEN)
    api.charge_source(source)
    Card.objects.update(refused_until=clock.now() - timedelta(seconds=1))

    assert api.charge_source(source)["status"] == "failed"


def test_a_decline_that_is_not_final_lets_a_kept_card_be_tried_again(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, LATER_DECLINED)

    failures = [api.charge_source(source)["failure_data"]["retry"] for _ in range(2)]

    assert failures == ["later", "later"]


def test_the_answer_to_a_final_decline_is_given_again_under_its_key(api: Api, maria: dict[str, Any]) -> None:
    body = order(attach(api, maria, STOLEN))

    first, again = (api.post("/charges/", body, key="box-48") for _ in range(2))

    assert (first.status_code, again.status_code, first.content) == (201, 201, again.content)


def test_a_charge_that_begins_while_another_is_finally_declined_is_refused(api: Api, maria: dict[str, Any]) -> None:
    source = Source.objects.select_related("card").get(id=parse_id("src", attach(api, maria, STOLEN)))
    writes = sources.use(Caller(source.merchant_id, source.livemode), source)
    api.charge_source(public_id("src", source.id))

    with pytest.raises(StaleRow):
        execute_writes(*writes)


def test_the_networks_reference_of_the_first_payment_is_kept_with_a_kept_card_only(
    api: Api, maria: dict[str, Any]
) -> None:
    source = attach(api, maria)
    api.charge_source(source)
    first = card_of(source).network_reference
    api.charge_source(source)

    assert first.startswith("nt_")
    assert card_of(source).network_reference == first
    assert card_of(api.charge()["source"]["id"]).network_reference == ""
    api.delete(f"/customers/{maria['id']}/sources/{source}")
    assert card_of(source).network_reference == ""


def test_a_networks_reference_that_looks_like_a_card_number_is_kept_as_it_is(api: Api, maria: dict[str, Any]) -> None:
    card = card_of(attach(api, maria))

    execute_writes(Update(Card, {"id": card.id, "merchant_id": card.merchant_id}, {"network_reference": LIKE_A_CARD}))

    card.refresh_from_db()
    assert card.network_reference == LIKE_A_CARD


def test_a_card_may_be_declined_until_its_owner_has_paid_with_it(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, NEEDS_FIRST)

    declined = api.charge_source(source)
    statuses = [api.charge_source(source, initiator=who)["status"] for who in ("customer", "merchant")]

    failure = declined["failure_data"]
    assert (failure["code"], failure["retry"]) == ("authentication_required", "authenticate")
    assert failure["provider_response"]["code"] == "no_first_payment"
    assert statuses == ["succeeded", "succeeded"]


def test_any_card_that_its_owner_never_paid_with_is_declined_where_the_merchant_says_that_it_charges(
    api: Api, maria: dict[str, Any]
) -> None:
    source = attach(api, maria)

    charges = [
        api.charge_source(source, **said)
        for said in ({"initiator": "merchant"}, {}, {"initiator": "merchant"}, {"initiator": "customer"})
    ]
    after = api.charge_source(source, initiator="merchant", schedule="recurring")

    assert [charge["status"] for charge in charges] == ["failed", "succeeded", "failed", "succeeded"]
    assert charges[0]["failure_data"]["provider_response"]["code"] == "no_first_payment"
    assert after["status"] == "succeeded"


def test_a_card_counts_as_checked_once_its_owner_has_paid_with_it(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria, CHALLENGED)

    checked = [read(api, maria)["sources"][0]["card"]["checked"]]
    for said in ({}, {"initiator": "customer"}, {"initiator": "customer", "require_auth": False}):
        charge = api.charge_source(source, **said)
        checked.append(charge["source"]["card"]["checked"])

    assert checked == [False, False, False, True]
    assert read(api, maria)["sources"][0]["card"]["checked"] is True


def test_the_reference_of_the_payment_that_checked_a_card_is_kept(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria)

    references = []
    for said in ({}, {"initiator": "customer"}, {"initiator": "customer"}):
        api.charge_source(source, **said)
        references.append(card_of(source).network_reference)

    assert references[0] != references[1] == references[2]


CONSENT = {
    "text": "A box each week for 450 pesos, until I end it.",
    "at": "2026-11-20T09:30:00+08:00",
    "ip": "203.0.113.7",
    "user_agent": "Mozilla/5.0",
}
LEAST = {"text": "x", "at": "2026-11-20"}
WINNING = CONSENT | {"text": "This is winning_evidence."}
OWN = "The merchant's own words."
KEPT = CONSENT | {"at": "2026-11-20T01:30:00.000000Z"}


def attach_with(api: Api, maria: dict[str, Any], consent: Any, number: str = APPROVED) -> Any:
    return api.post(f"/customers/{maria['id']}/sources", {"source": api.source(number), "consent": consent})


def kept_with(api: Api, maria: dict[str, Any], consent: dict[str, Any], number: str = APPROVED) -> str:
    return str(made(attach_with(api, maria, consent, number))["sources"][0]["id"])


def consent_of(source: str) -> Any:
    return Source.objects.get(id=parse_id("src", source)).consent


@pytest.mark.parametrize(
    ("consent", "kept"),
    [(CONSENT, KEPT), (None, None), (LEAST | {"ip": None}, LEAST | {"at": "2026-11-20T00:00:00.000000Z"})],
    ids=["whole", "none", "least"],
)
def test_consent_is_kept_with_the_source_and_in_no_answer(
    api: Api, maria: dict[str, Any], consent: Any, kept: Any
) -> None:
    answer = attach_with(api, maria, consent)
    [source] = made(answer)["sources"]
    assert consent_of(source["id"]) == kept
    assert "consent" not in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "param", "code"),
    [
        ({"text": None}, "text", "missing"),
        ({"text": ""}, "text", "too_short"),
        ({"text": "x" * 5001}, "text", "too_long"),
        ({"text": f"My card is {APPROVED}"}, "text", "card_data"),
        ({"user_agent": APPROVED}, "user_agent", "card_data"),
        ({"user_agent": "x" * 501}, "user_agent", "too_long"),
        ({"at": None}, "at", "missing"),
        ({"at": 1764000000}, "at", "invalid_type"),
        ({"at": "yesterday"}, "at", "invalid_moment"),
        ({"at": "1969-12-31"}, "at", "too_early"),
        ({"ip": "example.com"}, "ip", "invalid_ip"),
        ({"ip": 3405803783}, "ip", "invalid_type"),
        ({"agreed": True}, "agreed", "unknown_parameter"),
    ],
)
def test_a_bad_consent_is_refused_and_keeps_nothing(
    api: Api, maria: dict[str, Any], changes: dict[str, Any], param: str, code: str
) -> None:
    response = attach_with(api, maria, CONSENT | changes)
    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, code, f"consent.{param}")
    assert not Source.objects.get().vaulted


def test_nobody_has_agreed_in_the_future(api: Api, maria: dict[str, Any]) -> None:
    in_two_days = (clock.now() + timedelta(days=2)).isoformat()
    assert error_of(attach_with(api, maria, CONSENT | {"at": in_two_days}))["code"] == "invalid_choice"


def test_operators_see_it_on_the_page_of_the_source(admin_client: Client, api: Api, maria: dict[str, Any]) -> None:
    source = kept_with(api, maria, CONSENT)
    page = admin_client.get(f"/admin/payments/source/{parse_id('src', source)}/change/").content.decode()
    assert all(text in page for text in (CONSENT["text"], CONSENT["ip"], CONSENT["user_agent"]))


def answered(api: Api, charge: dict[str, Any]) -> str:
    """Submit evidence of the merchant's own against the dispute of a charge, and return how the dispute ends."""
    path = f"/disputes/{made(api.get('/disputes/', charge=charge['id']))['data'][0]['id']}"
    made(api.post(f"{path}/evidence", {"type": "other", "text": OWN}))
    made(api.post(f"{path}/submit"))
    respond.send_due()
    a_week_passes()
    return str(made(api.get(path))["status"])


@pytest.mark.parametrize("keeps", [True, False], ids=["still kept", "given up"])
def test_it_goes_to_the_provider_beside_the_evidence_of_a_dispute(api: Api, maria: dict[str, Any], keeps: bool) -> None:
    source = kept_with(api, maria, WINNING, AT_ONCE)
    charge = api.charge_source(source)
    deliver()
    if not keeps:
        made(api.delete(f"/customers/{maria['id']}/sources/{source}"))
    assert answered(api, charge) == "won"
    assert [piece.content for piece in evidence.opened(Dispute.objects.get())] == [OWN]


def test_where_no_document_can_show_it_the_merchants_evidence_goes_alone(api: Api, maria: dict[str, Any]) -> None:
    charge = api.charge_source(kept_with(api, maria, WINNING, AT_ONCE))
    deliver()

    def respond_to(do: Callable[[], Any], asked: DisputeResponse) -> Any:
        return do() if len(asked.evidence) == 1 else Rejected(UNUSABLE)

    with provider(Double(respond=respond_to)):
        assert answered(api, charge) == "lost"
