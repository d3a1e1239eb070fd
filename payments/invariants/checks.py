"""Checks of the invariants, all in one snapshot, and the record of each run."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.apps import apps
from django.db import connection, transaction

from payments import clock
from payments.concurrency.connections import allow_long_statements
from payments.ids import prefix_of, public_id
from payments.invariants.invariant import Invariant
from payments.invariants.registry import INVARIANTS
from payments.models import Merchant, MoneyCheck

RUN_EVERY = timedelta(days=1)

# The invariants read whole tables, so their statements may take long and get memory to sort in. The lock keeps months
# from being dropped; it comes before the first query, which takes the snapshot.
SNAPSHOT = """
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
LOCK TABLE payments_event, payments_webhook, payments_webhookattempt IN ACCESS SHARE MODE;
SET LOCAL work_mem = '128MB'
"""


@dataclass(frozen=True)
class Finding:
    """The number of rows that break an invariant, the public IDs of some of them, and the duration of the check."""

    invariant: Invariant
    count: int
    ids: Sequence[str]
    seconds: float


def run(
    invariants: Sequence[Invariant],
    merchant: Merchant | None = None,
    starting: Callable[[Invariant], None] = lambda _: None,
    done: Callable[[Finding], None] = lambda _: None,
) -> MoneyCheck:
    """Check `invariants`, for `merchant` or for all merchants; return the run, which is stored.

    `starting` is called before each invariant, `done` after it.
    """
    names = [invariant.name for invariant in invariants]
    whole = merchant is None and set(names) == {invariant.name for invariant in INVARIANTS}
    money_check = MoneyCheck.objects.create(whole=whole, merchant=merchant, invariants=names)
    findings = []
    with read_only_snapshot():
        for invariant in invariants:
            starting(invariant)
            findings.append(check(invariant, merchant.id if merchant else None))
            done(findings[-1])
    # A failure stays readable after its invariant has changed.
    money_check.failures = [
        {
            "name": finding.invariant.name,
            "sentence": finding.invariant.sentence,
            "model": finding.invariant.model,
            "count": finding.count,
            "ids": list(finding.ids),
        }
        for finding in findings
        if finding.count
    ]
    money_check.finished_at = clock.now()
    money_check.save(update_fields=["failures", "finished_at"])
    return money_check


def run_if_due() -> MoneyCheck | None:
    """Check all invariants unless such a run began less than a day ago; return the run, or None."""
    if MoneyCheck.objects.filter(whole=True, started_at__gt=clock.now() - RUN_EVERY).exists():
        return None
    return run(INVARIANTS)


@contextmanager
def read_only_snapshot() -> Iterator[None]:
    """Open a read-only transaction whose statements all see the same snapshot, however long they take."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        for setting in SNAPSHOT.split(";"):
            cursor.execute(setting)
        allow_long_statements()
        yield


def check(invariant: Invariant, merchant_id: UUID | None = None) -> Finding:
    """Check one invariant, for a merchant or for all merchants, in the caller's transaction."""
    begun = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(invariant.statement(), {"merchant": merchant_id})
        [(count, uuids)] = cursor.fetchall()
    return Finding(invariant, count, _ids_of(invariant, uuids), time.monotonic() - begun)


def _ids_of(invariant: Invariant, uuids: Sequence[UUID]) -> list[str]:
    model = apps.get_model(invariant.model)
    prefix = prefix_of(model) if invariant.prefix is None else invariant.prefix
    if prefix is None:
        rows = model._default_manager.in_bulk(uuids)
        return [str(rows[uuid]) for uuid in uuids]
    return [public_id(prefix, uuid) if prefix else uuid.hex for uuid in uuids]
