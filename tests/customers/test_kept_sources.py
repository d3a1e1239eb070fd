"""Sources kept for a customer: attached, charged again and again, given up."""

from typing import Any

import pytest

from tests.client import Api, error_of, made
from tests.customers.factories import MARIA, attach, card_of, events_of, new_customer, read

LATER_DECLINED = "4000000000000341"


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
    refusals = [api.post("/charges/", order), api.post(f"/customers/{maria['id']}/sources", {"source": source})]

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
