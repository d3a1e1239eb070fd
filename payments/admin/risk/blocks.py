"""Blocked cards, BINs, e-mail addresses and callers' addresses, with forms to add and to lift a block."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.safestring import SafeString

from payments import clock
from payments.admin.charges.actions import Offers, offered_on_charges
from payments.admin.charges.sources import CardAdmin, SourceAdmin
from payments.admin.framework.actions import Action, Done, Result
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, lines, link, source_label
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import ActionButton, Facts, operator_of
from payments.admin.risk.forms import AnyBlockForm, SourceBlockForm, subjects_of
from payments.admin.shown_times import moment_cell, moment_in_list, moment_text
from payments.domain.risk import blocks
from payments.models import Block, Card, Charge, DeclineAlert, Merchant, Source

MAY_PUT, MAY_LIFT = "payments.put_block", "payments.lift_block"
SHOWN_CHARGES = 50
CHIPS = {"in force": "warn", "over": "quiet", "lifted": "quiet"}


OVER = Q(expires_at__lte=Now())
ByStatus = by(
    "status",
    in_force=("In force", Q(lifted_at=None) & (Q(expires_at=None) | ~OVER)),
    over=("Over", Q(lifted_at=None) & OVER),
    lifted=("Lifted", Q(lifted_at__isnull=False)),
)


def status_of(block: Block) -> str:
    """Return whether a block is in force, and if not, why."""
    if block.lifted_at:
        return "lifted"
    return "over" if block.expires_at and block.expires_at <= clock.now() else "in force"


class LiftBlock(Action):
    name, label, button = "lift", "Lift the block", "Lift"
    permission = MAY_LIFT
    too_late = {blocks.AlreadyLifted: "Another operator has lifted it already."}

    def fits(self, block: Block) -> bool:
        return block.lifted_at is None

    def question(self, block: Block) -> str:
        return f"Lift the block of {block}?"

    def facts(self, block: Block) -> Facts:
        yield "What happens", "From now on it is charged again, unless another block is in force on it."
        yield "Blocked", f"{block}, {status_of(block)}"
        yield "Why", block.reason
        yield "By", f"{block.put_by}, {moment_text(block.created_at)}"

    def do(self, block: Block, cleaned: dict[str, Any]) -> Done:
        blocks.lift(block, cleaned["operator"], cleaned["reason"])
        return f"Lifted: {block} may be charged again."


class PutBlock(Action):
    """Of what somebody types, such as a card number, which is not stored."""

    name, label, button = "block", "Block cards or addresses", "Block"
    permission = MAY_PUT
    is_new = True
    what_happens = (
        "From now on its charges are declined, as if the bank had said no. Payer and merchant do not see the block. "
        "Charges made before stay as they are."
    )

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        """Return the merchants for whom this person may block, and whether for all."""
        merchants = page.admin_site.get_model_admin(Merchant).get_queryset(request).order_by("title")
        return {"merchants": merchants, "everywhere": limit_of(request) is None}

    def form_for(self, row: Any, data: Any) -> AnyBlockForm | SourceBlockForm:
        return AnyBlockForm(data, **row)

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        block = cleaned["form"].block()
        block.put_by = cleaned["operator"]
        blocks.add_block(block, cleaned["form"].lasts_for())
        return Result(f"Blocked: charges on {block} are declined from now on.", block)


class BlockPayer(PutBlock):
    """Of what is known of a source and its payer, and of the caller's address if a limit was reached from there."""

    label = "Block the payer"
    is_new = False

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        source, address = self.known(page.get_queryset(request), pk)
        return super().find(page, request, pk) | {"source": source, "address": address}

    def fits(self, row: Any) -> bool:
        return not isinstance(row, Source) or bool(subjects_of(row))

    def known(self, rows: QuerySet[Any], pk: Any) -> tuple[Source, str]:
        return get_object_or_404(rows.select_related("card", "merchant"), pk=pk), ""

    def question(self, row: Any) -> str:
        return f"Block {row['source'].payer_name or source_label(row['source'])}?"

    def about(self, row: Any) -> Facts:
        source = row["source"]
        yield "Paid with", link(Source, source.pk, source_label(source))
        yield "Merchant", source.merchant
        yield "Mode", "live" if source.livemode else "test"

    def form_for(self, row: Any, data: Any) -> AnyBlockForm | SourceBlockForm:
        return SourceBlockForm(data, **row)


class BlockOfAlert(BlockPayer):
    """Of the decline that reached a limit."""

    def known(self, rows: QuerySet[Any], pk: Any) -> tuple[Source, str]:
        alert = get_object_or_404(rows.select_related("source__card", "source__merchant"), pk=pk)
        return alert.source, alert.subject if alert.kind == DeclineAlert.Kind.ADDRESS else ""

    def buttons(self, page: Any, request: HttpRequest, row: DeclineAlert) -> list[ActionButton]:
        label = "Block the address" if row.kind == DeclineAlert.Kind.ADDRESS else self.label
        return [ActionButton(label, act.url) for act in super().buttons(page, request, row)]


@admin.register(Block)
class BlockAdmin(BaseAdmin):
    row_actions = (PutBlock(), LiftBlock())
    list_display = ("what", "reason", "reach", "put_by", "shown_status", "created", "until", "mode")
    file_columns = ("what", "shown_status", "reach", "mode", "reason", "put_by", "created", "until")
    list_filter = (ByStatus, ByMode, "created_at")
    list_select_related = ("merchant", "put_by")
    search_fields = ("card", "=bin", "email", "=address", "reason")
    search = IdSearch({"": "pk", "mer": "merchant_id", "ch": "declined__charge_id"})
    fieldsets = (
        (None, {"fields": ("what", "shown_status", "reach", "mode")}),
        ("Added", {"fields": ("reason", "put_by", "created", "until")}),
        ("Lifted", {"fields": ("lifted_because", "lifted_by", "lifted")}),
        ("Declined by it", {"fields": ("charges",)}),
    )
    what = column("Blocked", str)
    reach = column(
        "At",
        lambda block: link(Merchant, block.merchant_id, block.merchant) if block.merchant_id else "all merchants",
        in_list=lambda block: block.merchant or "all merchants",
    )
    until = column(
        "Until",
        lambda block: moment_cell(block.expires_at) if block.expires_at else "no end",
        in_list=lambda block: moment_in_list(block.expires_at) if block.expires_at else "no end",
    )

    @admin.display(description="Status")
    def shown_status(self, block: Block) -> SafeString:
        name = status_of(block)
        return chip(name, CHIPS[name])

    @admin.display(description="Newest charges")
    def charges(self, block: Block) -> SafeString | str:
        newest = block.declined.select_related("charge").order_by("-id")[:SHOWN_CHARGES]
        return lines(link(Charge, attempt.charge_id, attempt.charge) for attempt in newest)


SourceAdmin.row_actions = (*SourceAdmin.row_actions, BlockPayer())


@offered_on_charges
def block_acts(request: HttpRequest, row: Charge | Card, text: str = "Block the payer") -> Iterator[ActionButton]:
    """Yield the button that blocks the payer of a charge or card, where there is something to block."""
    if operator_of(request).has_perm(MAY_PUT) and subjects_of(row.source):
        yield ActionButton(text, reverse("admin:payments_source_block", args=[row.source_id]))


CardAdmin.row_actions = (Offers(partial(block_acts, text="Block the card or its payer")),)
