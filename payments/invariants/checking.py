"""Looks whether the invariants hold, all at one moment, and keeps what each run found."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from payments import clock
from payments.connections import allow_long_statements
from payments.ids import public_id
from payments.invariants.invariant import Invariant
from payments.invariants.registry import INVARIANTS
from payments.models import Merchant, MoneyCheck

RUN_EVERY = timedelta(days=1)
KEPT = timedelta(days=90)

# The invariants look at whole tables: only for them a statement may take its time, and memory enough to sort at once.
# Before that moment is taken, months are kept from being dropped, for those that go later would be missed in it.
ONE_MOMENT = """
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
LOCK TABLE payments_event, payments_webhook, payments_notificationtry IN ACCESS SHARE MODE;
SET LOCAL work_mem = '128MB'
"""


@dataclass(frozen=True)
class Finding:
    """How many rows break an invariant, the public IDs of some of them, and how long it took to look."""

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
    """Looks at `invariants`, for `merchant` or for everybody, and returns the run, which is kept.

    `starting` and `done` are told of each invariant before and after.
    """
    check = _open(invariants, merchant)
    findings = []
    with one_moment():
        for invariant in invariants:
            starting(invariant)
            findings.append(look(invariant, merchant.id if merchant else None))
            done(findings[-1])
    return _close(check, findings)


def run_if_due() -> MoneyCheck | None:
    """Looks at everything unless that was begun less than a day ago; None where it was."""
    if MoneyCheck.objects.filter(whole=True, started_at__gt=clock.now() - RUN_EVERY).exists():
        return None
    return run(INVARIANTS)


@contextmanager
def one_moment() -> Iterator[None]:
    """A transaction that writes nothing, and all of whose statements see the same moment, however long they take."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        for setting in ONE_MOMENT.split(";"):
            cursor.execute(setting)
        allow_long_statements()
        yield


def look(invariant: Invariant, merchant_id: UUID | None = None) -> Finding:
    """Looks at one invariant, for a merchant or for everybody, in the caller's transaction."""
    begun = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(invariant.statement(), {"merchant": merchant_id})
        [(count, uuids)] = cursor.fetchall()
    ids = [public_id(invariant.prefix, uuid) if invariant.prefix else uuid.hex for uuid in uuids]
    return Finding(invariant, count, ids, time.monotonic() - begun)


def _open(invariants: Sequence[Invariant], merchant: Merchant | None) -> MoneyCheck:
    MoneyCheck.objects.filter(started_at__lt=clock.now() - KEPT).delete()
    names = [invariant.name for invariant in invariants]
    whole = merchant is None and set(names) == {invariant.name for invariant in INVARIANTS}
    return MoneyCheck.objects.create(whole=whole, merchant=merchant, invariants=names)


def _close(check: MoneyCheck, findings: Sequence[Finding]) -> MoneyCheck:
    check.failures = [_failure(finding) for finding in findings if finding.count]
    check.finished_at = clock.now()
    check.save(update_fields=["failures", "finished_at"])
    return check


def _failure(finding: Finding) -> dict[str, Any]:
    """What is kept of a failure, so that it can still be read when the invariant is another one."""
    invariant = finding.invariant
    return {
        "name": invariant.name,
        "sentence": invariant.sentence,
        "model": invariant.model,
        "count": finding.count,
        "ids": list(finding.ids),
    }
