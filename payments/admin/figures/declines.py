"""Why charges were declined: by reason, and whether one day with an alert explains most of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.figures.charts import Mark
from payments.admin.shown_times import moment_text
from payments.models import DeclineAlert
from payments.models.merchants.merchant_access import Limit, within
from payments.overview.trade import Outcome, Share, Trade
from payments.providers.failure_data import NOT_REACHED

# More marks than these would cover each other; the list has all alerts.
MARKS_COUNT = 20
REASONS_COUNT = 6
REASONS = {
    "card_declined": _("The bank declined, no reason given"),
    "insufficient_funds": _("Not enough money on the account"),
    "lost_card": _("Card reported lost"),
    "stolen_card": _("Card reported stolen"),
    "expired_card": _("Card expired"),
    "incorrect_cvc": _("Wrong security code"),
    "processing_error": _("Could not be processed"),
    "authentication_required": _("3-D Secure needed"),
    "authentication_failed": _("3-D Secure not passed"),
    NOT_REACHED: _("Provider could not be reached"),
    "action_expired": _("The payer left without paying"),
    "payer_cancelled": _("The payer cancelled"),
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why charges were declined, how many, and their share of all declines."""

    label: str
    count: str
    share: str


@dataclass(frozen=True, slots=True)
class Explained:
    """Where most declines come from, in words, and the address of the alert about them."""

    text: str
    address: str


def reasons_of(trade: Trade) -> Sequence[Reason]:
    """Return the most frequent reasons, and all others as one."""
    found = [(reason_text(code), count) for code, count in trade.reasons]
    if others := sum(count for _, count in found[REASONS_COUNT:]):
        found = [*found[:REASONS_COUNT], (gettext("Other reasons"), others)]
    declined = trade.total.counts[Outcome.DECLINED]
    return [Reason(label, f"{count:,}", f"{count / declined:.1%}") for label, count in found]


def reason_text(code: str) -> str:
    """Return why a charge failed, in words."""
    return str(REASONS.get(code) or capfirst(code.replace("_", " ")) or gettext("No reason given"))


def alerts_of(livemode: bool, begin: datetime, end: datetime, limit: Limit = None) -> Sequence[DeclineAlert]:
    """Return the newest alerts of the merchants in `limit` from `begin` until `end`, the oldest of them first."""
    raised = DeclineAlert.objects.filter(
        within(limit, "merchant"), livemode=livemode, created_at__gte=begin, created_at__lt=end
    )
    return list(reversed(raised.select_related("merchant").order_by("-created_at")[:MARKS_COUNT]))


def mark_of(alert: DeclineAlert, begin: datetime, end: datetime) -> Mark:
    """Return the mark of `alert` on a chart from `begin` to `end`."""
    share = (alert.created_at - begin) / (end - begin)
    return Mark(round(share * 100, 3), f"{moment_text(alert.created_at)}: {_what(alert)}", _address(alert))


def explained(trade: Trade, alerts: Sequence[DeclineAlert]) -> Explained | None:
    """Return that one of several days has most declines, if there was an alert on it."""
    declines = {day: share.counts[Outcome.DECLINED] for day, share in trade.by_day.items()}
    day = max(declines, key=declines.__getitem__)
    alert = next((each for each in alerts if each.created_at.astimezone(UTC).date() == day), None)
    rate = Share().add_all(share for each, share in trade.by_day.items() if each != day).approval_rate
    if not alert or rate is None or 2 * declines[day] <= sum(declines.values()):
        return None
    text = f"{declines[day]:,} of them on {day:%-d %B}, the day of an alert: {_what(alert)}."
    return Explained(f"{text} Without that day the approval rate is {rate:.1%}.", _address(alert))


def _what(alert: DeclineAlert) -> str:
    return f"{alert.quota} declines {alert.get_kind_display()}, at {alert.merchant.title}"


def _address(alert: DeclineAlert) -> str:
    return reverse("admin:payments_declinealert_change", args=[alert.pk])
