"""The site of the merchants' own people."""

from collections.abc import Hashable, Mapping, Sequence
from functools import wraps
from typing import Any, cast

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, path

from payments.api.access.authentication import MERCHANT_OF_REQUEST
from payments.db.backend.row_security import rows_of
from payments.merchant_site.form_owner import refusal_of
from payments.merchant_site.membership import memberships_of, open_membership, switch_merchant
from payments.models import Merchant, MerchantAccess
from payments.staff.admin_site.navigation import Section, section
from payments.staff.admin_site.site import PeopleSite

# What an address calls the key of its row.
KEYS = ("pk", "object_id")
# The navigation counts no more requests that wait.
COUNTED = 100
SECTIONS: Mapping[str, Sequence[Section]] = {
    "": (section("Home", "home", "index"),),
    "Payments": (
        section("Payments", "card", "charge refund charge?money=held"),
        section("Checkout", "shop", "checkout paymentlink"),
        section("Customers", "people", "customers.customer payermessage"),
        section("Disputes", "flag", "dispute"),
        section("Approvals", "inbox", "payments_approvalrequest_waiting operatoraction approvalrequest assistantcall"),
    ),
    "Money": (
        section("Payouts", "bank", "payout balance payoutaccount payoutschedule"),
        section("Reports", "report", "statement fileschedule"),
    ),
    "Shop": (
        section("Developers", "code", "apikey webhookendpoint webhook event apirequest webhooksecret rehearse"),
        section("Settings", "sliders", "merchant merchantaccess approvallimit"),
    ),
}


class MerchantSite(PeopleSite):
    """Admits those who work for a merchant and are no operators.

    All but a form is answered behind both walls. A form is the service's, because what it does is: it must be of the
    merchant that is open, and its rows are looked for behind both walls first.
    """

    prefix, setting_prefix, sections = "/merchant/", "MERCHANT", SECTIONS
    is_for_operators = False
    index_template = "merchant/home.html"

    @property
    def urlconf(self) -> str:
        return "config.merchant_urls"

    def admits(self, request: HttpRequest) -> bool:
        return request.user.is_authenticated and open_membership(request) is not None

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def walled(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
            if not self.has_permission(request):
                return inner(request, *args, **named)
            # All people of a merchant wait in one line, which is not that of its programs.
            request.META[MERCHANT_OF_REQUEST] = self.holder_of(request)
            # A form with a file is looked at by its page, which says first how much it takes.
            if not getattr(view, "csrf_exempt", False) and (refusal := self.refusal_of(request)):
                return refusal
            with rows_of(merchant_of(request).id):
                self._look_for_rows(request)
                if request.method != "POST":
                    response = inner(request, *args, **named)
                    # Otherwise the page would be written after the transaction.
                    return response.render() if hasattr(response, "render") else response
            return inner(request, *args, **named)

        return walled

    def holder_of(self, request: HttpRequest) -> Hashable:
        """Return the merchant: all its people together hold the place of one."""
        return "people", merchant_of(request).id

    def refusal_of(self, request: HttpRequest) -> HttpResponseBase | None:
        return refusal_of(request, self.each_context)

    def _look_for_rows(self, request: HttpRequest) -> None:
        """Raise Http404 unless the merchant has the rows that an address and a list's form name."""
        match: Any = request.resolver_match
        keys = {str(match.kwargs[name]) for name in KEYS if name in match.kwargs}
        # A form with a file is read by its page, which says first how much it takes.
        if str(match.url_name).endswith("_changelist"):
            keys |= set(request.POST.getlist(ACTION_CHECKBOX_NAME))
        for page in self.pages() if keys else ():
            if f"/{match.route}".startswith(f"{self.prefix}{page.opts.app_label}/{page.opts.model_name}/"):
                try:
                    found = page.get_queryset(request).filter(pk__in=keys).count()
                except (ValidationError, ValueError):
                    raise Http404 from None
                if found != len(keys):
                    raise Http404

    def get_urls(self) -> list[URLPattern | URLResolver]:
        return [path("switch/", self.admin_view(switch_merchant), name="switch_merchant"), *super().get_urls()]

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        from payments.merchant_site.home import home

        return super().index(request, home(request, merchant_of(request)) | (extra_context or {}))

    def frame(self, request: HttpRequest) -> dict[str, Any]:
        from payments.inbox.decisions import decidable

        merchant = merchant_of(request)
        waiting = decidable(cast(User, request.user), frozenset({merchant.pk}))[:COUNTED]
        shown = {"memberships": memberships_of(request), "merchant": merchant, "open_entries": waiting.count}
        return super().frame(request) | shown


def membership_of(request: HttpRequest) -> MerchantAccess:
    """Return the signed-in user's access to the merchant whose site they have open; the site admits nobody without."""
    return cast(MerchantAccess, cast(Any, request.user).membership)


def merchant_of(request: HttpRequest) -> Merchant:
    """Return the merchant whose site the signed-in user has open."""
    return membership_of(request).merchant


# The pages have the names that the back office has.
merchant_site = MerchantSite(name="admin")
