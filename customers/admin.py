"""The pages of customers, the form that detaches a source, and their panel beside a charge's timeline."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from customers.domain import kept_sources
from customers.domain.verbs import DETACH
from customers.models import Customer, CustomerSource
from payments.admin.charges.sources import SHOWN_CHARGES, charge_line
from payments.admin.columns import UNNAMED
from payments.admin.contacts import People, Person, mail_link, people_of_source, phone_link
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, id_link_column, lines, link, search_link, source_label
from payments.admin.framework.id_search import ANY_ENTRY, EntrySearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.timeline.panels import Panel, panel_with, timeline_panel
from payments.domain.shared.errors import PaymentError
from payments.ids import public_id
from payments.merchant_site.policy import on_merchant_site
from payments.models import Charge, Event, Source
from payments.search import find


class SourceForm(ReasonForm):
    source = forms.ChoiceField(label=_("Source"), widget=forms.RadioSelect({"class": "radiolist"}))


class DetachSource(Action, verb=DETACH):
    for_merchants = True
    refusals = (PaymentError,)

    def fits(self, customer: Customer) -> bool:
        return customer.ties.filter(detached_at=None).exists()

    def form_for(self, customer: Customer, data: Any) -> ReasonForm:
        form = SourceForm(data)
        source: Any = form.fields["source"]
        kept = customer.ties.filter(detached_at=None).select_related("source__card").order_by("-id")
        source.choices = [(str(tie), f"{source_label(tie.source)}") for tie in kept]
        return form

    def about(self, customer: Customer) -> Facts:
        yield _("Customer"), customer.email or customer.mobile_number or UNNAMED
        yield from super().about(customer)

    def do(self, customer: Customer, cleaned: dict[str, Any]) -> Done:
        kept_sources.detach_for_operator(customer, cleaned["source"])
        return gettext("{source} is detached, and its card data destroyed.").format(source=cleaned["source"])


ByPresence = by(
    "state", present=(_("Active"), Q(deleted_at__isnull=True)), deleted=(_("Deleted"), Q(deleted_at__isnull=False))
)


class SourcesInline(ReadOnlyInline):
    """The sources that are or were kept for the customer."""

    model = CustomerSource
    fields = ("of_source", "label", "attached", "detached")
    for_merchants = "of_source label attached detached"
    ordering = ("-pk",)
    show_change_link = False
    of_source = id_link_column("source", "src", Source)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("source__card")

    @admin.display(description=_("Type"))
    def label(self, tie: CustomerSource) -> str:
        return source_label(tie.source)


@admin.register(Customer)
class CustomerAdmin(BaseAdmin):
    for_merchants = "who description standing email deleted mobile_number charge_links shown_metadata presence"
    records_views = True
    row_actions = (DetachSource(),)
    list_display = ("who", "description", "merchant", "standing", "created", "mode")
    file_columns = ("public_id", "email", "description", "merchant", "mode", "created", "deleted")
    list_filter = (ByPresence, ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("email", "mobile_number")
    search_help_text = ANY_ENTRY
    search = EntrySearch(
        {
            "cus": "pk",
            "src": "ties__source_id",
            "card": "ties__source__card__pk",
            "ch": "ties__source__charges__pk",
            "re": "ties__source__charges__refunds__pk",
            "mer": "merchant_id",
        },
        objects="pk ties__source_id ties__source__charges__pk",
        last4="ties__source__card__last4",
        entries=find.customers,
    )
    fieldsets = (
        (None, {"fields": ("public_id", "description", "email", "mobile_number", "mode", "charge_links", "events")}),
        (_("As sent"), {"fields": ("shown_metadata",)}),
        (_("Times"), {"fields": ("created", "updated", "deleted", "of_merchant", "version")}),
    )
    parts = (People(),)
    inlines = (SourcesInline,)
    who = column(_("Customer"), lambda customer: customer.email or customer.mobile_number or UNNAMED)
    standing = column(
        _("State"), lambda row: chip(_("deleted"), "quiet") if row.deleted_at else chip(_("active"), "good")
    )

    def headline(self, row: Customer) -> str:
        return row.email or row.mobile_number or gettext("Customer of {merchant}").format(merchant=row.merchant)

    @admin.display(description=_("Charges"))
    def charge_links(self, customer: Customer) -> SafeString | str:
        """Return links to the newest charges on the customer's sources, kept or not."""
        sources = list(customer.ties.values_list("source_id", flat=True))
        newest = Charge.objects.filter(source_id__in=sources).order_by("-id")[:SHOWN_CHARGES]
        return lines(map(charge_line, newest))

    @admin.display(description=_("Events"))
    def events(self, customer: Customer) -> SafeString:
        return search_link(Event, public_id("cus", customer.id), gettext("its events"))


on_merchant_site(Customer)(CustomerAdmin)


@people_of_source
def customer_person(request: HttpRequest, source: Source) -> Iterator[Person]:
    """Yield the customer for whom `source` is or was kept."""
    if source.customer_id and request.user.has_perm("customers.view_customer"):
        customer = Customer.objects.get(pk=source.customer_id)
        reached = filter(None, (mail_link(customer.email), phone_link(customer.mobile_number)))
        name = customer.description or customer.email
        yield Person(gettext("Customer"), name, link(Customer, customer.pk, name), list(reached))


@timeline_panel
def customer_panel(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> Panel | None:
    """Return the other charges of the customer; None without one, or without permission to see customers."""
    customer_id = charge.source.customer_id
    if customer_id is None or not request.user.has_perm("customers.view_customer"):
        return None
    kept = CustomerSource.objects.filter(customer=customer_id)
    return panel_with(gettext("Other charges of the customer"), charges.filter(source__in=kept.values("source")))
