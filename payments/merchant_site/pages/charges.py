"""Payments, their refunds, and what a merchant's people do about them."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.charges import ChargeAdmin, RefundAdmin
from payments.admin.charges.payer_messages import PayerMessageAdmin
from payments.admin.charges.status import STATES, ByState
from payments.admin.columns import order_column
from payments.admin.framework.formats import LOOKED_UP, chip, column
from payments.admin.timeline.page import FOR_MERCHANTS
from payments.merchant_site.policy import SEES_EVENTS, on_merchant_site
from payments.models import Charge, PayerMessage, Refund, UnknownOutcome

# States that those who run the service look for.
NOT_SHOWN = ("operation", "going_back", "reversed_late")
UNKNOWN: Any = _("Being looked up with the bank")


class OfMerchantByState(ByState):
    """Where the money is."""

    conditions = {
        name: (UNKNOWN if name == "unknown" else state.label, state.condition)
        for name, state in STATES.items()
        if name not in NOT_SHOWN
    }


def mark_looked_up(rows: Iterable[Any], name: str) -> None:
    """Mark those of `rows` whose outcome is unknown; an attempt has them in the foreign key `name`."""
    found = UnknownOutcome.objects.filter(**{f"{name}_id__in": [row.pk for row in rows]})
    unknown = set(found.values_list(f"{name}_id", flat=True))
    for row in rows:
        row.is_looked_up = row.pk in unknown


@on_merchant_site(Charge)
class MerchantCharges(ChargeAdmin):
    contents = FOR_MERCHANTS
    list_filter = (OfMerchantByState, *ChargeAdmin.list_filter[1:])
    what_for = order_column(lambda charge: charge)

    def complete(self, rows: Any) -> None:
        super().complete(rows)
        mark_looked_up(rows, "charge")

    def paid(self, row: Charge) -> str:
        return gettext("Paid") if row.captured else gettext("Asked for")

    def beside_row(self, request: HttpRequest, row: Charge) -> dict[str, Any]:
        shown = super().beside_row(request, row)
        if not request.user.has_perm(SEES_EVENTS):
            shown["timeline"]["moments"] = []
        return shown


def _shown_status(refund: Any) -> object:
    mark, words = LOOKED_UP
    return chip(words, mark) if getattr(refund, "is_looked_up", False) else RefundAdmin.shown_status(None, refund)


@on_merchant_site(Refund)
class MerchantRefunds(RefundAdmin):
    what_for = order_column()
    shown_status = column(_("Status"), _shown_status)

    def complete(self, rows: Any) -> None:
        super().complete(rows)
        mark_looked_up(rows, "refund")


on_merchant_site(PayerMessage)(PayerMessageAdmin)
