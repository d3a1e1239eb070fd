"""The admin's first page: what needs attention, and what was charged."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import template
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.http import HttpRequest
from django.urls import reverse

from payments import sourcetypes
from payments.admin.charts import Chart, series_of, stacked_bars
from payments.admin.framework.formats import NOTHING, money
from payments.admin.framework.merchant_access import limit_of
from payments.admin.lists.mode import MODES, mode_of
from payments.models import MoneyCheck
from payments.models.merchants.merchant_access import Limit
from payments.money import CURRENCIES, DEFAULT_CURRENCY
from payments.overview.days import Days
from payments.overview.needs_attention import Backlog, items_for
from payments.overview.trade import Trade, trades_of

PERIODS = (1, 7, 30, 90)
USUAL_PERIOD = 7
MAY_LOOK = "payments.view_charge"
ALL_REQUESTS = "admin:payments_approvalrequest_waiting"

register = template.Library()


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


@dataclass(frozen=True, slots=True)
class Card:
    """A count of rows that may need attention, and the list that shows them."""

    label: str
    count: int
    note: str
    address: str


@register.inclusion_tag("admin/payments/overview.html", takes_context=True)
def overview(context: template.Context) -> dict[str, Any]:
    """Return the page's context for those who may see charges; nothing for others."""
    request: HttpRequest = context["request"]
    if not _may(request.user, MAY_LOOK):
        return {}
    limit = limit_of(request)
    if limit is not None and not limit:
        return {"works_for_none": True}
    choice = _choice(request)
    days = Days.until_today(choice.period)
    trades = trades_of(choice.livemode, days, limit)
    currency = choice.currency or next(iter(trades), DEFAULT_CURRENCY)
    trade = trades.get(currency) or Trade(days, [])
    currencies = dict.fromkeys([currency, *trades])
    return {
        "periods": [(count, choice.address(days=count), count == choice.period) for count in PERIODS],
        "currencies": [(each, choice.address(currency=each), each == currency) for each in currencies],
        "cards": [card for permission, card in _cards(choice, currency, days, limit) if _may(request.user, permission)],
        "check": MoneyCheck.objects.newest_whole() if limit is None else None,
        "trade": trade,
        "volume": money(trade.volume, currency),
        "rate": NOTHING if trade.success_rate is None else f"{trade.success_rate:.1%}",
        "charts": list(_charts(trade, currency)),
    }


def _may(user: AbstractBaseUser | AnonymousUser, permission: str) -> bool:
    return isinstance(user, PermissionsMixin) and user.has_perm(permission)


def _choice(request: HttpRequest) -> Choice:
    period, currency = request.GET.get("days", ""), request.GET.get("currency", "")
    known_period = period in map(str, PERIODS)
    length = int(period) if known_period else USUAL_PERIOD
    return Choice(mode_of(request), length, currency if currency in CURRENCIES else "")


def _cards(choice: Choice, currency: str, days: Days, limit: Limit) -> Iterator[tuple[str, Card]]:
    """Yield each card with the permission that its list needs."""
    waiting = items_for(choice.livemode, currency, days, limit)

    def card(label: str, found: Backlog | int, model: str, **filters: str) -> tuple[str, Card]:
        address = f"{reverse(f'admin:payments_{model}_changelist')}?{urlencode(filters | {'mode': choice.mode})}"
        pile = found if isinstance(found, Backlog) else Backlog(found)
        note = money(pile.amount, currency) if isinstance(found, Backlog) else ""
        return f"payments.view_{model}", Card(label, pile.count, note, address)

    yield card("Held", waiting.held, "charge", money="held")
    yield card("Holds that expire within 48 hours", waiting.expiring, "charge", money="expiring")
    yield card("Unknown outcomes", waiting.unknown, "unknownoutcome")
    yield card("Late payments being reversed", waiting.late, "charge", money="going_back")
    yield card("Refunds pending", waiting.refunds, "refund", status__exact="pending")
    requests = waiting.requests.count + waiting.changes
    approvals = Card("Waiting for approval", requests, money(waiting.requests.amount, currency), reverse(ALL_REQUESTS))
    yield "payments.view_approvalrequest", approvals
    yield card("Webhooks failing", waiting.failing, "webhook", standing="failing")
    yield card("Webhooks given up", waiting.given_up, "webhook", standing="given_up")
    yield card("Reconciliation differences", waiting.differences, "reconciliationitem", state__exact="open")
    yield card("Provider events that need attention", waiting.webhooks, "providermessage", standing="attention")


def _charts(trade: Trade, currency: str) -> Iterator[Chart]:
    if not trade.approved:
        return
    volume, count = trade.stacks("amount"), trade.stacks("count")
    series = series_of(count)
    yield stacked_bars("volume", "Volume per day", volume, series, _label, lambda value: money(value, currency))
    yield stacked_bars("count", "Charges per day", count, series, _label, "{:,}".format)


def _label(source_type: str) -> str:
    return sourcetypes.BY_NAME[source_type].label
