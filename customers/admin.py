from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from customers import dossier  # noqa: F401  tells charges' pages of customers
from customers.detaching import DetachSource
from customers.models import Customer, CustomerSource
from customers.searching import sources_by_email
from payments.admin.charges.search import SOURCE_SEARCHES
from payments.admin.charges.sources import SHOWN_CHARGES
from payments.admin.framework.base import ByMode, LookOnlyAdmin, LookOnlyInline, by
from payments.admin.framework.change_audit import Seen
from payments.admin.framework.formats import (
    id_column,
    id_link_column,
    json_column,
    lines,
    link,
    moment_column,
    money,
    search_link,
    source_label,
)
from payments.admin.framework.row_actions import RowActs
from payments.ids import public_id
from payments.models import Charge, Event, Source

SOURCE_SEARCHES.append(sources_by_email)


ByPresence = by(
    "presence",
    present=("Present", Q(deleted_at__isnull=True)),
    deleted=("Deleted", Q(deleted_at__isnull=False)),
)


class SourcesInline(LookOnlyInline):
    """The sources that are or were kept for the customer."""

    model = CustomerSource
    fields = ("of_source", "label", "attached", "detached")
    ordering = ("-pk",)
    show_change_link = False
    of_source = id_link_column("source", "src", Source)
    attached = moment_column("attached_at")
    detached = moment_column("detached_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("source__card")

    @admin.display(description="Type")
    def label(self, tie: CustomerSource) -> str:
        return source_label(tie.source)


@admin.register(Customer)
class CustomerAdmin(RowActs, Seen, LookOnlyAdmin):
    merchant_lookup = "merchant"
    row_acts = (DetachSource(),)
    list_display = ("public_id", "email", "description", "merchant", "mode", "created", "deleted")
    list_filter = (ByPresence, ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("email", "mobile_number")
    search_help_text = "Any ID, whole, or part of an address or mobile number."
    uuid_lookups = {
        "cus": ("pk",),
        "src": ("ties__source_id",),
        "card": ("ties__source__card__pk",),
        "ch": ("ties__source__charges__pk",),
        "re": ("ties__source__charges__refunds__pk",),
        "mer": ("merchant_id",),
    }
    object_lookups = ("pk", "ties__source_id", "ties__source__charges__pk")
    last4_lookups = ("ties__source__card__last4",)
    fieldsets = (
        (None, {"fields": ("public_id", "email", "mobile_number", "description", "of_merchant", "mode")}),
        ("Belongs to it", {"fields": ("charge_links", "events", "version")}),
        ("As sent", {"fields": ("shown_metadata",)}),
        ("Times", {"fields": ("created", "updated", "deleted")}),
    )
    inlines = (SourcesInline,)
    public_id = id_column("cus")
    deleted = moment_column("deleted_at")
    shown_metadata = json_column("metadata")

    @admin.display(description="Charges")
    def charge_links(self, customer: Customer) -> SafeString | str:
        """The newest on all sources that are or were kept; the sources are read first, for their charges' index."""
        sources = list(customer.ties.values_list("source_id", flat=True))
        newest = Charge.objects.filter(source_id__in=sources).order_by("-id")[:SHOWN_CHARGES]
        return lines(link(Charge, row.id, f"{row} {money(row.amount, row.currency)} {row.status}") for row in newest)

    @admin.display(description="Events")
    def events(self, customer: Customer) -> SafeString:
        return search_link(Event, public_id("cus", customer.id), "its events")
