"""The section *Payments* of the admin's first page: what was charged in a period, and how it ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any
from urllib.parse import urlencode

from django import template
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateformat import format as in_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.figures.breakdowns import (
    DIMENSIONS,
    MAY_LOOK,
    Breakdown,
    by_dimension,
    by_sessions,
    by_time,
    by_tries,
)
from payments.admin.figures.charts import OUTCOMES, STACKED, Axis, chart_of, ended
from payments.admin.figures.comparisons import OF_AMOUNT, OF_COUNT, compared, compared_rates
from payments.admin.figures.declines import alerts_of, explained, mark_of, reasons_of
from payments.admin.framework.formats import NOTHING, money
from payments.admin.framework.merchant_access import limit_of
from payments.admin.lists.mode import MODES, mode_of
from payments.admin.shown_times import offset_text
from payments.models.merchants.merchant_access import Limit
from payments.money import DEFAULT_CURRENCY, KNOWN_CURRENCIES
from payments.overview.checkouts import collected_of, sessions_of
from payments.overview.days import DAY, Days
from payments.overview.trade import HOUR, Outcome, Share, Trade, has_charges, shares_by_hour, trades_of

PERIODS = {1: _("Today"), 7: _("7 days"), 30: _("30 days"), 90: _("90 days")}
USUAL_PERIOD = 7
MAY_SEE_ALERTS = "payments.view_declinealert"
MAY_SEE_SESSIONS = "payments.view_checkout"
SESSIONS, COLLECTED = "sessions", "collected"
# Of the tables that may be empty, what is said then.
EMPTY = {SESSIONS: _("No session was opened in this time."), COLLECTED: _("Nothing was collected in this time.")}


def _hour_text(hour: datetime) -> str:
    local = timezone.localtime(hour)
    return f"{in_format(local, 'D H:i')} {offset_text(local)}"


register = template.Library()

BY_DAY = Axis(_("Day"), lambda day: in_format(day, "D j M"), lambda day: in_format(day, "j M"), _("today"))
BY_HOUR = Axis(_("Hour"), _hour_text, lambda hour: f"{timezone.localtime(hour):%H:%M}", _("now"))


@dataclass(frozen=True, slots=True)
class Choice:
    """The selection of the page: a mode, a number of days until today, a currency ("" for the most used one), and what
    the charges are broken down by ("" for the first that they can be).
    """

    mode: str
    period: int
    currency: str = ""
    by: str = ""

    @property
    def livemode(self) -> bool:
        return MODES[self.mode]

    def address(self, **changes: Any) -> str:
        """Return the query of the page with another selection."""
        chosen = {"days": self.period, "currency": self.currency, "by": self.by} | changes
        return "?" + urlencode({name: value for name, value in chosen.items() if value})


@dataclass(frozen=True, slots=True)
class Figure:
    """A sum of the period: its label, the name of its colour, its value, and how it was before."""

    label: Any
    mark: str
    value: str
    against: str


@dataclass(frozen=True, slots=True)
class Selected:
    """What the section is about: the charges of a selection, and those of as many days before, for an operator."""

    request: HttpRequest
    limit: Limit
    choice: Choice
    currency: str
    trade: Trade
    before: Trade

    def may(self, permission: str) -> bool:
        return may(self.request.user, permission)


@register.inclusion_tag("admin/payments/figures.html", takes_context=True)
def figures(context: template.Context) -> dict[str, Any]:
    """Return the section's context for those who may see charges, once there is one; nothing for others."""
    request: HttpRequest = context["request"]
    if not may(request.user, MAY_LOOK):
        return {}
    limit, choice = limit_of(request), _choice(request)
    days = Days.until_today(choice.period)
    trades = trades_of(choice.livemode, days, limit)
    if not trades and not has_charges(choice.livemode, limit):
        return {}
    currency = choice.currency or next(iter(trades), DEFAULT_CURRENCY)
    trade = trades.get(currency) or Trade(days, [])
    before = trades_of(choice.livemode, days.before, limit).get(currency) or Trade(days.before, [])
    selected = Selected(request, limit, choice, currency, trade, before)
    currencies = dict.fromkeys([currency, *trades])
    return {
        "period": _("today") if choice.period == 1 else gettext("last {count} days").format(count=choice.period),
        "periods": [(text, choice.address(days=count), count == choice.period) for count, text in PERIODS.items()],
        "currencies": [(each, choice.address(currency=each), each == currency) for each in currencies],
        "trade": trade,
        "figures": list(_figures(trade.total, before.total, currency)) if trade.lines else [],
        **_by_time(selected),
        **_by(selected),
    }


def may(user: AbstractBaseUser | AnonymousUser, permission: str) -> bool:
    """Return whether `user` has the permission."""
    return isinstance(user, PermissionsMixin) and user.has_perm(permission)


def _choice(request: HttpRequest) -> Choice:
    period, currency, by = (request.GET.get(name, "") for name in ("days", "currency", "by"))
    length = int(period) if period in map(str, PERIODS) else USUAL_PERIOD
    known_by = by if by in DIMENSIONS or by in EMPTY else ""
    return Choice(mode_of(request), length, currency if currency in KNOWN_CURRENCIES else "", known_by)


def _figures(total: Share, before: Share, currency: str) -> Iterator[Figure]:
    yield Figure(_("Volume"), "", money(total.volume, currency), compared(total.volume, before.volume, OF_AMOUNT))
    rate = total.approval_rate
    shown = NOTHING if rate is None else f"{rate:.1%}"
    yield Figure(_("Approval rate"), "rate", shown, compared_rates(rate, before.approval_rate))
    for outcome, meaning in OUTCOMES.items():
        against = compared(total.counts[outcome], before.counts[outcome], OF_COUNT)
        yield Figure(meaning.label, meaning.mark, f"{total.counts[outcome]:,}", against)
    # What is pending now is not to be compared with what is still pending from then.
    if pending := total.counts[Outcome.PENDING]:
        yield Figure(_("Pending"), "warn", f"{pending:,}", "")


def _by_time(selected: Selected) -> dict[str, Any]:
    """Return the chart of the days, or for today of the last 24 hours, in which a burst of declines is seen at once."""
    choice, trade, limit, currency = selected.choice, selected.trade, selected.limit, selected.currency
    shares: Mapping[Any, Share] = trade.by_day
    axis, end = BY_DAY, datetime.combine(trade.days.last + DAY, time(), UTC)
    if choice.period == 1:
        shares, axis = shares_by_hour(choice.livemode, currency, limit), BY_HOUR
        end = clock.now().replace(minute=0, second=0, microsecond=0) + HOUR
    if not any(map(ended, shares.values())):
        return {}
    begin = end - len(shares) * (HOUR if axis is BY_HOUR else DAY)
    alerts = alerts_of(choice.livemode, begin, end, limit) if selected.may(MAY_SEE_ALERTS) else []
    marks = [mark_of(alert, begin, end) for alert in alerts]
    return {
        "chart": chart_of(shares, axis, lambda share: _in_words(share, currency), marks),
        "table": by_time(shares, axis, currency),
        "legend": [OUTCOMES[outcome] for outcome in STACKED],
        "reasons": reasons_of(trade),
        "explained": explained(trade, alerts),
    }


def _in_words(share: Share, currency: str) -> str:
    if not ended(share):
        return gettext("no charges")
    counts = [f"{share.counts[each]:,} {meaning.label.lower()}" for each, meaning in OUTCOMES.items()]
    rate = share.approval_rate
    rates = [] if rate is None else [gettext("{rate} approved").format(rate=f"{rate:.1%}")]
    return ", ".join([money(share.volume, currency), *counts, *rates])


def _by(selected: Selected) -> dict[str, Any]:
    """Return one of the tables that the charges can be broken down into, and the addresses of the others."""
    choice, trade = selected.choice, selected.trade
    # One part alone says nothing new, but for the method.
    offered = {
        name: dimension.label
        for name, dimension in DIMENSIONS.items()
        if selected.may(dimension.permission) and len(dimension.shares_of(trade)) > (name != "method")
    }
    if selected.may(MAY_SEE_SESSIONS):
        offered |= {SESSIONS: _("Sessions"), COLLECTED: _("Collected")}
    chosen = choice.by if choice.by in offered else next(iter(offered), "")
    if not chosen:
        return {}
    views = [(label, choice.address(by=name), name == chosen) for name, label in offered.items()]
    return {"views": views, "breakdown": _breakdown(selected, chosen), "nothing": EMPTY.get(chosen)}


def _breakdown(selected: Selected, chosen: str) -> Breakdown:
    about = (selected.choice.livemode, selected.trade.days, selected.currency, selected.limit)
    if chosen == SESSIONS:
        return by_sessions(sessions_of(*about))
    if chosen == COLLECTED:
        return by_tries(collected_of(*about), selected.currency)
    return by_dimension(chosen, selected.trade, selected.before, selected.currency)
