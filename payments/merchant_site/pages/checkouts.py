"""Links with their QR codes, and the sessions and requests."""

from typing import Any
from uuid import UUID

from csp.decorators import csp
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.checkout.checkouts import CheckoutAdmin
from payments.admin.checkout.links import PaymentLinkAdmin
from payments.admin.framework.formats import NOTHING, column
from payments.admin.framework.object_actions import ActionButton
from payments.domain.checkout.payments import description_of
from payments.merchant_site.checkout.form_pages import Makes
from payments.merchant_site.checkout.forms import LinkForm, RequestForm, SessionForm
from payments.merchant_site.policy import on_merchant_site
from payments.models import Checkout, PaymentLink
from payments.pages.checkout.link import poster
from payments.pages.responses import POLICY, qr_code_of
from payments.rendering.objects.checkout import payment_url
from payments.rendering.objects.payment_links import link_url


@on_merchant_site(Checkout)
class MerchantCheckouts(Makes, CheckoutAdmin):
    makes = {"request": RequestForm, "checkout": SessionForm}
    what_for = column(_("For"), lambda checkout: description_of(checkout) or NOTHING)

    def address_of(self, row: Checkout) -> str:
        return payment_url(row)


@on_merchant_site(PaymentLink)
class MerchantLinks(Makes, PaymentLinkAdmin):
    makes = {"link": LinkForm}

    def address_of(self, row: PaymentLink) -> str:
        return link_url(row)

    def get_urls(self) -> list[URLPattern]:
        view: Any = self.admin_site.admin_view
        return [
            path("<uuid:pk>/qr/", csp(POLICY)(view(self.show_poster)), name="payments_paymentlink_qr"),
            path("<uuid:pk>/qr.svg", view(self.send_code), name="payments_paymentlink_code"),
            *super().get_urls(),
        ]

    def buttons_of(self, request: HttpRequest, row: PaymentLink) -> list[ActionButton]:
        code = ActionButton(gettext("QR code to print"), reverse("admin:payments_paymentlink_qr", args=[row.pk]))
        return [code, *super().buttons_of(request, row)]

    def show_poster(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Show a sheet of paper with the QR code of a link."""
        row = self._row(request, pk)
        addresses = {
            "address": link_url(row),
            "back": reverse("admin:payments_paymentlink_change", args=[pk]),
            "code": reverse("admin:payments_paymentlink_code", args=[pk]),
        }
        return poster(request, row, addresses)

    def send_code(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Send the QR code of the address of a link as SVG."""
        return qr_code_of(link_url(self._row(request, pk)))

    def _row(self, request: HttpRequest, pk: UUID) -> Any:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return get_object_or_404(self.get_queryset(request), pk=pk)
