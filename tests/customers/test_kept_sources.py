"""Sources kept for a customer: attached, charged again and again, given up."""

from datetime import timedelta
from typing import Any

import pytest

from payments import clock
from payments.db.writes import StaleRow, Update, execute_writes
from payments.domain.charging import sources
from payments.domain.shared.caller import Caller
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, Source
from tests.client import CHALLENGED, STOLEN, Api, error_of, made
from tests.contract.calls import order
from tests.customers.factories import MARIA, attach, events_of, new_customer, read

NEEDS_FIRST = "4000000000003303"
# Of 15 digits, as the references of a network are.
LIKE_A_CARD = "378282246310005"
LATER_DECLINED = "4000000000000341"


def card_of(source: str) -> Card:
    return Card.objects.get(source_id=source.removeprefix("src_"))


@pytest.mark.parametrize("make", [lambda api: api.source(), lambda api: api.wallet()], ids=["card", "wallet"])
def test_an_attached_source_is_used_vaulted_and_shown_whole(api: Api, maria: dict[str, Any], make: Any) -> None:
    source = make(api)

    response = api.post(f"/customers/{maria['id']}/sources", {"source": source})

    assert response.status_code == 200
    [shown] = response.json()["sources"]
    assert (shown["id"], shown["used"], shown["vaulted"]) == (source, True, True)
    assert shown == made(api.get(f"/sources/{source}"))
    assert response.json() == read(api, maria)


def test_sources_are_shown_newest_attached_first(api: Api, maria: dict[str, Any]) -> None:
    made_first, made_second = api.source(), api.source()
    for source in (made_second, made_first):
        made(api.post(f"/customers/{maria['id']}/sources", {"source": source}))

    assert [source["id"] for source in read(api, maria)["sources"]] == [made_first, made_second]


def test_the_number_is_kept_and_the_cvc_destroyed(api: Api, maria: dict[str, Any]) -> None:
    card = card_of(attach(api, maria))

    assert card.sealed_number is not None
    assert (card.sealed_cvc, card.cvc_expires_at) == (None, None)


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
    source, other = attach(api, maria, STOLEN), attach(api, maria, STOLEN)
    moment = clock.now()
    failed = api.charge_source(source)

    response = api.post("/charges/", order(source))

    error = error_of(response)
    assert failed["failure_data"]["retry"] == "never"
    assert (response.status_code, error["code"], error["param"]) == (409, "retry_not_allowed", "source")
    assert (card_of(source).refused_until - moment).days == 30
    assert api.charge_source(other)["status"] == "failed"


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


def test_the_card_that_is_declined_later_attaches_first(api: Api, maria: dict[str, Any]) -> None:
    charge = api.charge_source(attach(api, maria, LATER_DECLINED))

    assert charge["status"] == "failed"
    assert charge["failure_data"]["code"] == "card_declined"


def test_a_source_kept_for_somebody_cannot_be_attached_again(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria)

    for customer in (maria, new_customer(api)):
        response = api.post(f"/customers/{customer['id']}/sources", {"source": source})
        assert (response.status_code, error_of(response)["code"]) == (409, "source_already_used")
    assert len(read(api, maria)["sources"]) == 1


def test_a_charged_source_cannot_be_attached_and_its_charge_is_named(api: Api, maria: dict[str, Any]) -> None:
    charge = api.charge()

    response = api.post(f"/customers/{maria['id']}/sources", {"source": charge["source"]["id"]})

    error = error_of(response)
    assert (response.status_code, error["code"]) == (409, "source_already_used")
    assert (error["charge_id"], error["param"]) == (charge["id"], "source")


def test_no_such_source_differs_from_no_such_customer(api: Api, maria: dict[str, Any]) -> None:
    nobody = "cus_" + "0" * 32

    no_source = error_of(api.post(f"/customers/{maria['id']}/sources", {"source": "src_0"}))
    no_customer = error_of(api.post(f"/customers/{nobody}/sources", {"source": api.source()}))

    assert (no_source["message"], no_source["param"]) == ("No such source.", "source")
    assert (no_customer["message"], "param" in no_customer) == ("No such customer.", False)


# --- detaching


def test_a_detached_source_is_gone_from_the_customer_and_its_card_data_with_it(api: Api, maria: dict[str, Any]) -> None:
    stays, goes = attach(api, maria), attach(api, maria)

    response = api.delete(f"/customers/{maria['id']}/sources/{goes}")

    assert response.status_code == 200
    assert [source["id"] for source in response.json()["sources"]] == [stays]
    assert response.json() == read(api, maria)
    assert (card_of(goes).sealed_number, card_of(goes).sealed_cvc) == (None, None)
    assert card_of(stays).sealed_number is not None


def test_a_detached_source_can_be_neither_charged_nor_attached_again(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria)
    api.delete(f"/customers/{maria['id']}/sources/{source}")

    order = {"amount": 100, "source": source, "description": "Too late"}
    refusals = [
        api.post("/charges/", order),
        api.post(f"/customers/{maria['id']}/sources", {"source": source}),
    ]

    assert [error_of(refusal)["code"] for refusal in refusals] == ["source_already_used"] * 2
    shown = made(api.get(f"/sources/{source}"))
    assert (shown["used"], shown["vaulted"]) == (True, False)


def test_only_a_source_that_is_kept_for_the_customer_can_be_detached(api: Api, maria: dict[str, Any]) -> None:
    detached, unused, anothers = attach(api, maria), api.source(), attach(api, new_customer(api))
    made(api.delete(f"/customers/{maria['id']}/sources/{detached}"))

    for source in (detached, unused, anothers, "src_0"):
        response = api.delete(f"/customers/{maria['id']}/sources/{source}")
        assert (response.status_code, error_of(response)["message"]) == (404, "No such source.")
    assert made(api.get(f"/sources/{anothers}"))["vaulted"] is True


def test_deleting_a_customer_gives_all_its_sources_up(api: Api, maria: dict[str, Any]) -> None:
    sources = [attach(api, maria) for _ in range(3)]

    made(api.delete(f"/customers/{maria['id']}"))

    assert [made(api.get(f"/sources/{source}"))["vaulted"] for source in sources] == [False] * 3
    assert [card_of(source).sealed_number for source in sources] == [None] * 3


# --- the event of each change


def test_every_change_of_a_customer_is_an_event_that_shows_it(api: Api, maria: dict[str, Any]) -> None:
    path = f"/customers/{maria['id']}"
    source = api.source()
    states = [
        maria,
        made(api.put(path, {"description": "Changed"})),
        made(api.post(f"{path}/sources", {"source": source})),
        made(api.delete(f"{path}/sources/{source}")),
    ]
    made(api.put(path, {}))

    events = events_of(maria["id"])

    assert [event["type"] for event in events] == ["customer.created", *["customer.updated"] * 3]
    assert [event["sequence"] for event in events] == [1, 2, 3, 4]
    assert [event["data"]["object"] for event in events] == states


def test_the_last_event_of_a_customer_shows_it_as_it_was_without_its_sources(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria)

    api.delete(f"/customers/{maria['id']}")

    last = events_of(maria["id"])[-1]
    assert (last["type"], last["sequence"]) == ("customer.deleted", 3)
    assert last["data"]["object"] | MARIA | {"sources": []} == last["data"]["object"]
    assert [event["type"] for event in events_of(source)] == ["source.created", "source.updated", "source.deleted"]


def test_an_event_names_the_request_and_the_key_that_caused_it(api: Api) -> None:
    response = api.post("/customers/", MARIA, key="maria-1")

    [event] = events_of(response.json()["id"])
    assert event["request"] == {"id": response["Request-Id"], "idempotency_key": "maria-1"}


# --- once per idempotency key


def test_a_customer_under_one_key_is_created_once(api: Api) -> None:
    answers = [api.post("/customers/", MARIA, key="maria-1") for _ in range(3)]

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert [answer.get("Idempotent-Replayed") for answer in answers] == [None, "true", "true"]
    assert len(made(api.get("/customers/"))["data"]) == 1


def test_another_customer_under_the_same_key_is_refused(api: Api) -> None:
    api.post("/customers/", MARIA, key="maria-1")

    response = api.post("/customers/", MARIA | {"description": "Another"}, key="maria-1")

    assert (response.status_code, error_of(response)["code"]) == (409, "idempotency_key_reused")


def test_attaching_under_one_key_is_answered_alike_whatever_happened_since(api: Api, maria: dict[str, Any]) -> None:
    path, body = f"/customers/{maria['id']}/sources", {"source": api.source()}
    first = api.post(path, body, key="attach-1")
    api.delete(f"/customers/{maria['id']}/sources/{body['source']}")

    again = api.post(path, body, key="attach-1")

    assert (again.status_code, again.content, again["Idempotent-Replayed"]) == (200, first.content, "true")


def test_a_refusal_to_attach_is_kept_under_its_key(api: Api, maria: dict[str, Any]) -> None:
    path, body = f"/customers/{maria['id']}/sources", {"source": attach(api, maria)}

    first, again = (api.post(path, body, key="attach-1") for _ in range(2))

    assert (first.status_code, again.status_code) == (409, 409)
    assert first.content == again.content


def test_a_key_is_not_used_up_by_a_missing_customer_or_source(api: Api, maria: dict[str, Any]) -> None:
    source = api.source()
    api.post(f"/customers/{maria['id']}/sources", {"source": "src_0"}, key="attach-1")

    response = api.post(f"/customers/{maria['id']}/sources", {"source": source}, key="attach-1")

    assert response.status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", [None, "maria-1"])
def test_creating_a_customer_takes_few_statements(api: Api, django_assert_num_queries: Any, key: str | None) -> None:
    # The first use of a key is noted in statements of its own.
    api.get("/ping")
    with django_assert_num_queries(2):
        assert api.post("/customers/", MARIA, key=key).status_code == 201
