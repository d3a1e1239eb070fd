"""One way to break each invariant of events, webhooks and the transparency log."""

from datetime import timedelta

from django.db import connection
from django.db.models import F

from customers.models import Customer
from payments import clock
from payments.db.partitions import EVENTS, after, begins, month_of
from payments.db.scoped_queryset import LAST_ID
from payments.ids import new_id, parse_id, public_id
from payments.ledger.transparency import append
from payments.models import LogLeaf, LogProgress, Posting, Webhook
from tests.factories import MerchantFactory
from tests.invariants.breakages import breaks
from tests.invariants.forgery import event_of, forge, forge_charge
from tests.invariants.history import History


@breaks("charges_have_their_events")
def change_without_event(history: History) -> str:
    return forge_charge(history, "captured", version=F("version") + 1)


@breaks("refunds_have_their_events")
def gap_in_the_sequence(history: History) -> str:
    refund = history.charge("refund arrived").refunds.get()
    forge(event_of(refund.id, 2), sequence=3)
    return public_id("re", refund.id)


@breaks("sources_have_their_events", "events_have_their_object")
def event_of_another_object(history: History) -> str:
    source = history.charge("captured").source
    forge(event_of(source.id, 1), object_id=new_id())
    return public_id("src", source.id)


@breaks("events_have_their_object")
def event_of_nothing(history: History) -> str:
    event = event_of(history.charge("wallet").id, 1)
    event.id, event.object_id = new_id(), new_id()
    event.save(force_insert=True)
    return public_id("evt", event.id)


@breaks("events_are_notified")
def event_without_notification(history: History) -> str:
    event = event_of(history.charge("refunded").refunds.get().id, 1)
    Webhook.objects.filter(event=event).delete()
    return public_id("evt", event.id)


@breaks("months_are_ahead")
def next_month_without_partition(history: History) -> str:
    now = month_of(clock.now())
    with connection.cursor() as cursor:
        for month in [month for month in EVENTS.starts(cursor) if month > now]:
            cursor.execute(f"ALTER TABLE payments_event DETACH PARTITION {EVENTS.part(month)}")
    return begins(after(now)).replace("-", "")


@breaks("customers_have_their_events")
def customer_changed_without_event(history: History) -> str:
    forge(Customer.objects.get(id=parse_id("cus", history.customer)), version=F("version") + 1)
    return history.customer


def newest_leaf() -> tuple[LogLeaf, str]:
    """Log all that is there; return the last leaf, and the first line of its journal."""
    LogProgress.objects.create(posting_id=LAST_ID)
    append.append_missed()
    LogProgress.objects.update(looked_at=clock.now() + timedelta(days=1))
    leaf = LogLeaf.objects.latest("number")
    return leaf, public_id("txn", Posting.objects.get(journal=leaf.journal, line=1).id)


@breaks("journals_have_their_leaf")
def journal_that_the_log_read_past(history: History) -> str:
    leaf, line = newest_leaf()
    leaf.delete()
    return line


@breaks("leaves_match_their_journal")
def leaf_of_another_merchant(history: History) -> str:
    leaf, line = newest_leaf()
    forge(leaf, merchant=MerchantFactory())
    return line
