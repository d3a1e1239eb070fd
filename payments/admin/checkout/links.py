"""Payment links: the list, the page with stock and payments, and the actions activate and deactivate."""

from itertools import product
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.form_filters import ByMerchant
from payments.admin.framework.formats import NOTHING, Cells, beside, chip, column, copyable, lines, link, money
from payments.admin.framework.id_search import EntrySearch
from payments.admin.framework.index_scan import IndexPath
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import Facts
from payments.admin.shown_times import moment_cells, moment_text
from payments.domain.charging.checkouts import link_stock
from payments.domain.checkout import links
from payments.domain.checkout.verbs import ACTIVATE, DEACTIVATE
from payments.domain.shared.errors import PaymentError
from payments.ids import public_id
from payments.models import Charge, Checkout, PaymentLink
from payments.rendering.objects.payment_links import items_of, link_url
from payments.search import find

# The newest payments that the page of a link shows.
PAYMENTS_SHOWN = 20
CELLS: Cells = {
    "id": str,
    **moment_cells("created_at"),
    "merchant": lambda row: public_id("mer", row.merchant_id),
    "livemode": attrgetter("livemode"),
    "internal_name": attrgetter("internal_name"),
    "active": attrgetter("active"),
    "payments": attrgetter("payments"),
    "expiry": lambda row: row.order.get("expiry") or "",
}
ByState = by("state", active=(_("Active"), Q(active=True)), deactivated=(_("Deactivated"), Q(active=False)))


class Switch(Action):
    """Activate or deactivate a link."""

    for_merchants = True
    refusals = (PaymentError,)
    to_active: bool

    def fits(self, row: PaymentLink) -> bool:
        return row.active is not self.to_active

    def about(self, row: PaymentLink) -> Facts:
        yield from super().about(row)
        yield gettext("Name"), row.internal_name

    def do(self, row: PaymentLink, cleaned: dict[str, Any]) -> Done:
        links.set_active_for_operator(row, is_active=self.to_active)
        return gettext("Activated.") if self.to_active else gettext("Deactivated.")


class Activate(Switch, verb=ACTIVATE):
    to_active = True
    over = _("This link is active already.")


class Deactivate(Switch, verb=DEACTIVATE):
    to_active = False
    over = _("This link is deactivated already.")


def _chip(row: PaymentLink) -> str:
    return chip(gettext("active"), "good") if row.active else chip(gettext("deactivated"), "quiet")


def counted(payments: int) -> str:
    """Return the number of payments in words."""
    return ngettext("{count} payment", "{count} payments", payments).format(count=f"{payments:,}")


def _items(row: PaymentLink) -> object:
    currency = row.order["currency"].upper()
    return lines(
        gettext("{name}: {price}, {count} left").format(
            name=item["name"], price=money(item["amount"], currency), count=f"{item['remaining']:,}"
        )
        for item in items_of(row)
    )


def _payments(row: PaymentLink) -> object:
    """Return the newest payments of a link: when, how much, how far, and the charge."""
    newest = row.checkouts.whole().order_by("-id")[:PAYMENTS_SHOWN]
    return lines(
        beside(_payment(each), format_html_join(", ", "{}", ((link(Charge, row.pk, row),) for row in each.charge_list)))
        for each in newest
    )


def _payment(payment: Checkout) -> str:
    state = payment.get_state_display().lower()
    return f"{moment_text(payment.created_at)}, {money(payment.amount, payment.currency)}, {state}"


@admin.register(PaymentLink)
class PaymentLinkAdmin(BaseAdmin):
    for_merchants = (
        "name sold state ends id created_at_local livemode internal_name active payments expiry items page "
        "newest_payments shown_order"
    )
    row_actions = (Activate(), Deactivate())
    head_columns = ("state", "public_id", "internal_name")
    list_display = ("name", "merchant", "sold", "state", "ends", "created")
    file_cells = CELLS
    list_filter = (ByState, ByMerchant, ByMode)
    list_select_related = ("merchant",)
    search_fields = ("internal_name",)
    search_help_text = _("Any ID, its name, an item, or other words of it.")
    search = EntrySearch(
        {"plink": "pk", "cs": "checkouts__pk", "ch": "checkouts__charges__pk"}, objects="pk", entries=find.links
    )
    fieldsets = (
        (
            None,
            {"fields": ("public_id", "internal_name", "state", "of_merchant", "mode", "items", "page", "sold", "ends")},
        ),
        (_("Newest payments"), {"fields": ("newest_payments",)}),
        (_("All fields"), {"fields": ("shown_order", "version", "created", "updated"), "classes": ("collapse",)}),
    )
    name = column(
        _("Name"), lambda row: row.internal_name or gettext("Payment link of {merchant}").format(merchant=row.merchant)
    )
    state = column(_("State"), lambda row: _chip(row))
    sold = column(_("Payments"), lambda row: counted(row.payments - row.under_way), is_number=True)
    ends = column(_("Last day"), lambda row: row.order.get("expiry") or NOTHING)
    page = column(_("Page"), lambda row: copyable(link_url(row)))
    items = column(_("Items"), _items)
    newest_payments = column(_("Payments"), _payments)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PaymentLink]:
        return link_stock.with_under_way(super().get_queryset(request))

    def headline(self, row: PaymentLink) -> str:
        return str(self.name(row))

    def index_path(self, request: HttpRequest, changelist: ChangeList) -> IndexPath:
        """Return the index of the operator's merchants; without a limit, the newest links of all are read, bounded."""
        limit = limit_of(request)
        if changelist.query or limit is None:
            return IndexPath()
        return IndexPath(("merchant_id", "livemode"), tuple(product(sorted(limit), (True, False))))
