"""What may be claimed at once, for how long, and in which order."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import standardwebhooks
from django.db import connection

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant, roll_webhook_secret
from payments.models import Webhook, WebhookAttempt
from payments.webhooks import claim_connection, claims
from payments.webhooks.attempts import TRY_TIME
from payments.webhooks.claims import LEASE, NOTHING_CLAIMED, RECEIVER_LIMIT, WINDOW, Claimed, MerchantShare, Shares
from payments.webhooks.receiver_queues import SENDS_AT_ONCE_TO_RECEIVER
from payments.webhooks.scan_window import EVERYTHING, recent
from payments.webhooks.signing_secrets import KEPT_FOR, Keyring
from tests.figures.webhooks.events import put_events
from tests.months import months_behind
from tests.webhooks.endpoints import claim, only, plan_of_claim, plan_of_record, record_answer, scans

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_try_that_comes_after_its_lease_changes_nothing(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 1, clock.now())
    [late] = claim()
    [current] = claim(now=late.lease)

    record_answer(late, 200)
    assert (only().state, only().leased_until) == ("waiting", current.lease)
    record_answer(current, 500)

    assert (only().state, only().tries) == ("waiting", 1)
    assert WebhookAttempt.objects.get().status == 500


def test_a_lease_outlasts_the_tries_of_all_that_may_be_in_progress_for_one_receiver() -> None:
    assert RECEIVER_LIMIT / SENDS_AT_ONCE_TO_RECEIVER * TRY_TIME + TRY_TIME <= LEASE


@pytest.mark.long
def test_all_workers_together_take_only_so_many_of_one_receiver(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", RECEIVER_LIMIT + 20, clock.now())
    put_events(shop.merchant, "http://127.0.0.1:2002/", 5, clock.now())

    first, second = claim(limit=30), claim()

    assert len({claimed.id for claimed in first + second}) == RECEIVER_LIMIT + 5
    assert claim() == []
    record_answer(first[0], 200)
    assert len(claim()) == 1


def put_to_many(shop: NewMerchant, receivers: int, each: int) -> None:
    for number in range(receivers):
        put_events(shop.merchant, f"http://127.0.0.1:{2001 + number}/", each, clock.now())


@pytest.mark.long
def test_all_workers_together_take_a_thousand_of_one_merchant_from_each_receiver_as_many(shop: NewMerchant) -> None:
    put_to_many(shop, 90, 26)

    first, second = claim(limit=300), claim()

    assert len({claimed.id for claimed in first + second}) == 90 * 11
    assert set(Counter(claimed.receiver for claimed in first + second).values()) == {11}
    assert claim() == []


@pytest.mark.long
def test_a_merchants_newest_event_is_taken_before_thousands_of_older_ones_of_another(shop: NewMerchant) -> None:
    put_to_many(shop, 90, 26)
    other = create_merchant("Other Store")
    put_events(other.merchant, "http://127.0.0.1:2001/", 1, clock.now())

    taken = claim(limit=2)

    assert {claimed.merchant_id for claimed in taken} == {shop.merchant.id, other.merchant.id}


def test_of_one_receiver_each_merchant_that_names_it_has_a_share_of_its_own(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", RECEIVER_LIMIT + 20, clock.now())
    other = create_merchant("Other Store")
    put_events(other.merchant, "http://127.0.0.1:2001/", 1, clock.now())
    claim()
    put_events(other.merchant, "http://127.0.0.1:2001/", 1, clock.now())

    assert [claimed.merchant_id for claimed in claim()] == [other.merchant.id]


def test_a_merchant_of_whom_enough_is_in_progress_is_passed_over(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 5, clock.now())
    other = create_merchant("Other Store")
    put_events(other.merchant, "http://127.0.0.1:2001/", 1, clock.now())

    taken = claim(shares=Shares(250, True, full=[MerchantShare(shop.merchant.id, False, slow=False)], slow=[]))

    assert [claimed.merchant_id for claimed in taken] == [other.merchant.id]


def test_of_a_slow_receiver_a_few_are_taken_after_all_others(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 20, clock.now() - timedelta(hours=1))
    put_events(shop.merchant, "http://127.0.0.1:2002/", 3, clock.now())
    shares = Shares(250, True, full=[], slow=[(shop.merchant.id, False, "http://127.0.0.1:2001")])

    assert {claimed.receiver for claimed in claim(limit=3, shares=shares)} == {"http://127.0.0.1:2002"}
    assert {claimed.receiver for claimed in claim(shares=shares)} == {"http://127.0.0.1:2001"}
    assert Webhook.objects.filter(leased_until__isnull=False).count() == 3 + 4


@pytest.mark.long
def test_a_claim_looks_at_so_many_receivers_of_a_merchant_and_the_next_one_continues_behind_them(
    shop: NewMerchant,
) -> None:
    put_to_many(shop, WINDOW + 10, 1)

    plan = asyncio.run(plan_of_claim(recent(clock.now())))
    batch = asyncio.run(claim_behind(f"http://127.0.0.1:{2000 + WINDOW}", shop))

    # The one more says where the next claim continues.
    assert max(rows_met(plan)) <= WINDOW + 1, plan
    assert len(batch) == 10


async def claim_behind(receiver: str, shop: NewMerchant) -> list[Claimed]:
    async with await claim_connection.connect() as database:
        after = {(shop.merchant.id, False): receiver}
        found = await claims.claim(database, 250, clock.now(), EVERYTHING, NOTHING_CLAIMED, after)
    assert found.windows == {}
    return found.batch


@pytest.mark.long
def test_a_long_queue_is_read_from_its_head_alone_whatever_the_planner_believes(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 4 * RECEIVER_LIMIT, clock.now())
    Webhook.objects.update(state="delivered", due_at=None)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_webhook")
    put_events(shop.merchant, "http://127.0.0.1:2001/", 4 * RECEIVER_LIMIT, clock.now())

    plan = asyncio.run(plan_of_claim(recent(clock.now())))

    # PostgreSQL 15 looks at one more row, to see that the window ends.
    assert max(rows_met(plan)) <= RECEIVER_LIMIT + 1, plan


@pytest.mark.long
@pytest.mark.parametrize("months", [1, 17])
def test_of_many_tries_that_are_put_down_none_is_compared_with_the_others(shop: NewMerchant, months: int) -> None:
    with months_behind(months):
        put_some(shop, announced=True)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE payments_webhook")
        put_some(shop, announced=False)

        plan = asyncio.run(plan_of_record(claim(limit=RECEIVER_LIMIT)))

    assert max(rows_met(plan)) == RECEIVER_LIMIT, plan


@pytest.mark.long
@pytest.mark.parametrize("reported_before", [timedelta(0), timedelta(days=10)], ids=["known", "new"])
def test_no_delivered_row_is_read_to_find_those_that_are_due(shop: NewMerchant, reported_before: timedelta) -> None:
    with clock.at(clock.now() - reported_before):
        put_some(shop, announced=True)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_webhook")
    put_some(shop, announced=True)
    put_some(shop, announced=False)

    plan = asyncio.run(plan_of_claim(recent(clock.now()), limit=10))

    read = {scan["Index Name"] for scan in scans(plan) if scan["Actual Rows"] * scan["Actual Loops"] > 11}
    assert len(read) == 1
    assert re.search("due_of_receiver|livemode_receiver", read.pop())


def put_some(shop: NewMerchant, announced: bool) -> None:
    """Create a thousand events for ten receivers."""
    for receiver in range(2001, 2011):
        put_events(shop.merchant, f"http://127.0.0.1:{receiver}/", 100, clock.now())
    if announced:
        Webhook.objects.update(state="delivered", due_at=None)


def rows_met(node: dict[str, Any]) -> Iterator[float]:
    """How many rows of its table or of its indexes each part of a plan has looked at."""
    met = node["Actual Rows"] + sum(count for name, count in node.items() if name.startswith("Rows Removed"))
    yield met * node["Actual Loops"]
    for below in node.get("Plans", []):
        yield from rows_met(below)


def test_first_tries_come_before_others(shop: NewMerchant) -> None:
    put_events(shop.merchant, "http://127.0.0.1:2001/", 5, clock.now() - timedelta(days=1))
    Webhook.objects.update(tries=1, failures=1, first_try_at=clock.now())
    put_events(shop.merchant, "http://127.0.0.1:2002/", 2, clock.now())

    taken = claim(limit=3)

    assert {claimed.url for claimed in taken} == {"http://127.0.0.1:2001/", "http://127.0.0.1:2002/"}
    assert sorted(claimed.failures for claimed in taken) == [0, 0, 1]


def test_a_secret_that_is_rolled_without_overlap_stops_signing_within_a_second(shop: NewMerchant) -> None:
    now, whose = clock.now(), (shop.merchant.id, False, None)
    with asyncio.Runner() as runner:
        database = runner.run(claim_connection.connect())
        keyring = Keyring(database)
        before = runner.run(keyring.signers_of({whose}, now))[whose]
        roll_webhook_secret(shop.merchant, livemode=False, overlap=timedelta(0))
        assert runner.run(keyring.signers_of({whose}, now))[whose] is before
        after = runner.run(keyring.signers_of({whose}, clock.now() + KEPT_FOR))[whose]
        runner.run(database.close())
    old = standardwebhooks.Webhook(shop.webhook_secrets["whsec_test"])
    old.verify(b"{}", before.headers_of("evt_1", b"{}", now))
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        old.verify(b"{}", after.headers_of("evt_1", b"{}", now))
    assert timedelta(seconds=1) >= KEPT_FOR
