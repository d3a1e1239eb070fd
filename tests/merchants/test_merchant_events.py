"""A merchant gets an event of what an operator changed that leads its data, money or trust elsewhere."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from payments.domain.merchants import api_keys, merchants, terms
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts.terms import Terms, set_schedule
from payments.domain.risk import decline_limits
from payments.domain.webhooks import endpoints
from payments.ids import public_id
from payments.ledger.fees import Rate
from payments.models import ApiKey, Event, Merchant, Webhook
from tests.admin.conftest import operator
from tests.admin.test_hands_off import merchant_form
from tests.admin.test_pages import page_of
from tests.client import Api, made
from tests.contract.shapes import FLAG, FREE, MOMENT, faults_in, id_of, list_of, one_of, shape
from tests.contract.test_events import events_of
from tests.webhooks.endpoints import add_endpoint

__all__ = ["operator"]

BEFORE, AFTER = "https://shop.example/kaha?token=s3cret", "https://elsewhere.example/kaha?token=s3cret"
BOTH, LIVE = [False, True], [True]
Act = Callable[[Merchant], Any]
SHAPE = shape(
    {
        "object": one_of("organization"),
        "id": id_of("mer"),
        "changed": list_of({"type": "string"}),
        "before": FREE,
        "after": FREE,
        "livemode": FLAG,
        "updated_at": MOMENT,
    }
)


def events_about(merchant: Merchant) -> list[tuple[bool, dict[str, Any]]]:
    """Return the mode and object of each event about the merchant, in order."""
    rows = Event.objects.filter(object_id=merchant.id).order_by("id")
    return [(row.livemode, json.loads(row.payload)["data"]["object"]) for row in rows]


def roll_a_key(merchant: Merchant) -> None:
    api_keys.roll_key(merchant.keys.get(livemode=True, kind=ApiKey.Kind.SECRET), timedelta())


# By the name of the change: the act, and the modes that have an event of it.
ACTS: dict[str, tuple[Act, list[bool]]] = {
    "webhook_secret": (lambda merchant: merchants.roll_webhook_secret(merchant, True, timedelta()), LIVE),
    "webhook_endpoint": (lambda merchant: add_endpoint(merchant, AFTER, livemode=True), LIVE),
    "rates": (lambda merchant: terms.set_fee(merchant, "card", "PHP", Rate(350, 0)), BOTH),
    "decline_budget": (lambda merchant: decline_limits.set_budget(merchant, 9_000), BOTH),
    "api_keys": (lambda merchant: api_keys.create_key(merchant, True, "secret"), LIVE),
    "api_keys, rolled": (roll_a_key, LIVE),
    "payout_settings": (lambda merchant: set_schedule(merchant, True, "PHP", Terms()), LIVE),
}


@pytest.mark.parametrize(("name", "act", "modes"), [(name, *case) for name, case in ACTS.items()], ids=ACTS)
def test_an_act_has_an_event_in_each_mode_that_it_concerns(
    shop: NewMerchant, name: str, act: Act, modes: list[bool]
) -> None:
    assert events_about(shop.merchant) == []
    act(shop.merchant)
    assert [mode for mode, _ in events_about(shop.merchant)] == modes
    for mode, shown in events_about(shop.merchant):
        assert faults_in(shown, SHAPE) == []
        assert (shown["changed"], shown["livemode"]) == ([name.partition(",")[0]], mode)


@pytest.mark.parametrize("name", ["account_name", "statement_descriptor", "status"])
def test_what_the_page_of_a_merchant_changes_has_an_event_in_both_modes(
    operator: Client, shop: NewMerchant, name: str
) -> None:
    kept = {each: getattr(shop.merchant, each) for each in ("account_name", "statement_descriptor", "status")}
    new = {"account_name": "Other Inc", "statement_descriptor": "OTHER", "status": "closed"}
    assert operator.post(page_of(shop.merchant), merchant_form(**kept | {name: new[name]})).status_code == 302
    assert [(mode, shown["changed"]) for mode, shown in events_about(shop.merchant)] == [
        (False, [name]),
        (True, [name]),
    ]


def test_a_new_address_or_name_of_a_shop_is_no_such_change(operator: Client, shop: NewMerchant) -> None:
    kept = {each: getattr(shop.merchant, each) for each in ("account_name", "statement_descriptor", "status")}
    assert operator.post(page_of(shop.merchant), merchant_form(**kept)).status_code == 302
    assert events_about(shop.merchant) == []


def test_the_earlier_url_gets_the_event_of_a_new_one_without_queries(shop: NewMerchant) -> None:
    endpoint = add_endpoint(shop.merchant, BEFORE, livemode=True)
    endpoints.change_for_operator(endpoint, url=AFTER)
    # The first one had no earlier one.
    assert [(webhook.url, webhook.event.sequence) for webhook in Webhook.objects.all()] == [(BEFORE, 2)]
    shown = events_about(shop.merchant)[-1][1]
    assert shown["before"] == {"webhook_endpoint": "https://shop.example/kaha"}
    assert shown["after"] == {"webhook_endpoint": "https://elsewhere.example/kaha"}
    assert "s3cret" not in str(events_about(shop.merchant))


def test_the_same_url_again_is_no_change(shop: NewMerchant) -> None:
    endpoint = add_endpoint(shop.merchant, BEFORE, livemode=True)
    endpoints.change_for_operator(endpoint, url=BEFORE)
    assert len(events_about(shop.merchant)) == 1


def test_other_changes_go_to_the_endpoints_of_their_mode(shop: NewMerchant) -> None:
    add_endpoint(shop.merchant, BEFORE, livemode=True)
    terms.set_fee(shop.merchant, "card", "PHP", Rate(350, 0))
    [webhook] = Webhook.objects.all()
    assert (webhook.url, webhook.livemode, webhook.event.type) == (BEFORE, True, "organization.updated")


def test_a_changed_fee_has_its_values(shop: NewMerchant) -> None:
    for points in (350, 9_000):
        terms.set_fee(shop.merchant, "card", "EUR", Rate(points, 5))
    shown = events_about(shop.merchant)[-1][1]
    assert shown["before"] == {"rates": {"card.EUR": {"basis_points": 350, "fixed": 5}}}
    assert shown["after"] == {"rates": {"card.EUR": {"basis_points": 9_000, "fixed": 5}}}


def test_no_event_has_a_key_or_a_secret(shop: NewMerchant) -> None:
    new, key = api_keys.create_key(shop.merchant, True, "secret")
    secret = merchants.roll_webhook_secret(shop.merchant, True, timedelta())
    shown = [each["after"] for _, each in events_about(shop.merchant)]
    assert shown == [{"api_keys": public_id("key", new.id)}, {}]
    assert not [text for text in (key, secret) if text in str(events_about(shop.merchant))]


def test_they_are_listed_in_their_mode_and_counted_there_without_gaps(api: Api, shop: NewMerchant) -> None:
    api_keys.create_key(shop.merchant, True, "secret")
    for budget in (10, 20):
        decline_limits.set_budget(shop.merchant, budget)
    live = Api(shop.keys["sk_live"])
    identity = made(api.get("/me"))["id"]
    assert [event["sequence"] for event in events_of(api, identity)] == [1, 2]
    assert [event["sequence"] for event in events_of(live, identity)] == [1, 2, 3]
    found = made(api.get("/events/", object=identity, type="organization.updated"))["data"]
    assert [event["data"]["object"]["after"] for event in found] == [{"decline_budget": 20}, {"decline_budget": 10}]


def test_nobody_lists_those_of_another_merchant(api: Api, other_shop: NewMerchant) -> None:
    decline_limits.set_budget(other_shop.merchant, 10)
    answer = api.get("/events/", object=f"mer_{other_shop.merchant.id.hex}")
    assert answer.status_code == 422
    assert made(api.get("/events/"))["data"] == []


def test_a_refused_act_has_no_event(shop: NewMerchant) -> None:
    with pytest.raises(decline_limits.BadBudget):
        decline_limits.set_budget(shop.merchant, 0)
    assert events_about(shop.merchant) == []
