"""Blocked cards, BINs, e-mail addresses and callers' addresses, with forms to add and to lift a block."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from payments import clock
from payments.admin.charges.actions import offered_on_charges
from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, lines, link, moment_column
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.moments import moment_cell, moment_in_list, moment_text
from payments.admin.risk.forms import AnyBlockForm, SourceBlockForm, subjects_of
from payments.domain.risk import blocks
from payments.models import Block, Charge, DeclineAlert, Merchant, Source

MAY_PUT, MAY_LIFT = "payments.put_block", "payments.lift_block"
SHOWN_CHARGES = 50
TITLE = "Block cards or addresses"
WHAT_HAPPENS = (
    "From now on its charges are declined, as if the bank had said no. Payer and merchant do not see the block. "
    "Charges made before stay as they are."
)
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


class LiftBlock(RowAction):
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


@admin.register(Block)
class BlockAdmin(ReadOnlyAdmin):
    merchant_lookup = "merchant"
    row_actions = (LiftBlock(),)
    views = {
        "payments_source_block": ("source/<uuid:pk>/", "put_of_source"),
        "payments_declinealert_block": ("alert/<uuid:pk>/", "put_of_alert"),
    }
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
    lifted = moment_column("lifted_at")
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

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        may = operator_of(request).has_perm(MAY_PUT)
        return {"acts": [ActionButton(TITLE, reverse("admin:payments_block_add"))] if may else []}

    @method_decorator([never_cache, sensitive_post_parameters()])
    def add_view(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        """Ask for what is to be blocked, such as a card number, which is not stored, and block it."""
        form = AnyBlockForm(request.POST or None, **self._reach_of(request))
        return self._put(request, form, TITLE, [("What happens", WHAT_HAPPENS)])

    def put_of_source(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Block what is known of a source and its payer."""
        rows: Any = self.admin_site.get_model_admin(Source).get_queryset(request)
        return self._put_of(request, get_object_or_404(rows.select_related("card", "merchant"), pk=pk), "")

    def put_of_alert(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Block what is known of the decline that reached a limit: its caller's address, its source and payer."""
        rows: Any = self.admin_site.get_model_admin(DeclineAlert).get_queryset(request)
        alert = get_object_or_404(rows.select_related("source__card", "source__merchant"), pk=pk)
        address = alert.subject if alert.kind == DeclineAlert.Kind.ADDRESS else ""
        return self._put_of(request, alert.source, address)

    def _put_of(self, request: HttpRequest, source: Source, address: str) -> HttpResponse:
        form = SourceBlockForm(request.POST or None, source, address, **self._reach_of(request))
        return self._put(request, form, f"Block who pays with {source}?", _facts_of(source))

    def _reach_of(self, request: HttpRequest) -> dict[str, Any]:
        """Return the merchants that this operator may block for; raise PermissionDenied without the permission."""
        if not operator_of(request).has_perm(MAY_PUT):
            raise PermissionDenied
        merchants = self.admin_site.get_model_admin(Merchant).get_queryset(request).order_by("title")
        return {"merchants": merchants, "everywhere": limit_of(request) is None}

    def _put(
        self, request: HttpRequest, form: AnyBlockForm | SourceBlockForm, title: str, facts: Facts
    ) -> HttpResponse:
        if not form.is_valid():
            return form_page(request, self, title, facts, form, [("block", "Block")])
        block = form.block()
        block.put_by = operator_of(request)
        blocks.add_block(block, form.lasts_for())
        self.message_user(request, f"Blocked: charges on {block} are declined from now on.", messages.SUCCESS)
        return redirect("admin:payments_block_change", block.pk)

    @admin.display(description="Status")
    def shown_status(self, block: Block) -> SafeString:
        name = status_of(block)
        return chip(name, CHIPS[name])

    @admin.display(description="Newest charges")
    def charges(self, block: Block) -> SafeString | str:
        newest = block.declined.select_related("charge").order_by("-id")[:SHOWN_CHARGES]
        return lines(link(Charge, attempt.charge_id, attempt.charge) for attempt in newest)


@offered_on_charges
def block_acts(request: HttpRequest, charge: Charge) -> Iterator[ActionButton]:
    """Yield the button that blocks a charge's payer, where there is something to block."""
    if operator_of(request).has_perm(MAY_PUT) and subjects_of(charge.source):
        yield ActionButton("Block the payer", reverse("admin:payments_source_block", args=[charge.source_id]))


def _facts_of(source: Source) -> Facts:
    yield "What happens", WHAT_HAPPENS
    yield "Source", link(Source, source.pk, source)
    yield "Merchant", source.merchant
    yield "Mode", "live" if source.livemode else "test"
