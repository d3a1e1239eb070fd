"""The panels beside the timeline: the source, the card and their other charges. Other apps add theirs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from payments.admin.framework.formats import NOTHING, chips, lines, link, money, source_label
from payments.admin.framework.merchant_access import limit_of
from payments.admin.moments import moment_cell
from payments.admin.timeline.moment import Facts
from payments.ids import public_id
from payments.models import Card, Charge, Source
from payments.models.merchants.merchant_access import within

SHOWN_CHARGES = 10
# A bound, because test cards have many.
MOST_SOURCES = 1_000


@dataclass(frozen=True)
class Panel:
    """A panel with facts and some charges; `has_more` says whether there are others."""

    title: str
    facts: Facts
    charges: Sequence[tuple[object, ...]] = ()
    has_more: bool = False


# Makes a panel for a charge, or None; the query set has the charges that this operator may see.
PanelMaker = Callable[[HttpRequest, Charge, QuerySet[Any]], Panel | None]
_panel_makers: list[PanelMaker] = []


def timeline_panel(maker: PanelMaker) -> PanelMaker:
    """Register `maker` for the page of each charge, and return it."""
    _panel_makers.append(maker)
    return maker


def panels_of(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> list[Panel]:
    """Return the panels beside the timeline of `charge`."""
    others = charges.exclude(pk=charge.pk)
    return [panel for maker in _panel_makers if (panel := maker(request, charge, others))]


def panel_with(title: str, facts: Facts, charges: QuerySet[Any]) -> Panel:
    """Return a panel with the newest of `charges`."""
    found = list(charges.order_by("-pk")[: SHOWN_CHARGES + 1])
    return Panel(title, facts, list(map(_cells, found[:SHOWN_CHARGES])), len(found) > SHOWN_CHARGES)


@timeline_panel
def source_panel(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> Panel:
    """Return the panel of the charge's source, with its other charges."""
    source, card = charge.source, getattr(charge.source, "card", None)
    facts: list[tuple[str, object]] = [("Source", link(Source, source.pk, source)), ("Type", source_label(source))]
    if card:
        facts += [("Card", link(Card, card.pk, card)), ("Expires", f"{card.exp_month:0>2}/{card.exp_year}")]
        facts += [("Name", card.name), ("Issued by", lines((card.issuing_bank, f"{card.funding}, {card.country}")))]
    facts.append(("Kept", "for a customer" if source.vaulted else NOTHING))
    return panel_with("Paid with", facts, charges.filter(source=source))


@timeline_panel
def card_panel(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> Panel | None:
    """Return the panel of charges on the same card number through other sources; None without any."""
    card = getattr(charge.source, "card", None)
    if card is None:
        return None
    address = f"{reverse('admin:payments_charge_changelist')}?card={public_id('card', card.pk)}"
    facts = [("All", format_html('<a href="{}">every charge on {}</a>', address, card))]
    theirs = Source.objects.filter(within(limit_of(request), "merchant"), livemode=card.source.livemode)
    same = theirs.filter(card__fingerprint=card.fingerprint).exclude(pk=card.source_id)
    newest = same.order_by("-pk").values("pk")[:MOST_SOURCES]
    panel = panel_with("The same card, from other sources", facts, charges.filter(source__in=newest))
    return panel if panel.charges else None


def _cells(charge: Charge) -> tuple[object, ...]:
    amount = money(charge.amount, charge.currency)
    return link(Charge, charge.pk, charge), moment_cell(charge.created_at), amount, chips(charge)
