"""Delivery to real receivers: what they get, what is put down, and who waits for whom."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import standardwebhooks

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant, roll_webhook_secret
from payments.models import Event, Webhook, WebhookAttempt, WebhookSecret
from payments.webhooks.outbox import send_again
from payments.webhooks.transport.client import Limits, Transport
from payments.webhooks.worker import DeliveryLoop
from tests.client import APPROVED, Api
from tests.figures.webhooks.events import put_events
from tests.figures.webhooks.schedule import MovedClock, on_schedule
from tests.support.receiver import Receiver
from tests.webhooks.endpoints import only

pytestmark = pytest.mark.django_db(transaction=True)
IMPATIENT = Limits(connect_seconds=2.0, total_seconds=2.0)


def send_to(shop: NewMerchant, receiver: Receiver, count: int = 1) -> list[str]:
    return put_events(shop.merchant, receiver.url, count, clock.now())


def is_due_after(webhook: Webhook, seconds: float, ran: tuple[datetime, datetime]) -> bool:
    """Return whether it is due `seconds` after a try between the two times, or up to a tenth earlier or later."""
    assert webhook.due_at
    begun, ended = ran
    return begun + timedelta(seconds=0.9 * seconds) <= webhook.due_at <= ended + timedelta(seconds=1.1 * seconds)


def test_a_charge_reaches_its_notify_url_signed_as_it_was_at_each_event(api: Api, shop: NewMerchant) -> None:
    with Receiver() as receiver:
        redirect = {"success": "http://a.example/", "fail": "http://a.example/", "notify": receiver.url}
        charge = api.charge_source(api.source(redirect=redirect))
        assert DeliveryLoop().run() == 2

    calls = {call.event["type"]: call for call in receiver.calls}
    assert {name: call.event["data"]["object"]["status"] for name, call in calls.items()} == {
        "charge.created": "pending",
        "charge.succeeded": "succeeded",
    }
    call = calls["charge.succeeded"]
    assert call.event["data"]["object"] == charge
    assert call.body == bytes(Event.objects.get(type="charge.succeeded").payload)
    secret = shop.webhook_secrets["whsec_test"]
    assert standardwebhooks.Webhook(secret).verify(call.body, call.headers) == call.event
    assert call.event_id == call.event["id"]
    assert call.headers["x-kaha-timestamp"] == call.headers["webhook-timestamp"]
    assert call.headers["x-kaha-signature"].startswith("v1=")
    assert call.headers["content-type"] == "application/json"
    assert call.headers["user-agent"].startswith("kaha")


def test_an_event_is_signed_with_the_second_in_which_it_is_sent(shop: NewMerchant) -> None:
    """Receivers refuse an old or a future time, so neither its making, its claim nor its lease will do."""
    written = clock.now()
    claimed_at, sent_at = written + timedelta(seconds=20), written + timedelta(seconds=50)
    # The claim asks for the time until there is something to send.
    times = iter([claimed_at] * 3)
    with Receiver() as receiver:
        send_to(shop, receiver)
        DeliveryLoop(now=lambda: next(times, sent_at)).run()
    [call] = receiver.calls
    assert call.headers["webhook-timestamp"] == str(int(sent_at.timestamp()))
    assert WebhookAttempt.objects.get().started_at == sent_at


def test_an_answer_with_a_header_that_is_no_utf_8_ends_it(shop: NewMerchant) -> None:
    deliver_to(shop, b"HTTP/1.1 200 OK\r\nServer: caf\xe9\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    assert only().state == "delivered"
    assert WebhookAttempt.objects.get().headers.endswith("Server: caf\N{REPLACEMENT CHARACTER}")


def test_of_a_card_number_where_an_answer_is_cut_no_digit_is_kept(shop: NewMerchant) -> None:
    head = f"HTTP/1.1 500 No\r\nServer: {'a' * 190} {APPROVED}\r\nConnection: close\r\n\r\n"
    deliver_to(shop, f"{head}{'b' * 2036} {APPROVED}".encode())
    attempt = WebhookAttempt.objects.get()
    assert attempt.headers == f"Server: {'a' * 190} [redacted"
    assert bytes(attempt.answer) == b"b" * 2036


def deliver_to(shop: NewMerchant, answer: bytes) -> None:
    """Deliver an event to a receiver that answers so."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        answers = pool.submit(answer_once, server, answer)
        put_events(shop.merchant, f"http://127.0.0.1:{server.getsockname()[1]}/", 1, clock.now())
        assert DeliveryLoop().run() == 1
        answers.result()


def answer_once(server: socket.socket, answer: bytes) -> None:
    caller, _address = server.accept()
    with caller:
        caller.recv(65_536)
        caller.sendall(answer)


def test_a_proper_answer_ends_it_and_the_try_is_put_down(shop: NewMerchant) -> None:
    before = clock.now()
    with Receiver(lambda call: 201) as receiver:
        send_to(shop, receiver)
        assert DeliveryLoop().run() == 1

    done, tried = only(), WebhookAttempt.objects.get()
    assert (done.state, done.tries, done.failures, done.due_at, done.leased_until) == ("delivered", 1, 0, None, None)
    assert (tried.webhook_id, tried.number, tried.status, bytes(tried.answer)) == (done.id, 1, 201, b"ok")
    assert (tried.error, tried.reason) == ("", "")
    assert before <= tried.started_at <= clock.now()
    assert tried.milliseconds >= 0


@pytest.mark.long
@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 404, 429, 500, 503])
def test_any_other_answer_is_tried_again_after_five_seconds(shop: NewMerchant, status: int) -> None:
    with Receiver() as elsewhere, Receiver(lambda call: (status, {"Location": elsewhere.url})) as receiver:
        send_to(shop, receiver)
        begun = clock.now()
        DeliveryLoop().run()
        ran = begun, clock.now()
    assert not elsewhere.calls
    assert (only().state, only().failures) == ("waiting", 1)
    assert is_due_after(only(), 5, ran)
    assert WebhookAttempt.objects.get().status == status


def test_gone_stops_it_at_once(shop: NewMerchant) -> None:
    with Receiver(lambda call: 410) as receiver:
        send_to(shop, receiver)
        DeliveryLoop().run()
    assert (only().state, only().due_at) == ("gone", None)


@pytest.mark.long
@pytest.mark.parametrize(("header", "seconds"), [("20", 20), ("3600", 30), ("1", 5), ("soon", 5)])
def test_the_time_that_a_receiver_asks_for_is_given_up_to_the_next_step(
    shop: NewMerchant, header: str, seconds: float
) -> None:
    with Receiver(lambda call: (503, {"Retry-After": header})) as receiver:
        send_to(shop, receiver)
        begun = clock.now()
        DeliveryLoop().run()
        ran = begun, clock.now()
    assert is_due_after(only(), seconds, ran)


@pytest.mark.long
def test_every_kind_of_failure_is_put_down_beside_the_answers_of_others(shop: NewMerchant) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        urls = {nowhere: "connect_failed", "http://10.0.0.1/": "forbidden_address", "http://127.1/": "forbidden_url"}
        with Receiver() as good, Receiver(lambda call: None) as hanging:
            for url, error in (urls | {good.url: "", hanging.url: "timeout"}).items():
                put_events(shop.merchant, url, 1, clock.now())
                urls[url] = error
            DeliveryLoop(transport=lambda: Transport(limits=IMPATIENT)).run()
    tried = WebhookAttempt.objects.values_list("webhook__url", "error")
    assert dict(tried) == urls
    states = Webhook.objects.values_list("url", "state")
    assert dict(states) == {url: "waiting" if error else "delivered" for url, error in urls.items()}


@pytest.mark.long
def test_after_three_days_it_is_exhausted_and_sent_again_by_hand_it_is_the_same_event(shop: NewMerchant) -> None:
    moved = MovedClock(clock.now())
    with Receiver(lambda call: 500 if moved.moment < over else 200) as receiver:
        over = moved.moment + timedelta(days=4)
        send_to(shop, receiver)
        while only().due_at:
            moved.moment = max(moved.moment, only().due_at)
            DeliveryLoop(moved).run()
        tries = only().tries
        assert only().state == "exhausted"
        assert 14 <= tries <= 15
        moved.moment = over
        send_again(Webhook.objects.all(), over)
        DeliveryLoop(moved).run()
    assert (only().state, only().tries) == ("delivered", tries + 1)
    numbers = WebhookAttempt.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, tries + 2))
    assert len({(call.event_id, call.body) for call in receiver.calls}) == 1


@pytest.mark.long
def test_a_hundred_events_of_which_half_fail_at_first_come_exactly_on_schedule() -> None:
    figure = on_schedule(events=100, most_failures=2)
    assert figure["delivered"] == figure["events"] == 100
    assert figure["tries"] == 170
    wrong = ("events_with_other_tries_than_expected", "tries_with_another_body_or_id", "tries_off_schedule")
    assert [figure[name] for name in wrong] == [0, 0, 0]


@pytest.mark.long
def test_while_a_secret_is_rolled_both_sign_and_afterwards_the_new_one_alone(shop: NewMerchant) -> None:
    old = shop.webhook_secrets["whsec_test"]
    new = roll_webhook_secret(shop.merchant, livemode=False, overlap=timedelta(hours=24))
    with Receiver() as receiver:
        send_to(shop, receiver)
        DeliveryLoop().run()
        send_to(shop, receiver)
        DeliveryLoop(MovedClock(clock.now() + timedelta(hours=25))).run()
    during, after = receiver.calls
    for secret in (old, new):
        standardwebhooks.Webhook(secret).verify(during.body, during.headers)
    assert len(during.headers["webhook-signature"].split()) == 2
    assert len(after.headers["webhook-signature"].split()) == 1


@pytest.mark.long
@pytest.mark.parametrize("breaking", ["no secret", "damaged secret"])
def test_one_merchants_missing_secret_sends_nothing_unsigned_and_stops_nobody_else(
    shop: NewMerchant, breaking: str
) -> None:
    bare = create_merchant("Bare Store")
    secrets = WebhookSecret.objects.filter(merchant=bare.merchant)
    secrets.delete() if breaking == "no secret" else secrets.update(sealed=b"?")
    with Receiver() as receiver:
        send_to(bare, receiver)
        sent = send_to(shop, receiver)
        DeliveryLoop().run()
    assert receiver.event_ids == sent
    assert WebhookAttempt.objects.get(webhook__merchant=bare.merchant).error == "broken"
