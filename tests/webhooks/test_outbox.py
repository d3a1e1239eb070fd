"""What is written with a change, so that nothing that dies afterwards can strand it."""

import json
import threading
from datetime import timedelta
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from payments import clock
from payments.db.writes import Insert, StaleRow, Update, execute_writes
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.models import Charge, Event, Webhook, WebhookAttempt
from payments.providers.simulator.models import SimulatedOperation
from payments.tasks import run_sweep
from payments.webhooks import outbox, wake_up
from payments.webhooks.outbox import bring_nearer, build_webhook, send_again
from payments.webhooks.wake_up import MOST_WAITING, BackgroundCall, TaskSender
from tests.charging.elapsed_time import let_time_pass
from tests.client import REFUNDS_FAIL, Api
from tests.figures.webhooks.events import put_events
from tests.support.processes import PATIENCE_SECONDS

URL = "https://Shop.example/hook?from=kaha"
NOTIFIED = {"success": "https://shop.example/", "fail": "https://shop.example/", "notify": URL}


def notified(api: Api, **card: Any) -> str:
    """Create a card source with a notify URL."""
    return api.source(redirect=NOTIFIED, **card)


def announced() -> list[tuple[str, str]]:
    """Type and object of each event that has a webhook, in the order of the changes."""
    rows = Webhook.objects.order_by("event_id").select_related("event")
    return [(row.event.type, json.loads(bytes(row.event.payload))["data"]["object"]["object"]) for row in rows]


def test_every_event_of_a_charge_and_its_refund_is_sent_and_nothing_else(api: Api) -> None:
    charge = api.charge_source(notified(api), capture=False)
    api.post(f"/charges/{charge['id']}/capture")
    api.post(f"/charges/{charge['id']}/refund", {"amount": 100})

    assert announced() == [
        ("charge.created", "charge"),
        ("charge.succeeded", "charge"),
        ("charge.captured", "charge"),
        ("charge.updated", "charge"),
        ("refund.created", "refund"),
        ("refund.updated", "refund"),
    ]
    assert Event.objects.filter(type__startswith="source.").count() == 2


def test_what_the_worker_changes_by_itself_is_reported_too(api: Api) -> None:
    charge = api.charge_source(notified(api, number=REFUNDS_FAIL))
    api.post(f"/charges/{charge['id']}/refund")
    before = len(announced())
    let_time_pass(SimulatedOperation, "settles_at")

    run_sweep("apply_simulator_messages")

    assert sorted(announced()[before:]) == [("charge.updated", "charge"), ("refund.updated", "refund")]


@pytest.mark.parametrize("redirect", [None, {"success": "https://a.example/", "fail": "https://a.example/"}])
def test_without_a_url_no_webhook_waits(api: Api, redirect: dict[str, str] | None) -> None:
    api.charge_source(api.source(**({"redirect": redirect} if redirect else {})))
    assert Event.objects.filter(type__startswith="charge.").count() == 2
    assert not Webhook.objects.exists()


def test_a_webhook_is_due_at_once_and_belongs_to_its_events_merchant_and_mode(api: Api, shop: NewMerchant) -> None:
    api.charge_source(notified(api))
    first = Webhook.objects.select_related("event").order_by("event_id")[0]
    assert (first.merchant_id, first.livemode, first.state, first.tries) == (shop.merchant.id, False, "waiting", 0)
    assert (first.url, first.receiver) == (URL, "https://shop.example:443")
    assert first.due_at == first.event.created_at


@pytest.mark.parametrize("url", ["http://127.1/", "https://user@shop.example/", "https://shop.example:25/"])
def test_a_url_that_may_not_be_called_shares_one_receiver_with_its_like(shop: NewMerchant, url: str) -> None:
    put_events(shop.merchant, url, 1, clock.now())
    assert Webhook.objects.get().receiver == "forbidden"


def test_a_change_that_is_not_made_is_not_reported(shop: NewMerchant) -> None:
    event = Event(merchant=shop.merchant, livemode=False, type="charge.updated", sequence=1, payload=b"{}")
    event.object_id = event.id
    nothing = Update(Charge, {"id": event.id, "merchant_id": event.merchant_id}, {"version": 2})
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(nothing, Insert(event), build_webhook(event, URL))
    assert not Event.objects.exists()
    assert not Webhook.objects.exists()


def test_a_webhook_costs_a_charge_no_statement(api: Api, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    counts = []
    for source in (api.source(), notified(api)):
        with django_assert_max_num_queries(12) as asked:
            api.charge_source(source)
        counts.append(len(asked))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("state", Webhook.State.values)
def test_whatever_happened_to_a_webhook_it_can_be_sent_again_from_the_start(shop: NewMerchant, state: str) -> None:
    put_events(shop.merchant, URL, 1, clock.now())
    due_at = clock.now() + timedelta(hours=4) if state == "waiting" else None
    Webhook.objects.update(state=state, due_at=due_at, tries=9, failures=9, first_try_at=clock.now())
    now = clock.now()

    assert len(send_again(Webhook.objects.all(), now)) == 1

    again = Webhook.objects.get()
    assert (again.state, again.due_at, again.failures, again.first_try_at) == ("waiting", now, 0, None)
    assert again.tries == 9


def test_what_a_worker_has_in_progress_is_not_sent_again_beside_it(shop: NewMerchant) -> None:
    put_events(shop.merchant, URL, 1, clock.now())
    Webhook.objects.update(leased_until=clock.now() + timedelta(seconds=10))
    assert send_again(Webhook.objects.all(), clock.now()) == []


def test_a_worker_is_woken_where_something_is_due_earlier(
    shop: NewMerchant, django_capture_on_commit_callbacks: Any
) -> None:
    put_events(shop.merchant, URL, 1, clock.now())
    for rows, woken in ((Webhook.objects.none(), []), (Webhook.objects.all(), [outbox.wake_worker])):
        with django_capture_on_commit_callbacks() as called:
            send_again(rows, clock.now())
        assert called == woken
        with django_capture_on_commit_callbacks() as called:
            bring_nearer(rows, timedelta(hours=1), clock.now())
        assert called == woken


def test_the_database_refuses_to_change_a_try(shop: NewMerchant) -> None:
    put_events(shop.merchant, URL, 1, clock.now())
    sent = Webhook.objects.get()
    whose = {"webhook": sent, "merchant": sent.merchant}
    WebhookAttempt.objects.create(**whose, number=1, started_at=clock.now(), milliseconds=3, status=500)
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        WebhookAttempt.objects.update(status=200)


@pytest.mark.django_db(transaction=True)
def test_once_the_charge_is_committed_a_worker_is_woken_by_the_name_of_its_task(api: Api) -> None:
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.delete("celery")

    api.charge_source(notified(api))

    assert wait_until(lambda: client.llen("celery") > 0, PATIENCE_SECONDS)
    [message] = client.lrange("celery", -1, -1)
    headers = json.loads(message)["headers"]
    assert (headers["task"], headers["argsrepr"]) == (run_sweep.name, "['deliver_webhooks']")
    assert headers["eta"] is None
    client.delete("celery")


def test_without_a_worker_no_more_messages_wait_than_a_bound() -> None:
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.delete("celery")
    send = TaskSender(settings.CELERY_BROKER_URL)
    for _ in range(MOST_WAITING + 5):
        send()
    assert client.llen("celery") == MOST_WAITING
    client.delete("celery")
    send()
    assert client.llen("celery") == 1
    client.delete("celery")


def test_the_log_alone_says_that_a_broker_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    BackgroundCall(TaskSender("redis://127.0.0.1:1/0")).wake_worker()
    assert wait_until(lambda: "no worker could be woken" in caplog.text, PATIENCE_SECONDS)


@pytest.mark.long
def test_nobody_waits_for_a_nudge_and_those_while_one_is_sent_become_one_also_after_a_failed_one() -> None:
    sent, proceed = [], threading.Event()

    def send() -> None:
        sent.append(len(sent))
        assert proceed.wait(PATIENCE_SECONDS)
        raise ConnectionError

    nudger = BackgroundCall(send)
    nudger.wake_worker()
    assert wait_until(lambda: len(sent) == 1, PATIENCE_SECONDS)
    for _ in range(10):
        nudger.wake_worker()
    proceed.set()
    assert wait_until(lambda: len(sent) == 2, PATIENCE_SECONDS)


@pytest.mark.parametrize(("fails", "seconds"), [(False, 0.25), (True, 1.0)])
def test_nudges_within_the_pause_after_one_become_one(
    monkeypatch: pytest.MonkeyPatch, fails: bool, seconds: float
) -> None:
    sent, pauses, proceed = list[int](), Queue[float](), threading.Semaphore(0)

    def send() -> None:
        sent.append(len(sent))
        if fails:
            raise ConnectionError

    def pause(seconds: float) -> None:
        pauses.put(seconds)
        assert proceed.acquire(timeout=PATIENCE_SECONDS)

    monkeypatch.setattr(wake_up, "time", SimpleNamespace(sleep=pause))
    nudger = BackgroundCall(send, pause_seconds=0.25)
    nudger.wake_worker()
    assert pauses.get(timeout=PATIENCE_SECONDS) == seconds
    for _ in range(10):
        nudger.wake_worker()
    proceed.release()
    assert pauses.get(timeout=PATIENCE_SECONDS) == seconds
    proceed.release()
    assert len(sent) == 2
