"""Whoever tries stolen cards is stopped by the declines, and learns neither from the refusal nor about anybody else."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey, Charge, DeclineAlert, IdempotencyRecord, Source
from payments.providers.simulator.models import SimulatedPayment
from tests.client import ANSWER_LOST, APPROVED, CHALLENGED, DECLINED, NEVER_ARRIVES, TELL_NOTHING, Api, error_of, made
from tests.contract.calls import order, vaulted
from tests.factories import ApiKeyFactory
from tests.limits.conftest import OwnRedis
from tests.pages.making import awaited, page_of
from tests.plenty import MANY_DECLINES
from tests.racing import at_once

KINDS = ("card", "address", "key", "merchant")

NO_FUNDS, NETWORK_FAULT = "4000000000009995", "4000000000000119"
every_kind = pytest.mark.parametrize("kind", KINDS)

Bear = Callable[..., None]


@pytest.fixture
def bear(settings: Settings) -> Bear:
    """Has test mode bear so many declines of a kind, and plenty of the others."""

    def limit(**quotas: int) -> None:
        settings.DECLINE_LIMITS_TEST = MANY_DECLINES | quotas

    return limit


def charge(api: Api, number: str = APPROVED, key: str | None = None, **headers: str) -> HttpResponse:
    """The answer to a charge of a new card."""
    return api.post("/charges/", order(api.source(number)), key, **headers)


def decline(api: Api, times: int, number: str = DECLINED) -> None:
    assert [made(charge(api, number))["status"] for _ in range(times)] == ["failed"] * times


def refused(response: HttpResponse) -> bool:
    return response.status_code == 429


def rows() -> dict[str, int]:
    """How many rows there are of everything."""
    models = [model for name in ("payments", "simulator") for model in apps.get_app_config(name).get_models()]
    return {model.__name__: model._default_manager.count() for model in models}


@every_kind
def test_after_so_many_declines_nothing_reaches_the_provider_and_nothing_is_half_done(
    api: Api, bear: Bear, kind: str
) -> None:
    bear(**{kind: 3})
    decline(api, 3)
    body = order(api.source(DECLINED))
    before = rows()
    assert refused(api.post("/charges/", body, "order-7"))
    assert rows() == before
    assert not Source.objects.latest("id").used


def test_below_every_limit_charges_go_on(api: Api, bear: Bear) -> None:
    bear(**dict.fromkeys(KINDS, 3))
    decline(api, 2)
    assert made(charge(api))["status"] == "succeeded"


def test_no_answer_tells_which_limit_it_was_nor_that_it_was_not_the_rate(
    shop: NewMerchant, bear: Bear, settings: Settings
) -> None:
    answers = [refusal_by(kind, shop, bear) for kind in KINDS]
    settings.RATE_LIMIT = "1/hour"
    api = Api(ApiKeyFactory(merchant=shop.merchant).text)
    api.get("/ping")
    answers.append(told(api.get("/ping")))
    assert answers == [answers[0]] * len(answers)


def refusal_by(kind: str, shop: NewMerchant, bear: Bear) -> tuple[Any, ...]:
    api = Api(ApiKeyFactory(merchant=shop.merchant).text)
    bear()
    decline(api, 1)
    bear(**{kind: 1})
    decline_once_more(api)
    return told(charge(api, DECLINED))


def decline_once_more(api: Api) -> None:
    """The limit was lowered by hand: the next decline is the one that sees it."""
    charge(api, DECLINED)


def told(response: HttpResponse) -> tuple[Any, ...]:
    """All of a refusal, but for what names the request and the very second."""
    error = error_of(response)
    del error["request_id"]
    wait = response["Retry-After"]
    assert 0 < int(wait) <= 3600
    return response.status_code, json.dumps(error).replace(wait, "?"), sorted(response.headers)


def test_a_refused_key_is_free_for_the_same_request(api: Api, bear: Bear) -> None:
    bear(card=1)
    decline(api, 1)
    body = order(api.source(DECLINED))
    assert refused(api.post("/charges/", body, "order-7"))
    assert not IdempotencyRecord.objects.filter(key="order-7").exists()
    bear()
    later = api.post("/charges/", body, "order-7")
    assert (later.status_code, "Idempotent-Replayed" in later) == (201, False)


def test_an_answer_given_before_is_given_again(api: Api, bear: Bear) -> None:
    bear(card=1)
    body = order(api.source(DECLINED))
    first = api.post("/charges/", body, "order-7")
    again = api.post("/charges/", body, "order-7")
    assert refused(charge(api, DECLINED))
    assert (again.status_code, again.content) == (201, first.content)


def test_another_card_is_charged_on(api: Api, bear: Bear) -> None:
    bear(card=1)
    decline(api, 1)
    assert refused(charge(api, DECLINED))
    assert made(charge(api))["status"] == "succeeded"
    decline(api, 1, NO_FUNDS)


def test_the_same_card_is_known_whatever_else_is_said_of_it(api: Api, bear: Bear) -> None:
    bear(card=1)
    decline(api, 1)
    another = {**TELL_NOTHING, "number": DECLINED, "cvc": "999", "exp_year": "2031", "name": "Maria Clara"}
    source = made(api.post("/sources/", {"type": "card", "card": another}))["id"]
    assert refused(api.post("/charges/", order(source)))


def test_a_card_that_is_kept_is_counted_charge_by_charge(api: Api, bear: Bear) -> None:
    bear(card=2)
    source = vaulted(api, "4000000000000341")
    answers = [api.post("/charges/", order(source, cvc=f"10{number}")) for number in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]


def test_another_key_goes_on_where_only_one_was_over(api: Api, shop: NewMerchant, bear: Bear) -> None:
    bear(key=1)
    decline(api, 1)
    assert refused(charge(api))
    assert made(charge(Api(ApiKeyFactory(merchant=shop.merchant).text)))["status"] == "succeeded"


def test_another_address_goes_on_where_only_one_was_over(api: Api, bear: Bear, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    bear(address=1)
    theirs, ours = {"X-Forwarded-For": "2001:db8::1"}, {"X-Forwarded-For": "192.0.2.7"}
    assert made(charge(api, DECLINED, **theirs))["status"] == "failed"
    assert refused(charge(api, **{"X-Forwarded-For": "2001:db8::2"}))
    assert made(charge(api, **ours))["status"] == "succeeded"


@every_kind
def test_nobody_notices_what_goes_on_at_another_merchant(
    api: Api, other_shop: NewMerchant, bear: Bear, kind: str
) -> None:
    bear(**{kind: 1})
    decline(api, 1)
    decline(Api(other_shop.keys["sk_test"]), 1)


@pytest.mark.parametrize("number", [APPROVED, ANSWER_LOST, NEVER_ARRIVES, NETWORK_FAULT])
def test_what_is_no_decline_of_a_card_is_not_counted(api: Api, bear: Bear, number: str) -> None:
    bear(**dict.fromkeys(KINDS, 1))
    assert charge(api, number).status_code == 201
    assert charge(api, number).status_code == 201


def test_a_wallet_that_is_refused_by_its_payer_is_not_counted(api: Api, bear: Bear, client: Client) -> None:
    bear(**dict.fromkeys(KINDS, 1))
    for _ in range(2):
        act(client, awaited(api), "cancel")
    assert Charge.objects.filter(status="failed").count() == 2
    assert made(charge(api))["status"] == "succeeded"


@pytest.mark.parametrize(("decision", "counts"), [("fail", True), ("cancel", False), ("pay", False)])
@pytest.mark.parametrize("kind", ["card", "merchant"])
def test_a_payer_whom_the_bank_does_not_know_counts_and_one_who_leaves_does_not(
    api: Api, bear: Bear, client: Client, kind: str, decision: str, counts: bool
) -> None:
    bear(**{kind: 1})
    act(client, awaited(api, "card"), decision)
    assert refused(charge(api, CHALLENGED)) == counts


def act(client: Client, waiting: dict[str, Any], decision: str) -> None:
    """The payer decides and comes back."""
    client.get(client.post(page_of(waiting), {"decision": decision})["Location"])


def test_a_window_that_is_over_is_forgotten(api: Api, bear: Bear, settings: Settings) -> None:
    bear(card=1)
    decline(api, 1)
    assert refused(charge(api, DECLINED))
    settings.DECLINE_WINDOW_MINUTES += 1
    decline(api, 1)


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_pass_than_were_under_way(api: Api, bear: Bear) -> None:
    bear(merchant=4)
    bodies = [order(api.source(DECLINED)) for _ in range(24)]
    batches = [
        at_once(8, lambda number, start=start: api.post("/charges/", bodies[start + number])) for start in (0, 8)
    ]
    # Of the first ones, whoever asks after the fourth decline is refused already.
    passed = [answer for answer in batches[0] if answer.status_code == 201]
    assert len(passed) >= 4
    assert all(refused(answer) for answer in [*batches[0], *batches[1]] if answer not in passed)
    assert SimulatedPayment.objects.count() == len(passed)
    assert DeclineAlert.objects.count() == 1


def test_without_redis_each_process_counts_for_itself(
    api: Api, bear: Bear, settings: Settings, own_redis: OwnRedis
) -> None:
    settings.REDIS_URL = own_redis.url
    bear(card=2)
    own_redis.start()
    decline(api, 1)
    own_redis.stop()
    decline(api, 2)
    assert refused(charge(api, DECLINED))


@pytest.mark.django_db(transaction=True)
def test_only_while_something_is_over_a_charge_asks_the_database_for_its_card(api: Api, bear: Bear) -> None:
    charge(api)
    calm = statements(api)
    bear(card=1)
    decline(api, 1)
    assert statements(api) == calm + 1


def statements(api: Api) -> int:
    body = order(api.source())
    with CaptureQueriesContext(connection) as captured:
        made(api.post("/charges/", body))
    return len(captured)


def test_a_publishable_key_makes_sources_on(api: Api, shop: NewMerchant, bear: Bear) -> None:
    bear(**dict.fromkeys(KINDS, 1))
    decline(api, 1)
    assert Api(shop.keys["pk_test"]).source(DECLINED)
    assert ApiKey.objects.filter(kind="publishable").exists()
