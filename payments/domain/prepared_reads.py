"""Prepared reads: the queries of every request, compiled once (`payments/db/compiled_query.py`).

The ORM took a third of a charge's processor time to compile that of its source alone.
"""

from datetime import datetime
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Prefetch, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import JSONObject, Lower

from payments.db.compiled_query import CompiledQuery
from payments.domain.risk import blocks
from payments.models import ApiKey, Attempt, Block, Card, Charge, Checkout, Source, WebhookEndpoint
from payments.webhooks.outbox import Endpoint


@CompiledQuery
def key(*, digest: bytes) -> QuerySet[ApiKey]:
    """Select an API key with its merchant, and as `endpoint_list` what gets the merchant's events in its mode."""
    own = WebhookEndpoint.objects.filter(merchant=OuterRef("merchant"), livemode=OuterRef("livemode"))
    shown = JSONObject(**{name: F(name) for name in Endpoint._fields})
    found = ArraySubquery(own.written_for().order_by("id").values(shown=shown))
    return ApiKey.objects.select_related("merchant").annotate(endpoint_list=found).filter(digest=digest)


@CompiledQuery
def source(*, merchant_id: UUID, livemode: bool, source_id: UUID) -> QuerySet[Source]:
    """Select a source with its card."""
    return Source.objects.of(merchant_id, livemode).select_related("card").filter(id=source_id)


@CompiledQuery
def source_to_charge(
    *, merchant_id: UUID, livemode: bool, source_id: UUID, address: str, now: datetime
) -> QuerySet[Source]:
    """Select a source with its card, and as `block_id` the block in force on a charge of it, if there is one.

    Its `refused_until` is the last moment until which the issuer refuses this card, as any source of the merchant.
    """
    rows = source.build(merchant_id=merchant_id, livemode=livemode, source_id=source_id)
    # The source is bound to merchant and mode as well, as each table of a statement.
    in_mode = {"merchant_id": merchant_id, "source__merchant_id": merchant_id, "source__livemode": livemode}
    same = Card.objects.filter(fingerprint=OuterRef("card__fingerprint"), refused_until__gt=now, **in_mode)
    refused = same.order_by("-refused_until").values("refused_until")[:1]
    block = blocks.block_of_source(merchant_id, livemode, address, now)
    return rows.annotate(block_id=block, refused_until=Subquery(refused))


@CompiledQuery
def block_of_payer(
    *,
    merchant_id: UUID,
    livemode: bool,
    fingerprint: bytes,
    bin_digits: str,
    billing: str,
    shipping: str,
    address: str,
    now: datetime,
) -> QuerySet[Block]:
    """Select the block in force on a charge of a source that is not stored yet, if there is one.

    `billing` and `shipping` are the e-mail addresses of its owner; "" and b"" stand for what it does not have.
    """
    rows = Block.objects.bearing_on(merchant_id, livemode, now)
    emails: list[Combinable] = [Lower(Value(email)) for email in (billing, shipping)]
    return blocks.bearing_on_payer(rows, fingerprint, bin_digits, emails, address)[:1]


@CompiledQuery
def charge_of_attempt(*, merchant_id: UUID, attempt_id: UUID, charge_id: UUID) -> QuerySet[Charge]:
    """Select a charge with all its parts, and as `attempt_list` one attempt at it, in one snapshot."""
    attempt = Prefetch("attempts", Attempt.objects.filter(id=attempt_id), to_attr="attempt_list")
    return Charge.objects.whole().prefetch_related(attempt).filter(id=charge_id, merchant_id=merchant_id)


@CompiledQuery
def checkout(*, checkout_id: UUID) -> QuerySet[Checkout]:
    """Select a checkout with its merchant and what a request has of its own, for its page: without its charges."""
    return Checkout.objects.select_related("merchant", "request").filter(id=checkout_id)


@CompiledQuery
def checkout_of_charge(*, merchant_id: UUID, checkout_id: UUID) -> QuerySet[Checkout]:
    """Select the checkout that a charge pays, as `checkout` does."""
    return checkout.build(checkout_id=checkout_id).filter(merchant_id=merchant_id)


@CompiledQuery
def charges_of_checkout(*, merchant_id: UUID, checkout_id: UUID) -> QuerySet[Charge]:
    """Select the charges of a checkout that have not failed, with all their parts."""
    rows = Charge.objects.whole().filter(merchant_id=merchant_id, checkout_id=checkout_id)
    return rows.exclude(status=Charge.Status.FAILED)


@CompiledQuery
def authorization_by_route(*, merchant_id: UUID, charge_id: UUID, route_id: UUID | None) -> QuerySet[Attempt]:
    """Select a charge's authorizing attempt by one route, or by none."""
    rows = Attempt.objects.filter(merchant_id=merchant_id, charge_id=charge_id)
    return rows.filter(kind=Attempt.Kind.AUTHORIZE, route=route_id)


@CompiledQuery
def authorizing_attempt(*, merchant_id: UUID, charge_id: UUID) -> QuerySet[Attempt]:
    """Select a charge's authorizing attempt that was not passed on, with its account and route."""
    rows = Attempt.objects.select_related("account", "route").filter(merchant_id=merchant_id)
    return rows.filter(charge_id=charge_id, kind=Attempt.Kind.AUTHORIZE, passed_on=False)
