"""The list of checkouts: sessions, and the payments of links and requests."""

import re
from collections.abc import Iterator
from itertools import product
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.charge_list import chosen_in
from payments.admin.checkout.actions import ExpireSession, ResendRequest, StopCollecting, TryNow, VoidRequest
from payments.admin.checkout.page import page_context, payers, state_chip
from payments.admin.columns import UNNAMED
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by, one_of
from payments.admin.framework.form_filters import ByAmount, ByDays, ByMerchant
from payments.admin.framework.formats import NOTHING, Cells, amount_cells, beside, column, money, short_id
from payments.admin.framework.id_search import ANY_ENTRY, PUBLIC_ID, Condition, EntrySearch
from payments.admin.framework.index_scan import IndexPath
from payments.admin.framework.merchant_access import limit_of
from payments.admin.shown_times import moment_cells
from payments.domain.checkout.payments import description_of
from payments.ids import public_id
from payments.models import Checkout
from payments.search import find

INVOICE_NUMBER = re.compile("([0-9A-F]{8})-([0-9]{4,9})")
COLUMNS = ("merchant_id", "livemode", "kind")
CELLS: Cells = {
    "id": str,
    **moment_cells("created_at"),
    "merchant": lambda checkout: public_id("mer", checkout.merchant_id),
    "merchant_title": attrgetter("merchant.title"),
    "livemode": attrgetter("livemode"),
    "kind": attrgetter("kind"),
    "purpose": attrgetter("mode"),
    "state": attrgetter("state"),
    "currency": attrgetter("currency"),
    **amount_cells("amount"),
    "client_reference_id": attrgetter("client_reference_id"),
    "description": description_of,
    "attempts": attrgetter("attempts"),
    **moment_cells("expires_at"),
}
ByPurpose = by("purpose", **{mode.value: (mode.label, Q(mode=mode)) for mode in Checkout.Mode})
COLLECTING = Q(request__source_id__isnull=False, request__collect_ended="")
ByCollecting = by("collecting", collecting=(_("Collecting"), COLLECTING))


class CheckoutSearch(EntrySearch):
    """A search that finds a payment request by the number of its invoice, and what a customer has, too."""

    def conditions(self, term: str) -> Iterator[Condition]:
        if number := INVOICE_NUMBER.fullmatch(term.upper()):
            yield {"request__series": number[1], "request__place": int(number[2])}
        elif (public := PUBLIC_ID.fullmatch(term.lower())) and public[1] == "cus":
            yield {"pk__in": find.of_customer(UUID(hex=public[2])).values("pk")}
        else:
            yield from super().conditions(term)


@admin.register(Checkout)
class CheckoutAdmin(BaseAdmin):
    """Checkouts, each with its order, its payer, its attempts and its timeline; the row's fields are collapsed."""

    for_merchants = (
        "who what_for referred how_much shown_state id created_at_local livemode kind purpose state currency amount "
        "amount_decimal client_reference_id description attempts expires_at expires_at_local shown_amount shown_order "
        "shown_payer since least"
    )
    records_views = True
    row_actions = (ResendRequest(), TryNow(), StopCollecting(), ExpireSession(), VoidRequest())
    list_display = ("who", "what_for", "referred", "how_much", "shown_state", "created", "expires")
    sum_of = ("amount", "currency")
    file_cells = CELLS
    list_filter = (
        one_of("state", Checkout.State.values),
        one_of("kind", Checkout.Kind.values),
        ByPurpose,
        ByCollecting,
        ByMerchant,
        ByMode,
        ByDays,
        ByAmount,
    )
    list_select_related = ("merchant",)
    search_fields = ("client_reference_id",)
    search_help_text = ANY_ENTRY
    search = CheckoutSearch(
        {
            "cs": "pk",
            "pr": "pk",
            "ch": "charges__pk",
            "src": "charges__source_id",
            "re": "charges__refunds__pk",
            "mer": "merchant_id",
        },
        objects="pk charges__pk",
        entries=find.checkouts,
    )
    fieldsets = (
        (
            _("All fields"),
            {
                "fields": (
                    *("public_id", "kind", "purpose", "state", "of_merchant", "mode", "shown_amount"),
                    *("client_reference_id", "attempts", "version", "shown_order", "shown_payer"),
                    *("created", "updated", "expires"),
                ),
                "classes": ("collapse",),
            },
        ),
    )
    who = column(_("Payer"), lambda checkout: payers(checkout, "name") or payers(checkout, "email") or UNNAMED)
    how_much = column(_("Amount"), lambda checkout: _money(checkout), is_number=True)
    shown_state = column(_("State"), state_chip)
    what_for = column(_("For"), lambda checkout: beside(description_of(checkout) or NOTHING, checkout.merchant))
    referred = column(_("Reference"), lambda checkout: beside(checkout.client_reference_id, _special(checkout)))
    public_id = column(_("ID"), str, in_list=lambda checkout: short_id(str(checkout)), cells={"id": str})
    purpose = column(_("Purpose"), lambda checkout: checkout.get_mode_display())

    class Media:
        css = {"all": ["payments/timeline.css"]}

    def index_path(self, request: HttpRequest, changelist: ChangeList) -> IndexPath:
        """Return the index of the chosen merchants; without any, the newest checkouts of all are read, bounded."""
        chosen, limit = chosen_in(changelist), limit_of(request)
        if changelist.query or ("merchant" not in chosen and limit is None):
            return IndexPath()
        merchants = [chosen["merchant"].pk] if "merchant" in chosen else sorted(limit or ())
        modes = {"live": (True,), "test": (False,)}.get(chosen.get("mode", ""), (True, False))
        kinds = [kind for kind in Checkout.Kind.values if chosen.get("kind", kind) == kind]
        return IndexPath(COLUMNS, tuple(product(merchants, modes, kinds)), frozenset({"merchant", "mode", "kind"}))

    def headline(self, row: Checkout) -> str:
        payer, about = payers(row, "name"), description_of(row)
        if payer:
            words = gettext("{amount} from {payer} for {about}") if about else gettext("{amount} from {payer}")
        else:
            words = gettext("{amount} for {about}") if about else "{amount}"
        return words.format(amount=_money(row), payer=payer, about=about)

    def beside_row(self, request: HttpRequest, row: Checkout) -> dict[str, Any]:
        return super().beside_row(request, row) | {"timeline": page_context(request, row)}


def _money(checkout: Checkout) -> str:
    return money(checkout.amount, checkout.currency)


def _special(checkout: Checkout) -> str:
    """Return what is unlike the payment of a session: the purpose, or the kind."""
    if checkout.kind != Checkout.Kind.SESSION:
        return gettext("of a link") if checkout.kind == Checkout.Kind.LINK else gettext("of a request")
    return "" if checkout.mode == Checkout.Mode.PAYMENT else checkout.get_mode_display().lower()
