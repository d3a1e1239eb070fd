"""Same key, same request: the same answer again, byte for byte (contract, section 5)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError

from payments import clock
from payments.db.writes import Insert, Update, Write, insert_if_absent, write_alone
from payments.domain import prepared_reads
from payments.domain.caller import Caller
from payments.domain.errors import ErrorKind, PaymentError
from payments.ids import first_id
from payments.models import IdempotencyRecord, StaffAct

PURGE_BATCH = 5000
Shown = TypeVar("Shown")
# How often a key is claimed that was taken and given back again meanwhile.
CLAIM_TRIES = 5


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a request is answered, as the API made it and as it is sent again; nothing here reads it."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Result(Generic[Shown]):
    """How a verb ended: its object as it is now, the stored answer that shows it, and the refusal if there is one."""

    row: Shown
    answer: StoredAnswer
    refusal: PaymentError | None = None


class Replay(Exception):
    """This request was answered before."""

    def __init__(self, answer: StoredAnswer) -> None:
        super().__init__()
        self.answer = answer


def look_up(caller: Caller) -> None:
    """Raises Replay when the caller's key has its answer, PaymentError when it is in use or was used otherwise."""
    if caller.idempotency is None:
        return
    record = prepared_reads.idempotency_record.first(**_identity(caller))
    if record is None:
        return
    if bytes(record.fingerprint) != caller.idempotency.fingerprint:
        message = "This idempotency key was used for another request."
        raise PaymentError(ErrorKind.KEY_CONFLICT, "idempotency_key_reused", message)
    if record.status is None or record.body is None:
        message = "The first request with this idempotency key is still running."
        raise PaymentError(ErrorKind.KEY_CONFLICT, "idempotency_key_in_use", message, retry_after_seconds=1)
    raise Replay(StoredAnswer(record.status, bytes(record.body)))


def claim(caller: Caller) -> IdempotencyRecord | None:
    """Takes the caller's key in the caller's transaction; None when the request has none.

    Raises as `look_up` does when somebody else took it.
    """
    record = new_record(caller)
    while record and not insert_if_absent(record):
        look_up(caller)
    return record


def answered(record_id: UUID, answer: StoredAnswer) -> Update:
    """The write that stores the answer of a claimed key."""
    unanswered = {"id": record_id, "status": None}
    return Update(IdempotencyRecord, unanswered, {"status": answer.status, "body": answer.body})


def write_once(caller: Caller, record: IdempotencyRecord | None, *writes: Write) -> None:
    """Does `writes` and takes the caller's key by `record`, None for a request without one, in one statement.

    The key is taken first, so that whoever has it is told before anything else can be in the way. Raises Replay and
    PaymentError as `look_up` does where it is taken, and as `write_together` does.
    """
    claim = [Insert(record)] if record else []
    for tries_left in reversed(range(CLAIM_TRIES)):
        try:
            write_alone(*claim, *writes)
        except IntegrityError:
            # Refuses nobody where whoever had the key gave it back, or where something else forbids the writes.
            look_up(caller)
            if not (record and tries_left):
                raise
        else:
            return


def keep_refusal(caller: Caller, answer: StoredAnswer) -> None:
    """Stores the answer of a request that was refused after it was looked at, so that it is refused alike again.

    Raises as `look_up` does when a racing request with the same key was first.
    """
    record = new_record(caller, answer)
    if record and not insert_if_absent(record):
        look_up(caller)


def purge(batch: int = PURGE_BATCH) -> int:
    """Deletes answers older than IDEMPOTENCY_KEEP_DAYS, `batch` rows at a time; returns how many.

    Those of acts stay until these have heard them, for by them they know that they were done.
    """
    unheard = [act.idempotency_key for act in StaffAct.objects.approved()]
    # By the IDs, which are as old as the rows, so that no write pays for an index of their age.
    before = first_id(clock.now() - timedelta(days=settings.IDEMPOTENCY_KEEP_DAYS))
    rows = IdempotencyRecord.objects.filter(id__lt=before, status__isnull=False).exclude(key__in=unheard)
    old = rows.order_by("id").values_list("id", flat=True)[:batch]
    total = 0
    while count := IdempotencyRecord.objects.filter(id__in=list(old.all())).delete()[0]:
        total += count
    return total


def new_record(caller: Caller, answer: StoredAnswer | None = None) -> IdempotencyRecord | None:
    """The unsaved record of the caller's key; None when the request has none."""
    if caller.idempotency is None:
        return None
    return IdempotencyRecord(
        **_identity(caller),
        fingerprint=caller.idempotency.fingerprint,
        status=answer.status if answer else None,
        body=answer.body if answer else None,
    )


def _identity(caller: Caller) -> dict[str, Any]:
    assert caller.idempotency is not None  # nosec B101 # for the type checker: who comes here has a key
    return {"merchant_id": caller.merchant_id, "livemode": caller.livemode, "key": caller.idempotency.key}
