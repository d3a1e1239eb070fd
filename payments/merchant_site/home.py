"""The first page: what waits, the money of today, the next payout, and what failed; or the first steps."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from payments import clock
from payments.admin.columns import UNNAMED
from payments.admin.figures.declines import reason_text
from payments.admin.framework.formats import link, money
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.admin.lists.mode import MODES, mode_of
from payments.admin.shown_times import moment_brief
from payments.admin.timeline.panels import Panel, Row
from payments.domain.charging.checkouts import link_stock
from payments.ids import first_id
from payments.inbox.entries import Entry
from payments.inbox.sorts import OF_MERCHANTS
from payments.inbox.summary import summary_of
from payments.merchant_site.next_payout import next_payout
from payments.merchant_site.today import today_of
from payments.models import Charge, Merchant, PaymentLink
from payments.money import KNOWN_CURRENCIES
from payments.rendering.objects.payment_links import items_of, link_url

SHOWN_ROWS = 4
FAILED_SHOWN = timedelta(days=7)
EVENING, AFTERNOON = 18, 12


def home(request: HttpRequest, merchant: Merchant) -> dict[str, Any]:
    """Return what begins the first page of `merchant`, as far as the role of its reader may see it."""
    user, limit, mode = operator_of(request), limit_of(request), mode_of(request)
    livemode = MODES[mode]
    summary = summary_of(user, limit, livemode, OF_MERCHANTS)
    newest = Charge.objects.of(merchant.pk, livemode).order_by("-id").values_list("currency", flat=True).first()
    name = user.get_short_name() or user.get_username()
    shown = {
        "summary": summary,
        "entries": list(map(_on_this_site, summary.entries)),
        "more": summary.count - len(summary.entries),
        "greeting": f"{_greeting()}, {name}",
        "now": clock.now(),
        "chosen_mode": mode,
    }
    if newest is None:
        welcome = {"welcome": _("Welcome, {name}").format(name=name), "guides": settings.PUBLIC_URL + "/docs/guides"}
        return shown if merchant.is_closed or summary.is_work else shown | welcome
    asked = request.GET.get("currency", "")
    currency = asked if asked in KNOWN_CURRENCIES else newest
    parts: dict[str, tuple[str, Callable[[], Any]]] = {
        "today": ("view_charge", lambda: today_of(livemode, currency, limit)),
        "failed": ("view_charge", lambda: _failed(merchant, livemode)),
        "payout": ("view_payout", lambda: next_payout(merchant, livemode)),
        "links": ("view_paymentlink", lambda: _links(merchant, livemode)),
    }
    return shown | {key: part() for key, (right, part) in parts.items() if user.has_perm(f"payments.{right}")}


def _greeting() -> str:
    hour = timezone.localtime(clock.now()).hour
    return _("Good evening") if hour >= EVENING else _("Good afternoon") if hour >= AFTERNOON else _("Good morning")


def _on_this_site(entry: Entry) -> Entry:
    """Return the entry with the addresses of this site, and without the merchant, which is the reader's own."""
    at, act_at = (address.replace("/admin/", "/merchant/", 1) for address in (entry.address, entry.act_at))
    return replace(entry, merchant="", address=at, act_at=act_at)


def _failed(merchant: Merchant, livemode: bool) -> Panel:
    """Return the newest charges that failed, with the reason in words."""
    rows = Charge.objects.of(merchant.pk, livemode).filter(status=Charge.Status.FAILED, captured=False)
    rows = rows.filter(id__gte=first_id(clock.now() - FAILED_SHOWN))
    return Panel(_("Did not go through"), [_failed_row(row) for row in _newest(rows.select_related("source__card"))])


def _failed_row(charge: Charge) -> Row:
    what = f"{charge.description}. " if charge.description else ""
    why = reason_text((charge.failure_data or {}).get("code", ""))
    below = format_html("{}{}, {}", what, why, moment_brief(charge.created_at))
    payer = link(Charge, charge.pk, charge.source.payer_name or UNNAMED)
    return Row(payer, below, "", money(charge.amount, charge.currency))


def _links(merchant: Merchant, livemode: bool) -> Panel:
    """Return the newest payment links that sell, each with its payments and its address to copy."""
    rows = link_stock.with_under_way(PaymentLink.objects.of(merchant.pk, livemode).filter(active=True))
    return Panel(_("Payment links"), list(map(_link_row, _newest(rows))))


def _link_row(row: PaymentLink) -> Row:
    name = row.internal_name or items_of(row)[0]["name"]
    copied = format_html('<span class="id" data-copy="{}"></span>', link_url(row))
    count = row.payments - row.under_way  # type: ignore[attr-defined]
    payments = ngettext("{count} payment", "{count} payments", count).format(count=f"{count:,}")
    return Row(link(PaymentLink, row.pk, name), payments, copied, "")


def _newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.order_by("-id")[:SHOWN_ROWS]
