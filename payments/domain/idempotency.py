"""Same key, same request: the same answer again, byte for byte (contract, section 5)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError

from payments import clock
from payments.domain import reads
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError
from payments.models import IdempotencyRecord, StaffAct
from payments.models.together import Insert, Update, Write, insert_if_absent, write_together

PURGE_BATCH = 5000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered: HTTP status and body, and whether it was given before."""

    status: int
    body: bytes
    replayed: bool = False


class Replay(Exception):
    """This request was answered before."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


def look_up(caller: Caller) -> None:
    """Raises Replay when the caller's key has its answer, PaymentError when it is in use or was used otherwise."""
    if caller.idempotency is None:
        return
    record = reads.idempotency_record.first(**_identity(caller))
    if record is not None:
        _refuse_or_replay(record, caller.idempotency.fingerprint)


def claim(caller: Caller) -> IdempotencyRecord | None:
    """Takes the caller's key in the caller's transaction; None when the request has none.

    Raises as `look_up` does when somebody else took it.
    """
    if caller.idempotency is None:
        return None
    record = new_record(caller)
    while not insert_if_absent(record):
        look_up(caller)
    return record


def answered(record_id: UUID, answer: Answer) -> Update:
    """The write that stores the answer of a claimed key."""
    rows = IdempotencyRecord.objects.filter(id=record_id, status__isnull=True)
    return Update(rows, {"status": answer.status, "body": answer.body})


def commit_once(caller: Caller, answer: Answer, *writes: Write) -> Answer:
    """Does `writes` and stores `answer` under the caller's key, in one statement.

    For verbs that ask no provider. Raises Replay when a racing request with the same key was first.
    """
    if caller.idempotency is None:
        write_together(*writes)
        return answer
    try:
        write_together(*writes, Insert(new_record(caller, answer)))
    except IntegrityError:
        look_up(caller)
        raise
    return answer


def keep_refusal(caller: Caller, answer: Answer) -> None:
    """Stores the answer of a request that was refused after it was looked at, so that it is refused alike again."""
    if caller.idempotency is not None:
        insert_if_absent(new_record(caller, answer))


def purge(batch: int = PURGE_BATCH) -> int:
    """Deletes answers older than IDEMPOTENCY_KEEP_DAYS, `batch` rows at a time; returns how many.

    Those of acts stay until these have heard them, for by them they know that they were done.
    """
    unheard = [act.idempotency_key for act in StaffAct.objects.approved()]
    before = clock.now() - timedelta(days=settings.IDEMPOTENCY_KEEP_DAYS)
    rows = IdempotencyRecord.objects.filter(created_at__lt=before, status__isnull=False).exclude(key__in=unheard)
    old = rows.order_by("created_at").values_list("id", flat=True)[:batch]
    total = 0
    while count := IdempotencyRecord.objects.filter(id__in=list(old.all())).delete()[0]:
        total += count
    return total


def new_record(caller: Caller, answer: Answer | None = None) -> IdempotencyRecord:
    """The unsaved record of the caller's key, which it must have."""
    assert caller.idempotency is not None  # nosec B101 # for the type checker: who comes here has a key
    return IdempotencyRecord(
        **_identity(caller),
        fingerprint=caller.idempotency.fingerprint,
        status=answer.status if answer else None,
        body=answer.body if answer else None,
    )


def _identity(caller: Caller) -> dict[str, Any]:
    assert caller.idempotency is not None  # nosec B101 # for the type checker: who comes here has a key
    return {
        "merchant_id": caller.merchant_id,
        "livemode": caller.livemode,
        "key": caller.idempotency.key,
    }


def _refuse_or_replay(record: IdempotencyRecord, fingerprint: bytes) -> None:
    if bytes(record.fingerprint) != fingerprint:
        message = "This idempotency key was used for another request."
        raise PaymentError(409, "idempotency_error", "idempotency_key_reused", message)
    if record.status is None or record.body is None:
        message = "The first request with this idempotency key is still running."
        raise PaymentError(409, "idempotency_error", "idempotency_key_in_use", message, retry_after_seconds=1)
    raise Replay(Answer(record.status, bytes(record.body), replayed=True))
