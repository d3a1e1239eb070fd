"""The simulator's own books: what the provider believes, to be held against what kaha believes."""

from json import loads

from django.contrib import admin
from django.db.models import Q
from django.utils.text import capfirst

from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.formats import column, link, money_column, search_link
from payments.admin.framework.id_search import IdSearch
from payments.models import Attempt, Payout
from payments.providers.simulator.models import Entry, Message, SimulatedOperation, SimulatedPayment, SimulatedPayout
from payments.providers.simulator.operations import MOVES
from payments.sourcetypes import shown


def _in_words(payment: SimulatedPayment) -> str:
    return f"{shown(payment.source_type).label} {payment.last4}"


OF_PAYMENT = column(
    "Payment",
    lambda row: link(SimulatedPayment, row.payment_id, row.payment),
    in_list=lambda row: _in_words(row.payment),
)


class OperationsOfPayment(ReadOnlyInline):
    model = SimulatedOperation
    fields = ("reference", "kind", "shown_amount", "state", "settles", "settles_as", "created")
    ordering = ("-pk",)
    shown_amount = money_column("amount", "payment")


class EntriesOfPayment(ReadOnlyInline):
    model = Entry
    fields = ("reference", "kind", "shown_amount", "created")
    ordering = ("pk",)
    shown_amount = money_column("amount", "payment")


@admin.register(SimulatedPayment)
class SimulatedPaymentAdmin(BaseAdmin):
    merchant_lookup = None
    list_display = ("way", "shown_amount", "state", "decline_code", "created")
    file_columns = ("public_id", "shown_amount", "state", "source_type", "last4", "decline_code", "created")
    list_filter = ("state",)
    search_fields = ("reference",)
    search_help_text = "The payment's ID, our reference, or last four digits."
    search = IdSearch({"sp": "pk", "so": "operations__pk"}, last4="last4", exact="reference")
    fieldsets = (
        (None, {"fields": ("public_id", "reference", "attempts", "state", "decline_code")}),
        ("Money", {"fields": ("shown_amount", "shown_captured", "shown_refunded", "capture", "refunds")}),
        ("Payer", {"fields": ("source_type", "last4", "cvc_checked", "expires", "pin_tries")}),
        ("Times", {"fields": ("created",)}),
    )
    inlines = (OperationsOfPayment, EntriesOfPayment)
    way = column("Way of payment", _in_words)
    shown_captured = money_column("amount_captured")
    shown_refunded = money_column("amount_refunded")
    attempts = column(
        "Attempt", lambda payment: search_link(Attempt, payment.reference, "the attempt that asked for it")
    )


@admin.register(SimulatedOperation)
class SimulatedOperationAdmin(BaseAdmin):
    merchant_lookup = None
    list_display = ("kind", "shown_amount", "state", "payment_link", "settles", "created")
    file_columns = ("public_id", *list_display)
    list_filter = (one_of("kind", MOVES), "state")
    list_select_related = ("payment",)
    search_fields = ("reference",)
    search_help_text = "The operation's ID, its payment's, or our reference."
    search = IdSearch({"so": "pk", "sp": "payment_id"}, exact="reference")
    fieldsets = (
        (None, {"fields": ("public_id", "reference", "payment_link", "kind", "shown_amount", "state")}),
        ("Times", {"fields": ("settles", "settles_as", "created")}),
    )
    shown_amount = money_column("amount", "payment")
    payment_link = OF_PAYMENT


@admin.register(SimulatedPayout)
class SimulatedPayoutAdmin(BaseAdmin):
    merchant_lookup = None
    list_display = ("last4", "shown_amount", "state", "due", "created")
    file_columns = ("public_id", *list_display)
    list_filter = ("state",)
    search_fields = ("reference",)
    search_help_text = "The payout's ID at the bank, our reference, or last four digits of the account."
    search = IdSearch({"spo": "pk"}, last4="last4", exact="reference")
    fieldsets = (
        (None, {"fields": ("public_id", "reference", "payouts", "shown_amount", "state", "last4")}),
        ("Times", {"fields": ("due", "created")}),
    )
    payouts = column("Payout", lambda booked: search_link(Payout, f"po_{booked.reference}", "the payout that it is of"))


@admin.register(Entry)
class EntryAdmin(BaseAdmin):
    merchant_lookup = None
    list_display = ("kind", "shown_amount", "payment_link", "created")
    file_columns = ("id", "reference", *list_display)
    list_filter = ("kind",)
    list_select_related = ("payment",)
    search_fields = ("reference", "payment__reference")
    search_help_text = "The payment's ID, or our reference of it or of the operation."
    search = IdSearch({"sp": "payment_id"}, exact="reference payment__reference")
    fieldsets = ((None, {"fields": ("id", "reference", "kind", "shown_amount", "payment_link", "created")}),)
    shown_amount = money_column("amount", "payment")
    payment_link = OF_PAYMENT


ByDelivery = by(
    "delivery", done=("Delivered", Q(delivered_at__isnull=False)), due=("To be delivered", Q(delivered_at=None))
)


@admin.register(Message)
class MessageAdmin(BaseAdmin):
    merchant_lookup = None
    list_display = ("about", "due", "delivered", "created")
    file_columns = ("id", "body", "due", "delivered", "created")
    list_filter = (ByDelivery,)
    search_fields = ("body",)
    search_help_text = "Text of the message, such as our reference."
    fieldsets = ((None, {"fields": ("id", "body", "due", "delivered", "created")}),)
    about = column("Message", lambda message: capfirst(loads(message.body).get("kind", "")))
