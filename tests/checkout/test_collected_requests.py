"""Payment requests that collect themselves, by the API and by the worker, until they end."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from payments import clock
from payments.domain.checkout import collect
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Card, IdempotencyRecord, PayerMessage, PaymentRequest
from payments.providers.base import ActionRequired, Declined
from payments.providers.failures.retry import Retry
from tests.charging.doubles import UNSENT, Double, lost, provider
from tests.checkout.cast import (
    INVOICE,
    billed,
    charges_of,
    collected,
    customer,
    event_types,
    kept_card,
    pay,
    pay_by_wallet,
    row_of,
    shown,
)
from tests.client import APPROVED, DECLINED, STOLEN, Api, error_of, made
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = pytest.mark.django_db

DAY_SECONDS = 86_400
POOR, DAY = "4000000000009995", timedelta(days=1)
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"source": None}, "source", "missing"),
    ({"collect": None}, "collect", "missing"),
    ({"collect": {"schedule": []}}, "collect.schedule", "too_few"),
    ({"collect": {"schedule": [*range(16)]}}, "collect.schedule", "too_many"),
    ({"collect": {"schedule": [3, 0]}}, "collect.schedule", "not_ascending"),
    ({"collect": {"schedule": [0, 31]}}, "collect.schedule.1", "too_big"),
    ({"collect": {"schedule": [True]}}, "collect.schedule.0", "invalid_type"),
    ({"collect": {"days": [0]}}, "collect.days", "unknown_parameter"),
]


def wait(api: Api, days: float) -> None:
    """Let days pass, and what is due then be done."""
    made(api.post("/test/clock", {"advance_seconds": int(days * DAY_SECONDS) or 1}))


def of(api: Api, request: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = shown(api, request)["collect"]
    return found


def ended(api: Api, request: dict[str, Any]) -> tuple[str, int]:
    """Return why collecting ended, and after how many tries."""
    now = of(api, request)
    assert (now["state"], now["next_at"]) == ("ended", None)
    return now["ended_because"], now["tries"]


def advising(retry: Retry, hours: int = 0) -> Double:
    return Double(create_payment=Declined("card_declined", retry=retry, retry_after_hours=hours))


def test_a_request_charges_its_kept_card_and_is_paid(api: Api) -> None:
    request = collected(api, recurring=True)
    assert request["collect"] | {"next_at": 0} == {
        "schedule": [0, 3, 5, 7],
        "recurring": True,
        "tries": 0,
        "next_at": 0,
        "state": "waiting",
        "ended_because": None,
    }
    assert collect.collect_due() == 1
    paid = shown(api, request)
    assert (paid["paid"], ended(api, request)) == (True, ("paid", 1))
    [charge] = charges_of(request)
    assert (charge.initiator, charge.schedule, str(charge.source)) == ("merchant", "recurring", request["source"])
    assert paid["payment_details"]["id"] == str(charge)
    assert event_types(api, request) == [f"payment_request.{name}" for name in ("created", "updated", "succeeded")]


def test_each_declined_day_moves_to_the_next_until_none_is_left(api: Api) -> None:
    request = collected(api, POOR)
    for tries in (1, 2, 3):
        wait(api, [0, 3, 2][tries - 1])
        assert (of(api, request)["tries"], of(api, request)["state"]) == (tries, "waiting")
    wait(api, 2)
    assert ended(api, request) == ("exhausted", 4)
    wait(api, 30)
    assert len(charges_of(request)) == 4
    types = event_types(api, request)
    assert (types.count("payment_request.updated"), types.count("payment_request.failed")) == (4, 4)
    assert not shown(api, request)["paid"]


@pytest.mark.parametrize("retry", [Retry.NEVER, Retry.NEW_CARD, Retry.AUTHENTICATE])
def test_advice_against_another_try_ends_it(api: Api, retry: Retry) -> None:
    request = collected(api)
    with provider(advising(retry)):
        collect.collect_due()
    wait(api, 10)
    assert (ended(api, request), len(charges_of(request))) == (("advice", 1), 1)


def test_a_card_that_another_charge_has_found_stolen_is_not_tried(api: Api) -> None:
    request = collected(api, STOLEN)
    api.charge_source(request["source"])
    collect.collect_due()
    assert ended(api, request) == ("advice", 0)


def test_advice_of_a_later_day_moves_the_next_try_there(api: Api) -> None:
    request = collected(api)
    with provider(advising(Retry.LATER, hours=96)):
        collect.collect_due()
    row = PaymentRequest.objects.get()
    assert row.collect_at == row.collect_after
    assert row.collect_at
    assert row.collect_at > clock.now() + 3.9 * DAY
    again = made(api.post(f"/payment_requests/{request['id']}/collect"))
    assert again["collect"]["next_at"] == int(row.collect_at.timestamp())
    assert not collect.can_try(row_of(request))


def test_an_unknown_outcome_is_found_before_another_try(api: Api) -> None:
    request = collected(api)
    with provider(Double(create_payment=lost)):
        collect.collect_due()
    assert (of(api, request)["state"], collect.collect_due()) == ("trying", 0)
    path = f"/payment_requests/{request['id']}"
    for verb, body in {"collect": None, "stop_collecting": None, "void": {"reason": "x"}}.items():
        assert error_of(api.post(f"{path}/{verb}", body))["code"] == "request_busy"
    wait(api, 0.1)
    assert (ended(api, request), len(charges_of(request))) == (("paid", 1), 1)


def test_a_provider_that_is_not_reached_is_asked_again_that_day_and_no_decline_is_said(api: Api) -> None:
    request = collected(api)
    with provider(Double(create_payment=UNSENT)):
        collect.collect_due()
        for hours in (1, 6, 16):
            assert of(api, request)["next_at"] - clock.now().timestamp() < hours * 3600 + 1
            wait(api, hours / 24)
        assert (of(api, request)["tries"], of(api, request)["next_at"] > (clock.now() + 1.9 * DAY).timestamp()) == (
            4,
            True,
        )
    assert {*event_types(api, request)} == {"payment_request.created", "payment_request.updated"}
    with provider(advising(Retry.LATER)):
        wait(api, 2.1)
    assert event_types(api, request)[-1] == "payment_request.failed"
    assert list(PayerMessage.objects.order_by("id").values_list("kind", flat=True)) == ["request", "payment_failed"]


def test_what_wants_the_payer_ends_it_after_the_hour(api: Api) -> None:
    request = collected(api)
    with provider(
        Double(create_payment=ActionRequired("sp_1", "https://bank.example/"), resolve=Declined("action_expired"))
    ):
        collect.collect_due()
        assert of(api, request)["state"] == "trying"
        wait(api, 2)
    assert (ended(api, request), len(charges_of(request))) == (("advice", 1), 1)


def test_a_payer_who_pays_ends_it(api: Api) -> None:
    request = collected(api, POOR)
    collect.collect_due()
    pay(request)
    wait(api, 10)
    assert (ended(api, request), len(charges_of(request))) == (("paid", 1), 2)


def test_a_payer_at_a_bank_is_waited_for(api: Api) -> None:
    request = collected(api)
    pay_by_wallet(request)
    assert (collect.collect_due(), len(charges_of(request)), of(api, request)["state"]) == (0, 1, "waiting")


def test_a_void_and_a_stop_end_it(api: Api) -> None:
    voided, stopped = collected(api), collected(api)
    made(api.post(f"/payment_requests/{voided['id']}/void", {"reason": "Sent twice"}))
    path = f"/payment_requests/{stopped['id']}/stop_collecting"
    assert made(api.post(path)) == made(api.post(path)) == shown(api, stopped)
    assert collect.collect_due() == 0
    assert [ended(api, voided), ended(api, stopped)] == [("voided", 0), ("stopped", 0)]
    assert error_of(api.post(f"/payment_requests/{voided['id']}/stop_collecting"))["code"] == "request_not_open"


@pytest.mark.parametrize("end", ["detached", "deleted", "expired"])
def test_it_ends_with_its_source(api: Api, end: str) -> None:
    request = collected(api)
    owner = f"/customers/{request['customer']}"
    if end == "expired":
        Card.objects.update(exp_year="2020")
    else:
        made(api.delete(owner if end == "deleted" else f"{owner}/sources/{request['source']}"))
    collect.collect_due()
    assert ended(api, request) == ("source_gone", 0)
    assert event_types(api, request)[1:] == ["payment_request.updated"]


def test_an_open_request_begins_later_and_changes_its_card(api: Api) -> None:
    juan = customer(api)
    request = billed(api, customer=juan)
    assert not request.keys() & {"source", "collect"}
    path = f"/payment_requests/{request['id']}/collect"
    assert error_of(api.post(path))["param"] == "source"
    made(api.post(path, {"source": kept_card(api, juan, DECLINED)}))
    collect.collect_due()
    changed = made(api.post(path, {"source": kept_card(api, juan, APPROVED), "collect": {"schedule": [1]}}))
    assert (changed["collect"]["schedule"], changed["collect"]["state"]) == ([1], "waiting")
    wait(api, 1)
    assert ended(api, request) == ("paid", 2)


@pytest.mark.parametrize(("members", "param", "code"), BAD, ids=[f"{param}-{code}" for _, param, code in BAD])
def test_a_bad_order_names_its_member(api: Api, members: dict[str, Any], param: str, code: str) -> None:
    asked = {"customer": "cus_1", "source": "src_1", "collect": {}} | members
    refused = api.post("/payment_requests/", INVOICE | asked)
    error = error_of(refused)
    assert (refused.status_code, error["param"], error["code"]) == (400, param, code)


def test_the_source_must_be_kept_for_the_customer_with_consent(api: Api) -> None:
    juan = customer(api)
    unconsented = api.source(APPROVED)
    made(api.post(f"/customers/{juan}/sources", {"source": unconsented}))
    for source in (kept_card(api, customer(api)), api.source(APPROVED), unconsented):
        refused = api.post("/payment_requests/", INVOICE | {"customer": juan, "source": source, "collect": {}})
        assert (refused.status_code, error_of(refused)["param"]) == (400, "source")


def test_the_other_addresses_know_no_collecting(api: Api) -> None:
    refused = api.client.post("/requests/api/v1/requests", {"source": "src_1"}, content_type="application/json")
    assert "source" in refused.content.decode()


def test_a_merchants_own_key_is_never_that_of_a_try(api: Api) -> None:
    collected(api)
    collect.collect_due()
    assert not IdempotencyRecord.objects.get(key__startswith="collect").key.isprintable()


@pytest.fixture
def north(shop: NewMerchant, settings: Settings) -> Iterator[Psp]:
    """Yield a provider that takes the shop's cards in live mode."""
    settings.LIVE_CARDS_ATTESTED = True
    with installed(Psp("north")) as north:
        route_to(account_at(north, shop.merchant))
        yield north


def test_a_card_is_tried_fifteen_times_in_thirty_days(live_api: Api, north: Psp, settings: Settings) -> None:
    settings.DECLINE_LIMITS = settings.DECLINE_LIMITS | {"card": 100}
    juan = customer(live_api)
    source = kept_card(live_api, juan, POOR)
    for _ in range(16):
        collected(live_api, customer=juan, source=source, payment_method_types=["card"])
    north.answers.append(UNSENT)
    assert collect.collect_due() == 16
    collected(live_api, customer=juan, source=source, payment_method_types=["card"])
    assert collect.collect_due() == 0
    late = PaymentRequest.objects.get(collect_tries=0)
    assert late.collect_at
    assert late.collect_at > clock.now() + 29 * DAY


def test_declined_tries_of_cards_that_have_paid_stop_no_payer(live_api: Api, north: Psp, settings: Settings) -> None:
    settings.DECLINE_LIMITS = settings.DECLINE_LIMITS | {"merchant": 1}
    collected(live_api, payment_method_types=["card"])
    north.answers.append(Declined("insufficient_funds"))
    collect.collect_due()
    assert live_api.charge()["status"] == "succeeded"


def test_advice_about_a_card_puts_off_the_tries_of_other_requests(live_api: Api, north: Psp) -> None:
    juan = customer(live_api)
    order = {"customer": juan, "payment_method_types": ["card"]}
    collected(live_api, **order)
    north.answers.append(Declined("card_declined", retry=Retry.LATER, retry_after_hours=96))
    collect.collect_due()
    other = collected(live_api, **order)
    assert collect.collect_due() == 0
    assert of(live_api, other)["next_at"] > (clock.now() + 3.9 * DAY).timestamp()


def test_the_clock_of_test_mode_leaves_no_tries_behind_that_count(api: Api) -> None:
    juan = customer(api)
    source = kept_card(api, juan, POOR)
    for _ in range(15):
        collected(api, customer=juan, source=source)
    collect.collect_due()
    wait(api, 31)
    collected(api, customer=juan, source=source)
    assert collect.collect_due() == 1


def test_a_process_of_the_version_before_may_end_it(api: Api) -> None:
    request = collected(api)
    pay(request)
    PaymentRequest.objects.update(collect_ended="", collect_at=clock.now())
    collect.collect_due()
    assert (ended(api, request), len(charges_of(request))) == (("paid", 0), 1)


def test_the_payer_gets_a_message_of_the_first_decline_and_in_place_of_reminders(api: Api, shop: NewMerchant) -> None:
    shop.merchant.send_receipts = True
    shop.merchant.save()
    collected(api, POOR)
    kinds = []
    for days in (0, 3, 2, 2):
        wait(api, days)
        kinds.append(list(PayerMessage.objects.order_by("id").values_list("kind", flat=True)))
    assert kinds[0] == ["request", "payment_failed"]
    assert kinds[-1] == ["request", "payment_failed", "payment_failed", "payment_failed"]
