"""Card testers are stopped by their declines and learn nothing; the limits of declines, and a merchant's own."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError
from django.db import IntegrityError, connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from config.boot.environment import Environment
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.risk.decline_limits import BUDGET_MAX, quotas
from payments.models import ApiKey, AuditEntry, Charge, DeclineAlert, IdempotencyRecord, Merchant, Source
from payments.providers.simulator.models import SimulatedPayment
from tests.client import ANSWER_LOST, APPROVED, CARD_FIELDS, CHALLENGED, DECLINED, NEVER_ARRIVES, Api, error_of, made
from tests.commands.conftest import Manage, manage
from tests.concurrency import at_once
from tests.contract.calls import order, vaulted
from tests.factories import ApiKeyFactory
from tests.high_limits import MANY_DECLINES
from tests.pages.waiting_charges import awaited, page_of
from tests.support.redis_process import RedisProcess

KINDS = DeclineAlert.Kind.values

NO_FUNDS, NETWORK_FAULT = "4000000000009995", "4000000000000119"
every_kind = pytest.mark.parametrize("kind", KINDS)

Bear = Callable[..., None]


@pytest.fixture
def bear(settings: Settings) -> Bear:
    """Return a function that sets the limits of test mode, with high ones for the other kinds."""

    def limit(**quotas: int) -> None:
        settings.DECLINE_LIMITS_TEST = MANY_DECLINES | quotas

    return limit


def charge(api: Api, number: str = APPROVED, key: str | None = None, **headers: str) -> HttpResponse:
    """Charge a new card; return the response."""
    return api.post("/charges/", order(api.source(number)), key, **headers)


def decline(api: Api, times: int, number: str = DECLINED) -> None:
    assert [made(charge(api, number))["status"] for _ in range(times)] == ["failed"] * times


def refused(response: HttpResponse) -> bool:
    return response.status_code == 429


def rows() -> dict[str, int]:
    """Return the number of rows of each table."""
    models = [model for name in ("payments", "simulator") for model in apps.get_app_config(name).get_models()]
    return {model.__name__: model._default_manager.count() for model in models}


@pytest.mark.long
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


def test_below_every_limit_charges_are_accepted(api: Api, bear: Bear) -> None:
    bear(**dict.fromkeys(KINDS, 3))
    decline(api, 2)
    assert made(charge(api))["status"] == "succeeded"


def test_a_refusal_looks_the_same_for_every_limit_and_for_the_rate(
    shop: NewMerchant, bear: Bear, settings: Settings
) -> None:
    answers = [refusal_by(kind, shop, bear) for kind in KINDS]
    settings.RATE_LIMIT = "1/year"
    api = Api(ApiKeyFactory(merchant=shop.merchant).text)
    api.get("/ping")
    answers.append(refusal_parts(api.get("/ping")))
    assert answers == [answers[0]] * len(answers)


def refusal_by(kind: str, shop: NewMerchant, bear: Bear) -> tuple[Any, ...]:
    api = Api(ApiKeyFactory(merchant=shop.merchant).text)
    bear()
    decline(api, 1)
    bear(**{kind: 1})
    decline_once_more(api)
    return refusal_parts(charge(api, DECLINED))


def decline_once_more(api: Api) -> None:
    """Decline once more, because a limit that was lowered takes effect at the next decline."""
    charge(api, DECLINED)


def refusal_parts(response: HttpResponse) -> tuple[Any, ...]:
    """Return all of a refusal except the request's ID and the seconds."""
    error = error_of(response)
    del error["request_id"]
    wait = response["Retry-After"]
    assert int(wait) > 0
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


def test_a_stored_answer_is_replayed(api: Api, bear: Bear) -> None:
    bear(card=1)
    body = order(api.source(DECLINED))
    first = api.post("/charges/", body, "order-7")
    again = api.post("/charges/", body, "order-7")
    assert refused(charge(api, DECLINED))
    assert (again.status_code, again.content) == (201, first.content)


def test_another_card_is_charged(api: Api, bear: Bear) -> None:
    bear(card=1)
    decline(api, 1)
    assert refused(charge(api, DECLINED))
    assert made(charge(api))["status"] == "succeeded"
    decline(api, 1, NO_FUNDS)


def test_a_card_is_counted_by_its_number_alone(api: Api, bear: Bear) -> None:
    bear(card=1)
    decline(api, 1)
    another = {**CARD_FIELDS, "number": DECLINED, "cvc": "999", "exp_year": "2031", "name": "Maria Clara"}
    source = made(api.post("/sources/", {"type": "card", "card": another}))["id"]
    assert refused(api.post("/charges/", order(source)))


def test_each_charge_of_a_vaulted_card_is_counted(api: Api, bear: Bear) -> None:
    bear(card=2)
    source = vaulted(api, "4000000000000341")
    answers = [api.post("/charges/", order(source, cvc=f"10{number}")) for number in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]


def test_another_key_is_not_refused(api: Api, shop: NewMerchant, bear: Bear) -> None:
    bear(key=1)
    decline(api, 1)
    assert refused(charge(api))
    assert made(charge(Api(ApiKeyFactory(merchant=shop.merchant).text)))["status"] == "succeeded"


def test_another_address_is_not_refused(api: Api, bear: Bear, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    bear(address=1)
    theirs, ours = {"X-Forwarded-For": "2001:db8::1"}, {"X-Forwarded-For": "192.0.2.7"}
    assert made(charge(api, DECLINED, **theirs))["status"] == "failed"
    assert refused(charge(api, **{"X-Forwarded-For": "2001:db8::2"}))
    assert made(charge(api, **ours))["status"] == "succeeded"


@every_kind
def test_another_merchant_is_not_affected(api: Api, other_shop: NewMerchant, bear: Bear, kind: str) -> None:
    bear(**{kind: 1})
    decline(api, 1)
    decline(Api(other_shop.keys["sk_test"]), 1)


@pytest.mark.parametrize("number", [APPROVED, ANSWER_LOST, NEVER_ARRIVES, NETWORK_FAULT])
def test_only_declines_of_cards_are_counted(api: Api, bear: Bear, number: str) -> None:
    bear(**dict.fromkeys(KINDS, 1))
    assert charge(api, number).status_code == 201
    assert charge(api, number).status_code == 201


def test_a_wallet_that_is_refused_by_its_payer_is_not_counted(api: Api, bear: Bear, client: Client) -> None:
    bear(**dict.fromkeys(KINDS, 1))
    for _ in range(2):
        act(client, awaited(api), "cancel")
    assert Charge.objects.filter(status="failed").count() == 2
    assert made(charge(api))["status"] == "succeeded"


@pytest.mark.long
@pytest.mark.parametrize(("decision", "counts"), [("fail", True), ("cancel", False), ("pay", False)])
@pytest.mark.parametrize("kind", ["card", "merchant"])
def test_a_payer_whom_the_bank_does_not_know_counts_and_one_who_leaves_does_not(
    api: Api, bear: Bear, client: Client, kind: str, decision: str, counts: bool
) -> None:
    bear(**{kind: 1})
    act(client, awaited(api, "card"), decision)
    assert refused(charge(api, CHALLENGED)) == counts


def act(client: Client, waiting: dict[str, Any], decision: str) -> None:
    """Let the payer decide and come back."""
    client.get(client.post(page_of(waiting), {"decision": decision})["Location"])


def test_a_new_window_starts_at_zero(api: Api, bear: Bear, settings: Settings) -> None:
    bear(card=1)
    decline(api, 1)
    assert refused(charge(api, DECLINED))
    settings.DECLINE_WINDOW_MINUTES += 1
    decline(api, 1)


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_charges_only_those_under_way_pass(api: Api, bear: Bear) -> None:
    bear(merchant=4)
    bodies = [order(api.source(DECLINED)) for _ in range(24)]
    batches = [
        at_once(8, lambda number, start=start: api.post("/charges/", bodies[start + number])) for start in (0, 8)
    ]
    # Requests that begin after the fourth decline are refused already.
    passed = [answer for answer in batches[0] if answer.status_code == 201]
    assert len(passed) >= 4
    assert all(refused(answer) for answer in [*batches[0], *batches[1]] if answer not in passed)
    assert SimulatedPayment.objects.count() == len(passed)
    assert DeclineAlert.objects.count() == 1


def test_without_redis_each_process_counts_for_itself(
    api: Api, bear: Bear, settings: Settings, own_redis: RedisProcess
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


def test_a_publishable_key_still_creates_sources(api: Api, shop: NewMerchant, bear: Bear) -> None:
    bear(**dict.fromkeys(KINDS, 1))
    decline(api, 1)
    assert Api(shop.keys["pk_test"]).source(DECLINED)
    assert ApiKey.objects.filter(kind="publishable").exists()


__all__ = ["manage"]
budgets = st.integers(1, BUDGET_MAX)
USUAL = {"card": 10, "address": 100, "key": 150, "merchant": 200}


def test_live_mode_allows_fewer_declines_than_test_mode(settings: Settings) -> None:
    live, test = quotas(True, None), quotas(False, None)
    assert (live, test) == (settings.DECLINE_LIMITS, settings.DECLINE_LIMITS_TEST)
    assert all(live[kind] < test[kind] for kind in live)


@given(budget=budgets)
def test_with_a_budget_of_its_own_a_merchants_keys_and_addresses_keep_their_shares(budget: int) -> None:
    own = quotas(True, budget)
    assert (own["card"], own["merchant"]) == (10, budget)
    assert [own["address"], own["key"]] == [max(1, budget // 2), max(1, budget * 3 // 4)]


@given(less=budgets, more=budgets)
def test_a_higher_budget_lowers_no_limit(less: int, more: int) -> None:
    less, more = sorted((less, more))
    assert all(number >= quotas(True, less)[kind] for kind, number in quotas(True, more).items())


def refused_after(api: Api) -> int:
    """Return how many declines are answered before a request is refused."""
    answered = 0
    while api.post("/charges/", order(api.source(DECLINED))).status_code == 201:
        answered += 1
    return answered


def test_a_budget_is_set_and_taken_back(manage: Manage, api: Api, other_shop: NewMerchant, settings: Settings) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"merchant": 3}
    ended = f"declines are borne in {settings.DECLINE_WINDOW_MINUTES} minutes.\n"
    assert manage("merchant", "set-decline-budget", "Sari Store", 5) == f"From now on 5 {ended}"
    assert refused_after(api) == 5
    assert refused_after(Api(other_shop.keys["sk_test"])) == 3
    output = manage("merchant", "set-decline-budget", "Sari Store", "--usual")
    assert output == f"From now on the usual number of {ended}"
    assert Merchant.objects.get(title="Sari Store").decline_budget is None


def test_a_higher_budget_opens_a_window_that_was_closed(manage: Manage, api: Api, settings: Settings) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"merchant": 1}
    assert refused_after(api) == 1
    manage("merchant", "set-decline-budget", "Sari Store", 3)
    assert refused_after(api) == 2


def test_a_changed_budget_is_in_the_audit_log(manage: Manage, shop: NewMerchant) -> None:
    manage("merchant", "set-decline-budget", "Sari Store", 5)
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.object_id, entry.fields) == ("changed", str(shop.merchant.id), ["decline_budget"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Give a number, or --usual alone."),
        (["5", "--usual"], "Give a number, or --usual alone."),
        (["0"], "from 1 to 1000000"),
        (["1000001"], "from 1 to 1000000"),
        (["many"], "is not a whole number in digits alone"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_in_one_clear_line(
    manage: Manage, shop: NewMerchant, arguments: list[str], complaint: str
) -> None:
    with pytest.raises(CommandError) as refusal:
        manage("merchant", "set-decline-budget", "Sari Store", *arguments)
    assert complaint in str(refusal.value)


def test_a_budget_of_zero_is_refused(shop: NewMerchant) -> None:
    with pytest.raises(IntegrityError, match="merchant_bears_some_declines"), connection.cursor() as cursor:
        cursor.execute("UPDATE payments_merchant SET decline_budget = 0")


def test_missing_limits_have_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECLINE_LIMITS", "card=3, merchant=500")
    env = Environment()
    assert env.counts("DECLINE_LIMITS", USUAL) == USUAL | {"card": 3, "merchant": 500}
    assert env.faults == {}


@pytest.mark.parametrize(
    "text", ["card", "card=", "card=0", "card=-1", "card=1.5", "card=٣", "cards=3", "=3", "card=3=4"]
)
def test_malformed_limits_are_reported_and_replaced_by_defaults(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("DECLINE_LIMITS", text)
    env = Environment()
    assert env.counts("DECLINE_LIMITS", USUAL) == USUAL
    assert env.faults["DECLINE_LIMITS"].endswith("such as card=10,address=100,key=150,merchant=200.")
