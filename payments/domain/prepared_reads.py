"""What requests read each time, one query each, compiled once (`payments/db/compiled_query.py`).

The ORM took a third of a charge's processor time to compile that of its source alone.
"""

from datetime import datetime
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from payments.db.compiled_query import Frozen
from payments.domain.risk import blocks
from payments.models import ApiKey, Attempt, Charge, IdempotencyRecord, Source


@Frozen
def key(*, digest: bytes) -> QuerySet[ApiKey]:
    """An API key, its merchant at hand."""
    return ApiKey.objects.select_related("merchant").filter(digest=digest)


@Frozen
def idempotency_record(*, merchant_id: UUID, livemode: bool, key: str) -> QuerySet[IdempotencyRecord]:
    """What is on record of an idempotency key."""
    return IdempotencyRecord.objects.filter(merchant_id=merchant_id, livemode=livemode, key=key)


@Frozen
def source(*, merchant_id: UUID, livemode: bool, source_id: UUID) -> QuerySet[Source]:
    """A source, its card at hand."""
    return Source.objects.of(merchant_id, livemode).select_related("card").filter(id=source_id)


@Frozen
def source_to_charge(*, merchant_id: UUID, livemode: bool, source_id: UUID, now: datetime) -> QuerySet[Source]:
    """A source, its card at hand, and as `block_id` the block that is in force on it, if there is one."""
    rows = source.build(merchant_id=merchant_id, livemode=livemode, source_id=source_id)
    return rows.annotate(block_id=blocks.bearing_on_source(merchant_id, livemode, now))


@Frozen
def charge(*, merchant_id: UUID, livemode: bool, charge_id: UUID) -> QuerySet[Charge]:
    """A charge, whole."""
    return Charge.objects.of(merchant_id, livemode).whole().filter(id=charge_id)


@Frozen
def charge_of_attempt(*, attempt_id: UUID, charge_id: UUID) -> QuerySet[Charge]:
    """A charge, whole, and as its `attempt_list` one attempt at it: both as they stood at one moment."""
    attempt = Prefetch("attempts", Attempt.objects.filter(id=attempt_id), to_attr="attempt_list")
    return Charge.objects.whole().prefetch_related(attempt).filter(id=charge_id)


@Frozen
def authorization_by_route(*, charge_id: UUID, route_id: UUID | None) -> QuerySet[Attempt]:
    """Return the authorizing attempt of a charge by one route, or by none."""
    return Attempt.objects.filter(charge_id=charge_id, kind=Attempt.Kind.AUTHORIZE, route=route_id)


@Frozen
def authorizing_attempt(*, charge_id: UUID) -> QuerySet[Attempt]:
    """The attempt that asked for a charge's money and was not passed on, its account and route at hand."""
    rows = Attempt.objects.select_related("account", "route")
    return rows.filter(charge_id=charge_id, kind=Attempt.Kind.AUTHORIZE, passed_on=False)
