"""The merchant's own approval limits, which its owners set."""

from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.approvals.forms import submitted
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.operators.approval_limits import ApprovalLimitAdmin, ApprovalLimitForm
from payments.admin.operators.pages import AmountField
from payments.domain.approvals.kinds.changes import Overtaken
from payments.domain.approvals.kinds.merchants import subject_of
from payments.domain.operators.four_eyes import Refused
from payments.merchant_site.policy import on_merchant_site
from payments.merchant_site.site import merchant_of
from payments.models import AMOUNT_MAX, ApprovalLimit, ApprovalRequest, Merchant


class MerchantLimitForm(ApprovalLimitForm):
    merchant: Merchant

    class Meta:
        model = ApprovalLimit
        fields = ("currency", "amount")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.merchant = self.merchant

    def clean(self) -> None:
        # The form has no field of the merchant, whose limits are one for each currency.
        same = ApprovalLimit.objects.filter(merchant=self.merchant, currency=self.cleaned_data.get("currency"))
        if same.exclude(pk=self.instance.pk).exists():
            self.add_error("currency", _("There is a limit for this currency. Change that one."))

    def clean_amount(self) -> int:
        amount = super().clean_amount()
        if self.instance.pk and amount > ApprovalLimit.objects.get(pk=self.instance.pk).amount:
            text = gettext("It takes another person to raise it: use “{button}” on its page.")
            raise forms.ValidationError(text.format(button=RaiseLimit.label))
        return amount


class RaiseLimit(Action):
    name, label, button = "raise", _("Raise the limit"), _("Request it")
    permission = "payments.change_approvallimit"
    for_merchants = True
    refusals = (Refused, Overtaken)
    what_happens = _("Another owner or kaha's staff must approve it. Until then the limit stays.")

    def form_for(self, row: ApprovalLimit, data: Any) -> ReasonForm:
        form = OnceForm(data)
        form.fields["amount"] = AmountField(row.currency, AMOUNT_MAX, row.amount + 1, label=_("Amount"))
        form.order_fields(["amount"])
        return form

    def about(self, row: ApprovalLimit) -> Facts:
        yield _("Limit"), money(row.amount, row.currency)

    def do(self, row: ApprovalLimit, cleaned: dict[str, Any]) -> Done:
        before, after = ({"currency": row.currency, "amount": amount} for amount in (row.amount, cleaned["amount"]))
        kind = ApprovalRequest.Kind.RAISE_LIMIT
        return submitted(row.merchant, kind, cleaned, after, before, subject_of(row))


@on_merchant_site(ApprovalLimit)
class MerchantLimits(ApprovalLimitAdmin):
    of = merchant_lookup = "merchant"
    form = MerchantLimitForm
    change_list_template = "merchant/approval_limits.html"
    noticed_fields = ()
    key_converter = "int"
    row_actions = (RaiseLimit(),)
    list_display_links = ("currency", "shown_amount")
    list_select_related = ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.merchant = merchant_of(request)
        return form

    def detail_of(self, obj: Any) -> str:
        return money(obj.amount, obj.currency)
