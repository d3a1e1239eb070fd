"""Kept sources charged again and again: with their payer and without, refused after a final decline, checked once."""

from datetime import timedelta
from typing import Any

import pytest

from payments import clock
from payments.db.writes import StaleRow, Update, execute_writes
from payments.domain.charging import sources
from payments.domain.merchants.merchants import create_merchant
from payments.domain.shared.caller import Caller
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, Source
from tests.client import APPROVED, CHALLENGED, STOLEN, Api, error_of, made
from tests.contract.calls import order
from tests.customers.factories import attach, card_of, new_customer, read

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
