"""Same key, same request: the same answer again, byte for byte (contract, section 5)."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet

from payments import clock
from payments.db.compiled_query import CompiledQuery
from payments.db.writes import Insert, Update, Write, execute_writes_in_savepoint, insert_if_absent
from payments.domain.catalogue.error_table import IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED, KEY_CONFLICT
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError, refused
from payments.ids import new_id, parse_id, public_id
from payments.models import IdempotencyRecord

Shown = TypeVar("Shown")
# How often a key is claimed that another request took and released meanwhile.
CLAIM_TRIES = 5


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer to a request, as the API made it and as it is sent again."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Result(Generic[Shown]):
    """How a verb ended: its object as it is now, the stored answer that shows it, and the refusal if there is one."""

    row: Shown
    answer: StoredAnswer
    refusal: PaymentError | None = None


class Replay(Exception):
    """This request was answered before; `answer` is sent again."""

    def __init__(self, answer: StoredAnswer) -> None:
        super().__init__()
        self.answer = answer


@CompiledQuery
def idempotency_record(*, merchant_id: UUID, livemode: bool, key: str) -> QuerySet[IdempotencyRecord]:
    """Select the record of an idempotency key."""
    return IdempotencyRecord.objects.filter(merchant_id=merchant_id, livemode=livemode, key=key)


def look_up(caller: Caller) -> None:
    """Raise Replay when the caller's key has its answer, PaymentError when it is in use or of another request."""
    if caller.request.idempotency is None:
        return
    record = idempotency_record.first(**_identity(caller))
    if record is None:
        return
    if bytes(record.fingerprint) != caller.request.idempotency.fingerprint:
        first, at = public_id("req", record.id), clock.iso(record.created_at)
        raise refused(KEY_CONFLICT, IDEMPOTENCY_KEY_REUSED, values={"first": first, "at": at})
    if record.status is None or record.body is None:
        raise refused(KEY_CONFLICT, IDEMPOTENCY_KEY_IN_USE, retry_after_seconds=1)
    raise Replay(StoredAnswer(record.status, bytes(record.body)))


def claim(caller: Caller) -> IdempotencyRecord | None:
    """Claim the caller's key in the current transaction; return its record, or None when the request has no key.

    Raise as `look_up` does when another request has claimed it.
    """
    record = new_record(caller)
    while record and not insert_if_absent(record):
        look_up(caller)
    return record


def answered(record_id: UUID, merchant_id: UUID, answer: StoredAnswer) -> Update:
    """Return the write that stores the answer of a merchant's claimed key."""
    unanswered = {"id": record_id, "merchant_id": merchant_id, "status": None}
    return Update(IdempotencyRecord, unanswered, {"status": answer.status, "body": answer.body})


def write_once(caller: Caller, record: IdempotencyRecord | None, *writes: Write) -> None:
    """Execute `writes` and claim the caller's key by `record`, None for a request without one, in one statement.

    The key is claimed first, so that a conflict on it is found before any other. Raise Replay and PaymentError as
    `look_up` does where it is claimed, and as `execute_writes` does.
    """
    claim = [Insert(record)] if record else []
    for tries_left in reversed(range(CLAIM_TRIES)):
        try:
            execute_writes_in_savepoint(*claim, *writes)
        except IntegrityError:
            # This raises nothing where the key was released again, or where another constraint forbids the writes.
            look_up(caller)
            if not (record and tries_left):
                raise
        else:
            return


def store_answer(caller: Caller, answer: StoredAnswer) -> None:
    """Store the answer of a request that wrote nothing, such as a refused one, so that it is answered so again.

    Raise as `look_up` does when a racing request with the same key was first.
    """
    record = new_record(caller, answer)
    if record and not insert_if_absent(record):
        look_up(caller)


def new_record(caller: Caller, answer: StoredAnswer | None = None) -> IdempotencyRecord | None:
    """Return the unsaved record of the caller's key; None when the request has none."""
    if caller.request.idempotency is None:
        return None
    # The ID of a request is that of its client's key.
    request_id = None if caller.request.idempotency.is_own else parse_id("req", caller.request.id)
    return IdempotencyRecord(
        id=request_id or new_id(),
        **_identity(caller),
        fingerprint=caller.request.idempotency.fingerprint,
        status=answer.status if answer else None,
        body=answer.body if answer else None,
    )


def _identity(caller: Caller) -> dict[str, Any]:
    assert caller.request.idempotency is not None  # nosec B101 # for the type checker: callers have a key here
    return {"merchant_id": caller.merchant_id, "livemode": caller.livemode, "key": caller.request.idempotency.key}
