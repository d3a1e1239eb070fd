"""The stock of a payment link, and how the payments of the link change it in their own statements."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from payments import clock
from payments.db.writes import Update, Write
from payments.domain.catalogue.event_types import LINK_UPDATED
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.models import Checkout, PaymentLink

State = Checkout.State
UNDER_WAY = (State.UNPAID, State.PAYING)
MUTABLE = ("internal_name", "active", "order", "stock", "remaining", "edition", "payments", "is_full", "ends_at")


def change(caller: Caller, link: PaymentLink, values: Mapping[str, Any], *, is_under_way: bool) -> list[Write]:
    """Return the writes by which a link gets `values`, with the event that shows it; none where nothing changes.

    It ends where it is over, which it is not for want of stock while a payment `is_under_way`. The writes match its row
    as long as it is as it was read; in memory it changes at once.
    """
    before = {name: getattr(link, name) for name in MUTABLE}
    unchanged = {"id": link.id, "merchant_id": link.merchant_id, "version": link.version}
    vars(link).update(values)
    link.is_full = link.is_sold_out or link.is_at_maximum
    link.active = link.active and not is_over(link, is_under_way=is_under_way)
    after = {name: getattr(link, name) for name in MUTABLE}
    if after == before:
        return []
    link.version, link.updated_at = link.version + 1, clock.now()
    written = after | {"version": link.version, "updated_at": link.updated_at}
    return [Update(PaymentLink, unchanged, written), *events.of(caller, LINK_UPDATED, link)]


def is_over(link: PaymentLink, *, is_under_way: bool) -> bool:
    """Return whether a link can never be paid again as it is: past its day, or sold out or at its maximum for good."""
    return link.is_past or (link.is_full and not is_under_way)


def is_under_way(link: PaymentLink, except_of: Checkout | None = None) -> bool:
    """Return whether a payment of a link, other than `except_of`, may still be paid."""
    rows = Checkout.objects.filter(merchant_id=link.merchant_id, link_id=link.id, state__in=UNDER_WAY)
    return (rows.exclude(id=except_of.id) if except_of else rows).exists()


def with_under_way(links: QuerySet[PaymentLink]) -> QuerySet[PaymentLink]:
    """Return links with how many of their payments are `under_way` and not paid."""
    own = {"merchant_id": OuterRef("merchant_id"), "link_id": OuterRef("id")}
    rows = Checkout.objects.filter(**own, state__in=UNDER_WAY).order_by()
    counted = rows.values("link_id").annotate(count=Count("id")).values("count")
    return links.annotate(under_way=Coalesce(Subquery(counted), 0))


def taken(link: PaymentLink, quantities: list[int]) -> dict[str, Any]:
    """Return what a link has left after a payment has taken `quantities`."""
    left = [left - count for left, count in zip(link.remaining, quantities, strict=True)]
    return {"remaining": left, "payments": link.payments + 1}


def ended(caller: Caller, checkout: Checkout, state: State) -> list[Write]:
    """Return the writes on the link whose payment enters `state`: what it had taken is given back if it was not paid.

    Of two that end the link together, each sees the other under way; `links.close_due` closes it then.
    """
    if checkout.link_id is None or state not in (State.PAID, State.EXPIRED):
        return []
    rows = PaymentLink.objects.whole().filter(merchant_id=checkout.merchant_id)
    link = rows.get(id=checkout.link_id)
    values = given_back(link, checkout) if state == State.EXPIRED else {}
    return change(caller, link, values, is_under_way=is_under_way(link, except_of=checkout))


def given_back(link: PaymentLink, checkout: Checkout) -> dict[str, Any]:
    """Return what a link has left after one of its payments has ended unpaid."""
    values: dict[str, Any] = {"payments": link.payments - 1}
    if checkout.edition == link.edition:
        counts = checkout.quantities or []
        values["remaining"] = [left + count for left, count in zip(link.remaining, counts, strict=True)]
    return values
