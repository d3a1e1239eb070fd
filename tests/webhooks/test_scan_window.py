"""How far back workers look: claims cost the same however many months there are, and nothing is lost for it."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest

from payments import clock
from payments.db.partitions import month_of
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import first_id, new_id
from payments.models import Webhook
from payments.webhooks.outbox import send_again
from payments.webhooks.scan_window import EVERYTHING, LOOK_BACK_EVERY, ScanWindow, recent
from payments.webhooks.worker import DeliveryLoop
from tests.figures.webhooks.events import put_events
from tests.figures.webhooks.schedule import MovedClock
from tests.months import middle_of, months_behind
from tests.support.receiver import Receiver
from tests.webhooks.endpoints import parts_of_claim
from tests.webhooks.test_delivery import send_to

LONG_AGO = timedelta(days=100)
NOW = clock.now()


@pytest.fixture
def seventeen_months(transactional_db: None) -> Iterator[list[date]]:
    with months_behind(17) as behind:
        yield behind


def test_of_many_months_a_claim_reads_those_alone_that_may_be_on_their_schedule(
    shop: NewMerchant, seventeen_months: list[date]
) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 3, clock.now())
    now = clock.now()
    recent_months = {month_of(now - timedelta(days=5)), month_of(now), month_of(now + timedelta(days=1))}
    read = parts_of_claim(recent(now)) - {"payments_webhookendpoint"}
    assert {f"{month:%Y_%m}" for month in recent_months} >= {part[-7:] for part in read}


@pytest.mark.long
def test_a_claim_opens_no_more_of_many_months_than_of_one(shop: NewMerchant, transactional_db: None) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 3, clock.now())
    # In the first days of a month, the recent ones are of two.
    span = recent(middle_of(month_of(clock.now())))
    alone = len(parts_of_claim(span))
    with months_behind(17):
        assert len(parts_of_claim(span)) == alone
        assert len(parts_of_claim(EVERYTHING)) > alone + 17


@pytest.mark.long
@pytest.mark.usefixtures("seventeen_months")
def test_an_event_of_a_hundred_days_ago_that_is_sent_again_is_delivered_within_a_minute(shop: NewMerchant) -> None:
    moved = MovedClock(clock.now())
    drain = DeliveryLoop(now=moved)
    with Receiver() as receiver:
        with clock.at(moved.moment - LONG_AGO):
            put_events(shop.merchant, receiver.url, 1, moved.moment - LONG_AGO)
        Webhook.objects.update(state="exhausted", due_at=None)
        assert drain.run() == 0
        send_again(Webhook.objects.all(), moved.moment)
        moved.moment += LOOK_BACK_EVERY
        assert drain.run() == 1


@pytest.mark.usefixtures("transactional_db")
def test_between_two_looks_back_new_events_are_delivered_at_once(shop: NewMerchant) -> None:
    drain = DeliveryLoop()
    assert drain.run() == 0
    with Receiver() as receiver:
        send_to(shop, receiver)
        assert drain.run() == 1


def looked(found_at: datetime | None = None) -> ScanWindow:
    """One that has looked back now and found what was written at that time."""
    reach = ScanWindow()
    reach.looked(EVERYTHING, NOW, [first_id(found_at)] if found_at else [])
    return reach


def test_a_worker_begins_with_a_look_at_everything() -> None:
    assert ScanWindow().at(NOW) == EVERYTHING


def test_it_looks_back_once_a_minute() -> None:
    reach = looked()
    assert reach.at(NOW + LOOK_BACK_EVERY - timedelta(seconds=1)) != EVERYTHING
    assert reach.at(NOW + LOOK_BACK_EVERY) == EVERYTHING


def test_while_it_finds_old_ones_it_continues_to_look_back() -> None:
    assert looked(found_at=NOW - LONG_AGO).at(NOW) == EVERYTHING


def test_recent_ones_that_it_finds_are_no_reason_to_look_back() -> None:
    assert looked(found_at=NOW - timedelta(days=3)).at(NOW) == recent(NOW)


def test_a_look_at_recent_ones_does_not_put_off_the_look_back() -> None:
    reach = ScanWindow()
    reach.looked(recent(NOW), NOW)
    assert reach.at(NOW) == EVERYTHING


def test_what_is_written_now_is_within_reach() -> None:
    span = recent(clock.now())
    assert span.since < new_id() < span.until
