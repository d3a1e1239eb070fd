"""Payments that are likely one, made twice."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from payments.ids import first_id
from payments.models import Charge, Source

# Two payments are likely the same one, made twice, if card, amount and description are within this time.
WITHIN = timedelta(minutes=10)
# Sources of one card that are compared, newest first: test cards have any number.
SOURCES_MAX = 100
DUPLICATES_MAX = 3
# A charge that failed, was voided or given back whole takes nothing twice.
PAYS = (Charge.Status.PENDING, Charge.Status.SUCCEEDED)


def same_card(charge: Charge, **conditions: Any) -> QuerySet[Any] | None:
    """Return the IDs of the merchant's newest sources of the card of `charge`; None where it has none."""
    card = getattr(charge.source, "card", None)
    if card is None:
        return None
    sources = Source.objects.filter(merchant=charge.merchant_id, livemode=charge.livemode, **conditions)
    return sources.filter(card__fingerprint=card.fingerprint).order_by("-pk").values("pk")[:SOURCES_MAX]


def duplicates_of(charge: Charge) -> list[Charge]:
    """Return the likely duplicates of a charge by card, the nearest first, while both have the payer's money."""
    low, high = first_id(charge.created_at - WITHIN), first_id(charge.created_at + WITHIN)
    sources = same_card(charge, pk__lte=high)
    if sources is None or charge.status not in PAYS:
        return []
    equal = {"amount": charge.amount, "currency": charge.currency, "description": charge.description}
    found = Charge.objects.filter(source__in=sources, status__in=PAYS, **equal)
    earlier = found.filter(pk__gte=low, pk__lt=charge.pk).order_by("-pk")[:DUPLICATES_MAX]
    later = found.filter(pk__gt=charge.pk, pk__lte=high).order_by("pk")[:DUPLICATES_MAX]
    nearest = sorted([*earlier, *later], key=lambda other: abs(other.created_at - charge.created_at))
    return nearest[:DUPLICATES_MAX]
