"""The merchant's own approval limits, which its owners set."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from payments.admin.framework.formats import money
from payments.admin.operators.approval_limits import ApprovalLimitAdmin, ApprovalLimitForm
from payments.merchant_site.pages.base import OfMerchant
from payments.merchant_site.site import merchant_of, merchant_site
from payments.models import ApprovalLimit, Merchant


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
            self.add_error("currency", "There is a limit for this currency. Change that one.")


@admin.register(ApprovalLimit, site=merchant_site)
class MerchantLimits(OfMerchant, ApprovalLimitAdmin):
    of = merchant_lookup = "merchant"
    form = MerchantLimitForm
    change_list_template = "merchant/approval_limits.html"
    noticed_fields = ()
    list_display = list_display_links = ("currency", "shown_amount")
    list_filter = ()
    list_select_related = ()

    def get_fields(self, request: Any, obj: Any = None) -> Any:
        return [name for name in super().get_fields(request, obj) if name != "role"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.merchant = merchant_of(request)
        return form

    def detail_of(self, obj: Any) -> str:
        return money(obj.amount, obj.currency)
