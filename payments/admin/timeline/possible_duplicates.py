"""Payments that are likely the same one, made twice: same card, amount and description within minutes."""

from collections.abc import Iterator
from datetime import timedelta

from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.framework.formats import link, money
from payments.ids import first_id
from payments.models import Charge, Source

WITHIN = timedelta(minutes=10)
# Sources of one card that are compared, newest first: test cards have any number.
SOURCES_MAX = 100
SHOWN_MAX = 3
MINUTE_SECONDS = 60
# A charge that failed, was voided or given back whole takes nothing twice.
PAYS = (Charge.Status.PENDING, Charge.Status.SUCCEEDED)


def possible_duplicates_of(charge: Charge) -> Iterator[SafeString]:
    """Yield a sentence for each possible duplicate, the nearest first, while both have the payer's money."""
    card = getattr(charge.source, "card", None)
    if card is None or charge.status not in PAYS:
        return
    low, high = first_id(charge.created_at - WITHIN), first_id(charge.created_at + WITHIN)
    sources = Source.objects.filter(merchant=charge.merchant_id, livemode=charge.livemode, pk__lte=high)
    same_card = sources.filter(card__fingerprint=card.fingerprint).order_by("-pk").values("pk")[:SOURCES_MAX]
    equal = {"amount": charge.amount, "currency": charge.currency, "description": charge.description}
    found = Charge.objects.filter(source__in=same_card, status__in=PAYS, **equal)
    earlier = found.filter(pk__gte=low, pk__lt=charge.pk).order_by("-pk")[:SHOWN_MAX]
    later = found.filter(pk__gt=charge.pk, pk__lte=high).order_by("pk")[:SHOWN_MAX]
    nearest = sorted([*earlier, *later], key=lambda other: abs(other.created_at - charge.created_at))
    yield from (_sentence(charge, other) for other in nearest[:SHOWN_MAX])


def _sentence(charge: Charge, other: Charge) -> SafeString:
    seconds = round((other.created_at - charge.created_at).total_seconds())
    apart = f"{abs(seconds)} s" if abs(seconds) < MINUTE_SECONDS else f"{abs(seconds) // MINUTE_SECONDS} min"
    return format_html(
        "Charged twice? The same card paid {} for the same thing {} {}: {}.",
        money(other.amount, other.currency),
        apart,
        "later" if other.created_at > charge.created_at else "earlier",
        link(Charge, other.pk, other),
    )
