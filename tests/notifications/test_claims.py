"""What may be in hand at once, for how long, and in which order it is taken."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from standardwebhooks import Webhook, WebhookVerificationError

from payments import clock
from payments.domain.merchants import NewMerchant, roll_notify_secret
from payments.models import Notification, NotificationTry
from payments.notifications import leasing
from payments.notifications.leasing import LEASE, RECEIVER_LIMIT
from payments.notifications.reach import recent
from payments.notifications.secrets import KEPT_FOR, Keyring
from payments.notifications.sending import SENDS_AT_ONCE_TO_RECEIVER, TRY_TIME
from tests.figures.making import put_events
from tests.months import months_behind
from tests.notifications.claiming import claim, only, plan_of_claim, plan_of_record, record_answer, scans

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_try_that_comes_after_its_lease_changes_nothing(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 1, clock.now())
    [late] = claim()
    [current] = claim(now=late.lease)

    record_answer(late, 200)
    assert (only().state, only().leased_until) == ("waiting", current.lease)
    record_answer(current, 500)

    assert (only().state, only().tries) == ("waiting", 1)
    assert NotificationTry.objects.get().status == 500


def test_a_lease_outlasts_the_tries_of_all_that_may_be_in_hand_for_one_receiver() -> None:
    assert RECEIVER_LIMIT / SENDS_AT_ONCE_TO_RECEIVER * TRY_TIME + TRY_TIME <= LEASE


def test_all_workers_together_take_only_so_many_of_one_receiver(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", RECEIVER_LIMIT + 20, clock.now())
    put_events(shop.merchant, "http://127.0.0.1:2002/", 5, clock.now())

    first, second = claim(limit=30), claim()

    assert len({claimed.id for claimed in first + second}) == RECEIVER_LIMIT + 5
    assert claim() == []
    record_answer(first[0], 200)
    assert len(claim()) == 1


def test_a_long_queue_is_read_from_its_head_alone_whatever_the_planner_believes(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 4 * RECEIVER_LIMIT, clock.now())
    Notification.objects.update(state="delivered", due_at=None)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_notification")
    put_events(shop.merchant, "http://127.0.0.1:2001/", 4 * RECEIVER_LIMIT, clock.now())

    plan = asyncio.run(plan_of_claim(recent(clock.now())))

    assert max(rows_met(plan)) <= RECEIVER_LIMIT, plan


@pytest.mark.parametrize("months", [1, 17])
def test_of_many_tries_that_are_put_down_none_is_compared_with_the_others(shop: NewMerchant, months: int) -> None:
    with months_behind(months):
        put_some(shop, told=True)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE payments_notification")
        put_some(shop, told=False)

        plan = asyncio.run(plan_of_record(claim(limit=RECEIVER_LIMIT)))

    assert max(rows_met(plan)) == RECEIVER_LIMIT, plan


@pytest.mark.parametrize("told_before", [timedelta(0), timedelta(days=10)], ids=["known", "new"])
def test_no_row_that_was_told_is_read_to_find_those_that_are_due(shop: NewMerchant, told_before: timedelta) -> None:
    with clock.at(clock.now() - told_before):
        put_some(shop, told=True)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_notification")
    put_some(shop, told=True)
    put_some(shop, told=False)

    plan = asyncio.run(plan_of_claim(recent(clock.now()), limit=10))

    read = {scan["Index Name"] for scan in scans(plan) if scan["Actual Rows"] * scan["Actual Loops"] > 11}
    assert len(read) == 1
    assert "due_of_receiver" in read.pop()


def put_some(shop: NewMerchant, told: bool) -> None:
    """A thousand events, to ten receivers."""
    for receiver in range(2001, 2011):
        put_events(shop.merchant, f"http://127.0.0.1:{receiver}/", 100, clock.now())
    if told:
        Notification.objects.update(state="delivered", due_at=None)


def rows_met(node: dict[str, Any]) -> Iterator[float]:
    """How many rows of its table or of what lies below it each part of a plan has looked at."""
    met = node["Actual Rows"] + sum(count for name, count in node.items() if name.startswith("Rows Removed"))
    yield met * node["Actual Loops"]
    for below in node.get("Plans", []):
        yield from rows_met(below)


def test_first_tries_come_before_others(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 5, clock.now() - timedelta(days=1))
    Notification.objects.update(tries=1, failures=1, first_try_at=clock.now())
    put_events(shop.merchant, "http://127.0.0.1:2002/", 2, clock.now())

    taken = claim(limit=3)

    assert {claimed.url for claimed in taken} == {"http://127.0.0.1:2001/", "http://127.0.0.1:2002/"}
    assert sorted(claimed.failures for claimed in taken) == [0, 0, 1]


def test_a_secret_that_is_rolled_without_overlap_stops_signing_within_a_second(shop: NewMerchant) -> None:
    now, whose = clock.now(), (shop.merchant.id, False)
    with asyncio.Runner() as runner:
        database = runner.run(leasing.connect())
        keyring = Keyring(database)
        before = runner.run(keyring.signers_of({shop.merchant.id}, now))[whose]
        roll_notify_secret(shop.merchant, livemode=False, overlap=timedelta(0))
        after = runner.run(keyring.signers_of({shop.merchant.id}, clock.now() + KEPT_FOR))[whose]
        runner.run(database.close())
    old = Webhook(shop.notify_secrets["whsec_test"])
    old.verify(b"{}", before.headers_of("evt_1", b"{}", now))
    with pytest.raises(WebhookVerificationError):
        old.verify(b"{}", after.headers_of("evt_1", b"{}", now))
    assert timedelta(seconds=1) >= KEPT_FOR
