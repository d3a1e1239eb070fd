"""What operators do about a customer: give up a source that was kept for them, as the payer asked."""

from typing import Any

from django import forms
from django.db import transaction

from customers.domain import keeping
from customers.models import Customer
from payments.admin.framework.formats import source_label
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.framework.row_actions import Done, RowAct
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError
from payments.ids import public_id

WHAT_HAPPENS = (
    "The source cannot be charged any more, and its card data is destroyed. The merchant is told by an event. "
    "Charges that were made stay. There is no way back."
)


class SourceForm(ReasonForm):
    source = forms.ChoiceField(widget=forms.RadioSelect({"class": "radiolist"}))


class DetachSource(RowAct):
    name, label = "detach_source", "Detach a source"
    permission = "customers.delete_customersource"
    refusals = (PaymentError,)

    def fits(self, customer: Customer) -> bool:
        return customer.ties.filter(detached_at=None).exists()

    def form_for(self, customer: Customer, data: Any) -> ReasonForm:
        form = SourceForm(data)
        source: Any = form.fields["source"]
        kept = customer.ties.filter(detached_at=None).select_related("source__card").order_by("-id")
        source.choices = [(str(tie), f"{source_label(tie.source)} ({tie})") for tie in kept]
        return form

    def facts(self, customer: Customer) -> Facts:
        yield "Customer", f"{customer}, {customer.email}"
        yield "Merchant", customer.merchant.title
        yield "What happens", WHAT_HAPPENS

    @transaction.atomic
    def do(self, customer: Customer, said: dict[str, Any]) -> Done:
        caller = Caller(customer.merchant_id, customer.livemode)
        keeping.detach(caller, public_id("cus", customer.pk), said["source"])
        audit_log.record(Action.CHANGED, customer, fields=["sources"], detail=f"{said['source']} detached")
        return f"{said['source']} is detached, and its card data destroyed."
