"""Events, webhooks and tries are in monthly partitions, created ahead and dropped whole when they expire."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from threading import Event as Signal

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import Settings

from payments import clock
from payments.db.partitions import ALL, EVENTS, REQUESTS, WEBHOOKS, PartitionedTable, after, make, month_of
from payments.domain.maintenance import partitions
from payments.domain.maintenance.partitions import DAYS_AHEAD, MONTHS_AHEAD, REQUESTS_KEEP_DAYS, make_ahead
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.invariants.checks import check
from payments.invariants.history import EVENTS_ARE_NOTIFIED
from payments.invariants.registry import INVARIANTS
from payments.models import Event, Webhook, WebhookAttempt
from tests.client import Api, made
from tests.concurrency import at_once, in_background
from tests.figures.webhooks.events import put_events
from tests.invariants.forgery import forge
from tests.months import forget_ahead, middle_of, months_behind, months_of

URL = "http://127.0.0.1:2001/"
KEPT_DAYS = 31
INDEXES = """
SELECT regexp_replace(regexp_replace(indexdef, ' INDEX \\S+ ON ', ' ON '), %s, '') FROM pg_indexes WHERE tablename = %s
"""
OPTIONS = "SELECT reloptions FROM pg_class WHERE relname = %s"


@pytest.fixture(autouse=True)
def _ahead_of_today(db: None) -> None:
    """Make what is missing where the database was made before midnight."""
    make_ahead(clock.now())


@pytest.fixture
def behind(db: None, settings: Settings) -> Iterator[list[date]]:
    """Three months before the first, of which the latest is kept."""
    settings.EVENTS_KEEP_DAYS = KEPT_DAYS
    with months_behind(3) as made_behind:
        yield made_behind


def sent_event(shop: NewMerchant, month: date) -> Webhook:
    """Create an event of that month that was sent in one attempt."""
    moment = middle_of(month)
    with clock.at(moment):
        [public_id] = put_events(shop.merchant, URL, 1, moment)
    sent = Webhook.objects.get(id=parse_id("evt", public_id))
    Webhook.objects.filter(id=sent.id).update(state="delivered", due_at=None)
    whose = {"webhook": sent, "merchant": sent.merchant}
    WebhookAttempt.objects.create(**whose, number=1, started_at=moment, milliseconds=1, status=204)
    return sent


def over() -> date:
    """Return the first month that is kept."""
    return month_of(clock.now() - timedelta(days=KEPT_DAYS))


def read(sql: str, *params: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return sorted(str(row) for row in cursor.fetchall())


def indexes_of(parted: PartitionedTable, month: date) -> list[str]:
    """Return the indexes of a partition, without their names."""
    return read(INDEXES, f"_{month:%Y_%m}", parted.part(month))


def test_there_are_months_ahead(db: None) -> None:
    assert {months_of(parted)[-1] for parted in ALL} == {after(month_of(clock.now()), MONTHS_AHEAD)}


@pytest.mark.parametrize("parted", ALL, ids=lambda parted: parted.table)
def test_months_that_are_missing_are_made_and_made_again_change_nothing(parted: PartitionedTable, db: None) -> None:
    before = months_of(parted)
    forget_ahead(parted, kept=1)
    assert make_ahead(clock.now()) == len(before) - 1
    assert months_of(parted) == before
    assert make_ahead(clock.now()) == 0


@pytest.mark.parametrize("parted", ALL, ids=lambda parted: parted.table)
def test_a_month_made_ahead_is_indexed_and_cleaned_as_the_first_one_is(parted: PartitionedTable, db: None) -> None:
    first, *_, last = months_of(parted)
    assert indexes_of(parted, last) == indexes_of(parted, first)
    assert read(OPTIONS, parted.part(last)) == read(OPTIONS, parted.part(first)) != []


def test_an_event_has_one_sequence_in_a_month_that_was_made(shop: NewMerchant, behind: list[date]) -> None:
    first, second = sent_event(shop, behind[-1]).event, sent_event(shop, behind[-1]).event
    with pytest.raises(IntegrityError, match="object_id_sequence_livemode_key"), transaction.atomic():
        Event.objects.filter(id=second.id).update(object_id=first.object_id)


def test_a_try_is_not_changed_in_a_month_that_was_made(shop: NewMerchant, behind: list[date]) -> None:
    sent_event(shop, behind[-1])
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        WebhookAttempt.objects.update(status=500)


def test_months_past_their_time_are_dropped_with_their_webhooks_and_attempts(
    shop: NewMerchant, behind: list[date]
) -> None:
    sent = [sent_event(shop, month) for month in behind]
    kept = {one.id for one, month in zip(sent, behind, strict=True) if month >= over()}
    assert partitions.maintain() == len(ALL) * (len(sent) - len(kept))

    assert set(Event.objects.values_list("id", flat=True)) == kept
    assert set(Webhook.objects.values_list("id", flat=True)) == kept
    assert set(WebhookAttempt.objects.values_list("webhook_id", flat=True)) == kept
    assert {months_of(parted)[0] for parted in ALL} == {over()}
    assert partitions.maintain() == 0


def test_a_month_in_which_a_webhook_waits_is_kept_with_all_that_came_after(
    shop: NewMerchant, behind: list[date]
) -> None:
    waits = sent_event(shop, behind[0])
    Webhook.objects.filter(id=waits.id).update(state="waiting", due_at=clock.now())

    assert partitions.maintain() == 0
    assert {months_of(parted)[0] for parted in ALL} == {behind[0]}
    Webhook.objects.filter(id=waits.id).update(state="exhausted", due_at=None)
    assert partitions.maintain() > 0


def test_what_was_detached_by_a_worker_that_died_is_dropped_by_the_next(behind: list[date]) -> None:
    part = WEBHOOKS.part(behind[0])
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE payments_webhook DETACH PARTITION {part}")
    partitions.maintain()
    assert part not in connection.introspection.table_names()
    assert {months_of(parted)[0] for parted in ALL} == {over()}


def test_days_of_the_request_log_are_made_ahead_and_dropped_after_30_days(db: None) -> None:
    today = clock.now().date()
    with connection.cursor() as cursor:
        make(cursor, REQUESTS, today + timedelta(days=DAYS_AHEAD + 1))
    with clock.at(clock.now() + timedelta(days=REQUESTS_KEEP_DAYS + 1)):
        partitions.maintain()
    assert months_of(REQUESTS)[0] == today + timedelta(days=1)
    assert months_of(REQUESTS)[-1] == today + timedelta(days=REQUESTS_KEEP_DAYS + 1 + DAYS_AHEAD)


@pytest.mark.django_db(transaction=True)
def test_a_month_stays_whose_webhook_is_sent_again_just_before_it_is_detached(
    shop: NewMerchant, settings: Settings
) -> None:
    settings.EVENTS_KEEP_DAYS = KEPT_DAYS
    with months_behind(3) as [behind, *_]:
        webhook = sent_event(shop, behind)

        def send_again() -> None:
            Webhook.objects.filter(id=webhook.id).update(state="waiting", due_at=clock.now())

        def between(execute: Callable[..., object], sql: str, *rest: object) -> object:
            if sql.startswith("ALTER TABLE payments_webhook DETACH"):
                with in_background(send_again) as done:
                    done.result()
            return execute(sql, *rest)

        with connection.execute_wrapper(between):
            partitions.maintain()
        assert months_of(WEBHOOKS)[0] == behind
        assert Webhook.objects.filter(id=webhook.id, due_at__isnull=False).exists()


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_while_somebody_reads_events_for_long_these_stay_in_order_and_go_the_next_time(
    shop: NewMerchant, settings: Settings
) -> None:
    reads, tried = Signal(), Signal()

    def read_for_long() -> int:
        with transaction.atomic():
            count = Event.objects.count()
            reads.set()
            assert tried.wait(30)
            return count

    def drop() -> int:
        assert reads.wait(30)
        try:
            return partitions.maintain()
        finally:
            tried.set()

    settings.EVENTS_KEEP_DAYS = KEPT_DAYS
    with months_behind(3) as behind:
        sent_event(shop, behind[0])
        assert at_once(2, lambda number: drop() if number else read_for_long()) == [1, 0]
        assert (months_of(EVENTS)[0], months_of(WEBHOOKS)[0]) == (behind[0], over())
        assert Event.objects.count() == 1
        assert not check(EVENTS_ARE_NOTIFIED).count
        assert partitions.maintain() > 0
        assert months_of(EVENTS)[0] == over()


def test_lists_continue_over_the_end_of_a_month(api: Api, shop: NewMerchant, behind: list[date]) -> None:
    sent = sorted((f"evt_{sent_event(shop, month).id.hex}" for month in behind for _ in range(3)), reverse=True)
    first = made(api.get("/events/", limit=4))
    second = made(api.get("/events/", limit=100, start_after=sent[3]))
    assert [event["id"] for event in first["data"] + second["data"]] == sent


@pytest.fixture
def old_charge(api: Api, behind: list[date]) -> dict[str, object]:
    """Create a charge whose first events are in a dropped month, and its last ones in this month."""
    with clock.at(middle_of(behind[0])):
        charge = api.charge()
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 100}))
    partitions.maintain()
    return charge


def broken() -> set[str]:
    return {invariant.name for invariant in INVARIANTS if check(invariant).count}


def test_what_lost_its_first_events_with_their_month_breaks_no_invariant(old_charge: dict[str, object]) -> None:
    assert not Event.objects.filter(type="charge.created").exists()
    assert broken() == set()


def test_a_gap_in_what_is_kept_of_an_old_charge_is_found(old_charge: dict[str, object]) -> None:
    forge(Event.objects.filter(type="charge.updated").latest("sequence"), sequence=40)
    assert broken() == {"charges_have_their_events"}
