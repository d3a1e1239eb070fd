"""What each kind of message to payers says, with made-up data, in a merchant's colours: nothing is sent."""

from functools import partial
from typing import Any

from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp, csp_update
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin

from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import ActionButton, Part
from payments.domain.messages.example import example_of
from payments.domain.messages.kinds import KINDS, PAYMENT
from payments.ids import parse_id, public_id
from payments.models import Merchant, PayerMessage
from payments.models.merchants.merchant_access import within

PAGE, MAIL = "payments_payermessage_preview", "payments_payermessage_preview_mail"
LANGUAGES = {"en": "English", "fil": "Filipino"}
# A mail has its styles in itself, runs no script and asks for nothing.
OF_MAIL = {"default-src": [NONE], "style-src": [UNSAFE_INLINE], "frame-ancestors": [SELF], "sandbox": True}


class MessagePreview(Part):
    """The page with an example of each kind, which the list of messages and each of them lead to."""

    def urls(self, page: Any) -> list[URLPattern]:
        view = page.admin_site.admin_view
        shown, mail = csp_update({"frame-src": [SELF]}), csp(OF_MAIL)
        return [
            path("preview/", view(shown(partial(_show, page=page))), name=PAGE),
            path("preview/mail/", xframe_options_sameorigin(view(mail(partial(_show_mail, page=page)))), name=MAIL),
        ]

    def buttons(self, page: Any, request: HttpRequest, row: PayerMessage) -> list[ActionButton]:
        chosen = f"?kind={row.kind}&locale={row.locale}&merchant={public_id('mer', row.merchant_id)}"
        return [ActionButton("Preview", reverse(f"admin:{PAGE}") + chosen)] if row.kind in KINDS else []

    def buttons_above(self, page: Any, request: HttpRequest) -> list[ActionButton]:
        return [ActionButton("Preview", reverse(f"admin:{PAGE}"))]


def _show(request: HttpRequest, page: Any) -> HttpResponse:
    kind, merchant, locale = _chosen(request, page)
    context = page.admin_site.each_context(request) | {
        "opts": page.opts,
        "media": page.media,
        "title": "Preview of messages to payers",
        "kinds": [(name, each.label, name == kind) for name, each in KINDS.items()],
        "languages": [(name, label, name == locale) for name, label in LANGUAGES.items()],
        "of_merchant": merchant,
        "merchant_id": public_id("mer", merchant.pk),
        "mail": example_of(kind, merchant, locale),
        "sms": example_of(kind, merchant, locale, PayerMessage.Channel.SMS),
        "mail_at": f"{reverse(f'admin:{MAIL}')}?{request.GET.urlencode()}",
    }
    return TemplateResponse(request, "admin/payments/message_preview.html", context)


def _show_mail(request: HttpRequest, page: Any) -> HttpResponse:
    mail = example_of(*_chosen(request, page))
    return HttpResponse(mail.html if mail else "")


def _chosen(request: HttpRequest, page: Any) -> tuple[str, Merchant, str]:
    """Return the kind, the merchant, by default the operator's first by name, and the language that are asked for.

    Raise PermissionDenied for who may not see messages, and Http404 for what is none of them.
    """
    if not page.has_view_permission(request):
        raise PermissionDenied
    own = Merchant.objects.filter(within(limit_of(request), "pk")).order_by("title", "pk")
    if asked := request.GET.get("merchant"):
        own = own.filter(pk__in=[parse_id("mer", asked)])
    kind, merchant, locale = request.GET.get("kind", PAYMENT), own.first(), request.GET.get("locale", "en")
    if kind not in KINDS or merchant is None or locale not in LANGUAGES:
        raise Http404
    return kind, merchant, locale
