"""The cards with rows of a charge: its refunds and disputes, and the payer's other charges. Other apps add theirs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import chip, chips, link, money
from payments.admin.framework.merchant_access import limit_of
from payments.admin.operators.words import refund_reason
from payments.admin.shown_times import moment_brief, moment_text
from payments.admin.timeline.records import Records
from payments.domain.charging.verbs import REFUND
from payments.ids import public_id
from payments.models import Charge, Dispute, Refund, Source
from payments.models.merchants.merchant_access import within

SHOWN_CHARGES = 5
# A bound, because test cards have many.
MOST_SOURCES = 1_000
# An operator, to a merchant's people.
SERVICE = _("the service")
REFUND_CHIPS: dict[str, tuple[Any, str]] = {
    Refund.Status.PENDING: (_("on its way"), "warn"),
    Refund.Status.SUCCEEDED: (_("sent"), "good"),
    Refund.Status.FAILED: (_("failed"), "bad"),
}
ARRIVES: dict[str, Any] = {
    Refund.Status.PENDING: _("The provider has not confirmed it yet"),
    Refund.Status.SUCCEEDED: _("Sent {}; the payer's bank may need some days to show it"),
    Refund.Status.FAILED: _("Failed {}; the merchant has the money again"),
}


class Row(NamedTuple):
    """A row of a card: its link, what is known of it, its state and its amount."""

    shown: object
    below: object
    state: object
    amount: str


@dataclass(frozen=True)
class Panel:
    """A card with rows; the `note` stands beside its title."""

    title: str
    rows: Sequence[Row]
    note: object = ""


# Makes a panel for a charge, or None; the query set has the charges that this operator may see.
PanelMaker = Callable[[HttpRequest, Charge, QuerySet[Any]], Panel | None]
_panel_makers: list[PanelMaker] = []


def timeline_panel(maker: PanelMaker) -> PanelMaker:
    """Register `maker` for the page of each charge, and return it."""
    _panel_makers.append(maker)
    return maker


def panels_of(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> list[Panel]:
    """Return the panels with the other charges of the payer of `charge`."""
    others = charges.exclude(pk=charge.pk)
    found = (maker(request, charge, others) for maker in _panel_makers)
    return [panel for panel in found if panel and panel.rows]


def panel_with(title: str, charges: QuerySet[Any], note: object = "") -> Panel:
    """Return a panel with the newest of `charges`."""
    found = list(charges.order_by("-pk")[: SHOWN_CHARGES + 1])
    note = note or (gettext("the newest of them") if len(found) > SHOWN_CHARGES else "")
    return Panel(title, list(map(_row, found[:SHOWN_CHARGES])), note)


def back_and_disputed(records: Records) -> Iterator[Panel]:
    """Yield the refunds of a charge, with what is left to refund, and its disputes."""
    left = REFUND.most(records.charge)
    note = gettext("{amount} can still be refunded").format(amount=money(left, records.charge.currency)) if left else ""
    if records.refunds:
        yield Panel(
            gettext("Refunds"), [_refund(refund, _made_by(refund, records)) for refund in records.refunds[::-1]], note
        )
    if records.disputes:
        yield Panel(gettext("Disputes"), list(map(_dispute, records.disputes[::-1])))


def _made_by(refund: Refund, records: Records) -> str:
    """Return who made a refund: somebody on a page, or the merchant by its API key."""
    people = records.proposers
    operators = {act.attempt_id: str(people.get(act.proposed_by_id, SERVICE)) for act in records.operator_actions}
    of_refund = [attempt for attempt in records.attempts if attempt.refund_id == refund.pk]
    by_operators = (operators[attempt.pk] for attempt in of_refund if attempt.pk in operators)
    by_merchant = (str(records.charge.merchant) for attempt in of_refund if attempt.api_key_id)
    return next(by_operators, None) or next(by_merchant, "")


def _refund(refund: Refund, maker: str) -> Row:
    arrives = format_html(ARRIVES[refund.status], moment_brief(refund.updated_at))
    made = gettext("Made by {maker} {time}") if maker else gettext("Made {time}")
    below = format_html("{}. {}", arrives, format_html(made, maker=maker, time=moment_brief(refund.created_at)))
    shown = link(Refund, refund.pk, refund_reason(refund.reason))
    return Row(shown, below, chip(*REFUND_CHIPS[refund.status]), money(refund.amount, refund.currency))


def _dispute(dispute: Dispute) -> Row:
    due = gettext("Answer by {time}").format(time=moment_text(dispute.evidence_due_at))
    shown = link(
        Dispute,
        dispute.pk,
        capfirst(gettext(dispute.reason.replace("_", " "))) or gettext("Without a reason"),
    )
    state = chip(dispute.get_status_display(), "warn" if dispute.status in Dispute.OPEN else "quiet")
    below = gettext("Since {time}").format(time=moment_text(dispute.created_at))
    if dispute.status in Dispute.OPEN and dispute.evidence_due_at:
        below = f"{below}. {due}"
    return Row(shown, below, state, money(dispute.amount, dispute.currency))


@timeline_panel
def source_panel(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> Panel:
    """Return the panel of other charges on the same source."""
    return panel_with(gettext("Other charges on this source"), charges.filter(source=charge.source_id))


@timeline_panel
def card_panel(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> Panel | None:
    """Return the panel of charges on the same card number through other sources."""
    card = getattr(charge.source, "card", None)
    if card is None:
        return None
    address = f"{reverse('admin:payments_charge_changelist')}?card={public_id('card', card.pk)}"
    theirs = Source.objects.filter(within(limit_of(request), "merchant"), livemode=charge.livemode)
    same = theirs.filter(card__fingerprint=card.fingerprint).exclude(pk=card.source_id)
    newest = same.order_by("-pk").values("pk")[:MOST_SOURCES]
    note = format_html('<a href="{}">{}</a>', address, gettext("every charge on {card}").format(card=card))
    return panel_with(gettext("The same card, from other sources"), charges.filter(source__in=newest), note)


def _row(charge: Charge) -> Row:
    shown = link(Charge, charge.pk, charge.description or money(charge.amount, charge.currency))
    return Row(shown, moment_brief(charge.created_at), chips(charge), money(charge.amount, charge.currency))
