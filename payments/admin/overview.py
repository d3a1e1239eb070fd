"""The lower part of the admin's first page: what was charged."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any
from urllib.parse import urlencode

from django import template
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from payments import clock, sourcetypes
from payments.admin.charts import WIDTH, Axis, Chart, Mark, series_of, stacked_bars
from payments.admin.framework.formats import NOTHING, money
from payments.admin.framework.merchant_access import limit_of
from payments.admin.lists.mode import MODES, mode_of
from payments.admin.moments import moment_text
from payments.models import DayTotal, DeclineAlert, Merchant
from payments.models.merchants.merchant_access import Limit, within
from payments.money import DEFAULT_CURRENCY, KNOWN_CURRENCIES
from payments.overview.days import DAY, Days
from payments.overview.sessions import sessions_of
from payments.overview.trade import HOUR, HOURS_COUNT, Outcome, Share, Trade, has_charges, outcomes_by_hour, trades_of

PERIODS = (1, 7, 30, 90)
USUAL_PERIOD = 7
OUTCOMES: dict[str, str] = {
    DayTotal.Outcome.APPROVED: "Approved",
    DayTotal.Outcome.DECLINED: "Declined",
    DayTotal.Outcome.ABANDONED: "Abandoned",
}
OF_CHARGES = ("Volume", *OUTCOMES.values(), "Success rate")
OF_SESSIONS = ("Opened", "Paid", "Abandoned", "Open", "Paid of ended")
MAY_LOOK = "payments.view_charge"
MAY_SEE_ALERTS = "payments.view_declinealert"
MAY_SEE_SESSIONS = "payments.view_checkout"

# The largest merchants and types have a row each, all others one together.
PARTS_COUNT = 10
# More marks than these would cover each other; the list has all alerts.
MARKS_COUNT = 20
BY_HOUR = Axis("Hour", moment_text, lambda moment: f"{timezone.localtime(moment):%H:%M}")

register = template.Library()


@dataclass(frozen=True, slots=True)
class Part:
    """A row of a breakdown: the address of the list of its charges or sessions ("" for none), and figures as texts."""

    label: str
    address: str
    cells: list[str]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A table of the page: its title, the heads of its columns, and its rows."""

    title: str
    heads: Sequence[str]
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Choice:
    """The selection of the page: a mode, a number of days until today, and a currency ("" for the most used one)."""

    mode: str
    period: int
    currency: str = ""

    @property
    def livemode(self) -> bool:
        return MODES[self.mode]

    def address(self, **changes: Any) -> str:
        """Return the query of the page with another selection."""
        chosen = {"days": self.period, "currency": self.currency} | changes
        return "?" + urlencode({name: value for name, value in chosen.items() if value})


@register.inclusion_tag("admin/payments/overview.html", takes_context=True)
def overview(context: template.Context) -> dict[str, Any]:
    """Return the part's context for those who may see charges, once there is one; nothing for others."""
    request: HttpRequest = context["request"]
    if not _may(request.user, MAY_LOOK):
        return {}
    limit, choice = limit_of(request), _choice(request)
    days = Days.until_today(choice.period)
    trades = trades_of(choice.livemode, days, limit)
    if not trades and not has_charges(choice.livemode, limit):
        return {}
    currency = choice.currency or next(iter(trades), DEFAULT_CURRENCY)
    trade = trades.get(currency) or Trade(days, [])
    before = trades_of(choice.livemode, days.before, limit).get(currency) or Trade(days.before, [])
    currencies = dict.fromkeys([currency, *trades])
    charts = [*_hours(choice, currency, limit), *_charts(trade, currency)]
    if _may(request.user, MAY_SEE_ALERTS):
        charts = [_marked(chart, choice.livemode, days, limit) for chart in charts]
    return {
        "periods": [(count, choice.address(days=count), count == choice.period) for count in PERIODS],
        "currencies": [(each, choice.address(currency=each), each == currency) for each in currencies],
        "trade": trade,
        "sums": list(_sums(trade, before, currency)),
        "charts": charts,
        "breakdowns": [*_breakdowns(trade, currency), *_sessions(request, choice, days, currency, limit)],
    }


def _may(user: AbstractBaseUser | AnonymousUser, permission: str) -> bool:
    return isinstance(user, PermissionsMixin) and user.has_perm(permission)


def _choice(request: HttpRequest) -> Choice:
    period, currency = request.GET.get("days", ""), request.GET.get("currency", "")
    known_period = period in map(str, PERIODS)
    length = int(period) if known_period else USUAL_PERIOD
    return Choice(mode_of(request), length, currency if currency in KNOWN_CURRENCIES else "")


def _sums(trade: Trade, before: Trade, currency: str) -> Iterator[tuple[str, str, str]]:
    """Yield each figure with its label, and with the difference from the period before in words."""
    yield "Volume", money(trade.volume, currency), _difference(trade.volume, before.volume)
    for label in ("Approved", "Declined", "Abandoned", "Pending"):
        name = label.lower()
        # What is pending now is not to be compared with what is still pending from then.
        against = "" if label == "Pending" else _difference(getattr(trade, name), getattr(before, name))
        yield label, f"{getattr(trade, name):,}", against
    rate, rate_before = trade.success_rate, before.success_rate
    against = "" if rate is None or rate_before is None else _points(rate - rate_before)
    yield "Success rate", NOTHING if rate is None else f"{rate:.1%}", against


def _difference(value: int, before: int) -> str:
    if not before:
        return "none before" if value else ""
    change = (value - before) / before
    return f"{abs(change):.0%} {'more' if change > 0 else 'less'}" if value != before else "as before"


def _points(change: float) -> str:
    shown = f"{abs(change) * 100:.1f}"
    return "as before" if shown == "0.0" else f"{shown} points {'higher' if change > 0 else 'lower'}"


def _hours(choice: Choice, currency: str, limit: Limit) -> Iterator[Chart]:
    """Yield the chart of the last 24 hours where the period is a day: a burst of declines is seen at once."""
    if choice.period > 1:
        return
    stacks = outcomes_by_hour(choice.livemode, currency, limit)
    ended = [each for each in OUTCOMES if any(each in stack for stack in stacks.values())]
    if ended:
        label, text = OUTCOMES.__getitem__, "{:,}".format
        yield stacked_bars("hour", "Outcomes per hour, the last 24 hours", stacks, ended, label, text, BY_HOUR)


def _marked(chart: Chart, livemode: bool, days: Days, limit: Limit) -> Chart:
    """Return `chart` with the decline alerts of its time, if it shows outcomes."""
    if chart.name == "outcome":
        begin, end = (datetime.combine(day, time(), UTC) for day in (days.first, days.last + DAY))
    elif chart.name == "hour":
        end = clock.now().replace(minute=0, second=0, microsecond=0) + HOUR
        begin = end - HOUR * HOURS_COUNT
    else:
        return chart
    return replace(chart, marks=marks_of(livemode, begin, end, limit))


def _breakdowns(trade: Trade, currency: str) -> Iterator[Breakdown]:
    """Yield the parts of merchants, types and providers, with links to the list of charges where that has a filter."""
    titles = Merchant.objects.filter(pk__in=_largest(trade.by_merchant)).in_bulk()
    merchants = {str(pk): titles[pk].title for pk in titles}
    if len(trade.by_merchant) > 1:
        yield Breakdown("By merchant", OF_CHARGES, list(_parts(trade.by_merchant, merchants, currency, "merchant")))
    if trade.by_type:
        names = {name: _label(name) for name in trade.by_type}
        yield Breakdown("By type", OF_CHARGES, list(_parts(trade.by_type, names, currency, "type")))
    if len(trade.by_provider) > 1:
        names = {name: name.capitalize() or "None" for name in trade.by_provider}
        yield Breakdown("By provider", OF_CHARGES, list(_parts(trade.by_provider, names, currency)))


def _sessions(request: HttpRequest, choice: Choice, days: Days, currency: str, limit: Limit) -> Iterator[Breakdown]:
    """Yield the checkout sessions of each merchant, and of all, for those who may see sessions."""
    found = sessions_of(choice.livemode, days, currency, limit) if _may(request.user, MAY_SEE_SESSIONS) else {}
    if not found:
        return
    address = f"{reverse('admin:payments_checkout_changelist')}?kind=session"
    parts = [_sessions_part("All", address, found.values())]
    largest = sorted(found, key=lambda key: found[key].total(), reverse=True)[:PARTS_COUNT]
    titles = Merchant.objects.filter(pk__in=largest).in_bulk()
    if len(found) > 1:
        parts += [_sessions_part(titles[key].title, f"{address}&merchant={key}", [found[key]]) for key in largest]
        others = [counts for key, counts in found.items() if key not in titles]
        parts += [_sessions_part(f"{len(others):,} others", "", others)] if others else []
    yield Breakdown("Checkout sessions", OF_SESSIONS, parts)


def _sessions_part(label: str, address: str, of_merchants: Iterable[Counter[str]]) -> Part:
    counts = sum(of_merchants, Counter[str]())
    ended = counts[Outcome.APPROVED] + counts[Outcome.ABANDONED]
    numbers = (counts.total(), *(counts[each] for each in (Outcome.APPROVED, Outcome.ABANDONED, Outcome.PENDING)))
    share = f"{counts[Outcome.APPROVED] / ended:.1%}" if ended else NOTHING
    return Part(label, address, [*map("{:,}".format, numbers), share])


def _largest(shares: Mapping[Any, Share]) -> list[Any]:
    return sorted(shares, key=lambda key: shares[key].volume, reverse=True)[:PARTS_COUNT]


def _parts(shares: Mapping[Any, Share], labels: Mapping[str, str], currency: str, by: str = "") -> Iterator[Part]:
    """Yield the largest shares, and one of all others; `by` is the filter of the list of charges that finds one."""
    largest, others = _largest(shares), Share()
    charges = reverse("admin:payments_charge_changelist")
    for key in largest:
        yield _part(labels[str(key)], shares[key], currency, f"{charges}?{by}={key}" if by else "")
    for share in (share for key, share in shares.items() if key not in largest):
        others.counts += share.counts
        others.volume += share.volume
    if len(shares) > len(largest):
        yield _part(f"{len(shares) - len(largest):,} others", others, currency, "")


def _part(label: str, share: Share, currency: str, address: str) -> Part:
    rate = share.success_rate
    counts = [f"{share.counts[each]:,}" for each in OUTCOMES]
    return Part(label, address, [money(share.volume, currency), *counts, NOTHING if rate is None else f"{rate:.1%}"])


def _charts(trade: Trade, currency: str) -> Iterator[Chart]:
    if any(trade.outcomes().values()):
        outcomes = trade.outcomes()
        ended = [each for each in OUTCOMES if any(each in stack for stack in outcomes.values())]
        yield stacked_bars("outcome", "Outcomes per day", outcomes, ended, OUTCOMES.__getitem__, "{:,}".format)
    if not trade.approved:
        return
    volume, count = trade.stacks("amount"), trade.stacks("count")
    series = series_of(count)
    yield stacked_bars(
        "volume", "Approved volume per day", volume, series, _label, lambda value: money(value, currency)
    )
    yield stacked_bars("count", "Approved charges per day", count, series, _label, "{:,}".format)


def _label(source_type: str) -> str:
    return sourcetypes.shown(source_type).label


def marks_of(livemode: bool, begin: datetime, end: datetime, limit: Limit = None) -> Sequence[Mark]:
    """Return the newest alerts of the merchants in `limit` from `begin` until `end`, the oldest of them first."""
    raised = DeclineAlert.objects.filter(
        within(limit, "merchant"), livemode=livemode, created_at__gte=begin, created_at__lt=end
    )
    newest = raised.select_related("merchant").order_by("-created_at")[:MARKS_COUNT]
    return [_mark(alert, (alert.created_at - begin) / (end - begin)) for alert in reversed(newest)]


def _mark(alert: DeclineAlert, share: float) -> Mark:
    what = f"{alert.quota} declines {alert.get_kind_display()}, at {alert.merchant.title}"
    address = reverse("admin:payments_declinealert_change", args=[alert.pk])
    return Mark(round(share * WIDTH, 2), f"{moment_text(alert.created_at)}: {what}", address)
