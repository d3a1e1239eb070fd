"""The page of the business itself: how payers see it, and its receipts."""

from typing import Any, ClassVar

from csp.constants import SELF
from csp.decorators import csp_update
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.actions import page_of
from payments.admin.framework.id_search import IdSearch
from payments.admin.merchants.merchant_form import MerchantForm
from payments.admin.merchants.merchants import MerchantAdmin
from payments.merchant_site.pages.developers import WHY
from payments.merchant_site.policy import on_merchant_site
from payments.merchant_site.site import merchant_of
from payments.models import Merchant
from payments.pages.checkout.example import show_example


class BusinessForm(MerchantForm):
    reason = None  # type: ignore[assignment]

    class Meta(MerchantForm.Meta):
        fields: Any = tuple(name for name in MerchantForm.Meta.fields if name != "status")


@on_merchant_site(Merchant, given_reason=WHY)
class Business(MerchantAdmin):
    for_merchants = (
        "title account_name statement_descriptor shown_status status business_address support_email support_phone "
        "send_receipts kept_bodies payment_methods fees "
        "pictures use_logo brand_color accent_color"
    )
    called: Any = (_("business"), _("business"))
    has_one_row = True
    form = BusinessForm
    stored_fields = BusinessForm.Meta.fields
    search = IdSearch({"mer": "pk"})
    change_form_template = "merchant/business.html"
    head_columns = ("public_id",)
    views = {"payments_merchant_preview": ("<uuid:pk>/preview/", "show_preview")}
    fieldsets: ClassVar[Any] = (
        (_("Business"), {"fields": ("title", "account_name", "statement_descriptor", "business_address")}),
        (_("Payers"), {"fields": ("support_email", "support_phone", "send_receipts", "pictures")}),
        (_("Developers"), {"fields": ("kept_bodies",)}),
        (_("Terms"), {"fields": ("payment_methods", "fees")}),
    )
    readonly_fields = [name for name in flatten_fieldsets(fieldsets) if name not in BusinessForm.base_fields]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Lead to the page of the one merchant that the list has."""
        return redirect(page_of(merchant_of(request)))

    @method_decorator(csp_update({"frame-src": [SELF]}))
    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(request, *args, **kwargs)

    def beside_row(self, request: HttpRequest, row: Merchant) -> dict[str, Any]:
        address = reverse("admin:payments_merchant_preview", args=[row.pk])
        shown = super().beside_row(request, row)
        # The form comes before the actions.
        return shown | {"acts": shown["acts"][::-1], "preview": address if self.may_change(request, row) else ""}

    def show_preview(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Show the page of a payment with the stored values, or with those that a form sends."""
        if not self.may_change(request):
            raise PermissionDenied
        merchant = get_object_or_404(self.get_queryset(request), pk=pk)
        if request.method == "POST":
            # It gives the merchant the values that are right, and saves none.
            BusinessForm(request.POST, instance=merchant).full_clean()
        return show_example(request, merchant)
