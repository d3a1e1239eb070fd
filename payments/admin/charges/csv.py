"""The CSV export of charges: the rows that the operator's list shows when it is written."""

from collections.abc import Sequence
from typing import cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict

from payments import clock
from payments.admin.exports import MAY_EXPORT
from payments.admin.framework.pagination import Cursor, KeysetList
from payments.domain.exports import SHEETS, Batch, NotAllowed
from payments.ids import public_id
from payments.models import Charge, Export
from payments.money import plain_amount
from payments.sensitive_data.card_numbers import holds_card_number

TEXT_MAX_LENGTH = 1000
AMOUNTS = ("amount", "amount_captured", "amount_refunded", "fee")


class ChargeSheet:
    heads: Sequence[str] = (
        "id",
        "created_at",
        "merchant",
        "merchant_title",
        "mode",
        "status",
        "held",
        "currency",
        *(head for name in AMOUNTS for head in (name, f"{name}_decimal")),
        "type",
        "card_brand",
        "card_last4",
        "description",
        "statement_descriptor",
        "failure_code",
        "hold_expires_at",
    )

    def expected_rows(self, operator: User, query: str) -> int:
        return listed(operator, query).estimate()

    def batch(self, export: Export, length: int) -> Batch:
        charges = listed(export.operator, export.query)
        found = charges.find(Cursor(start=export.last_id), length)
        return Batch(charges.rows_of(found.ids), found.next_id)

    def cells(self, row: Charge) -> Sequence[object]:
        card = getattr(row.source, "card", None)
        return (
            public_id("ch", row.pk),
            clock.iso(row.created_at),
            public_id("mer", row.merchant_id),
            row.merchant.title,
            "live" if row.livemode else "test",
            row.status,
            "yes" if row.authorized else "no",
            row.currency,
            *(cell for name in AMOUNTS for cell in _amount(getattr(row, name), row.currency)),
            row.source.type,
            card and card.brand,
            card and card.last4,
            row.description,
            row.statement_descriptor,
            (row.failure_data or {}).get("code"),
            row.hold_expires_at and clock.iso(row.hold_expires_at),
        )


def listed(operator: User, query: str) -> KeysetList:
    """Return the list that `operator` sees at `query`; raise NotAllowed."""
    request, page = HttpRequest(), admin.site.get_model_admin(Charge)
    request.user, request.GET = operator, QueryDict(query)
    if not operator.is_active or not operator.has_perm(MAY_EXPORT) or not page.has_view_permission(request):
        raise NotAllowed
    # The query is stored, and an address has no card number in it.
    texts = [text for _, values in request.GET.lists() for text in values]
    if any("\0" in text or len(text) > TEXT_MAX_LENGTH or holds_card_number(text) for text in texts):
        raise NotAllowed
    try:
        return cast(KeysetList, page.get_changelist_instance(request))
    except IncorrectLookupParameters as error:
        raise NotAllowed from error


def _amount(amount: int, currency: str) -> tuple[int, str]:
    return amount, plain_amount(amount, currency).replace(",", "")


SHEETS["charges"] = ChargeSheet()
