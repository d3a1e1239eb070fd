"""Responses for payers: a strict content policy, no caching, and the language of the browser."""

from collections.abc import Callable
from functools import wraps
from io import BytesIO
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlsplit

import segno
from csp.constants import NONCE, NONE, SELF
from csp.decorators import csp, csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.csrf import csrf_exempt

from payments.models import Checkout
from payments.pages.payment import image_origins

Params = ParamSpec("Params")
View = Callable[Concatenate[HttpRequest, Params], HttpResponse]

POLICY = {
    "default-src": [NONE],
    "style-src": [SELF, NONCE],
    "img-src": [SELF, "data:"],
    # It also governs the redirects after a form, which end at any merchant's URL.
    "form-action": [SELF, "https:", "http:"],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Language",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


# Filipino and Tagalog are two codes for the language that the pages have; browsers send either.
LANGUAGES = {"fil": "fil", "tl": "fil", "en": settings.LANGUAGE_CODE}


def language_of(request: HttpRequest) -> str:
    """Return the language that the payer chose by `?lang=`, else the first of `Accept-Language` (RFC 9110, 12.5.4) that
    the pages have, else English.
    """
    accepted = parse_accept_lang_header(request.headers.get("Accept-Language", ""))
    wanted = (request.GET.get("lang", ""), *(code.partition("-")[0] for code, _ in accepted))
    return next((LANGUAGES[code] for code in wanted if code in LANGUAGES), settings.LANGUAGE_CODE)


def language_of_checkout(request: HttpRequest, checkout: Checkout | None) -> str:
    """Return the language that the payer chose, else the one that the order names, if any, else the browser's."""
    wanted = (request.GET.get("lang", ""), checkout.order.get("locale", "") if checkout else "")
    return next((LANGUAGES[code] for code in wanted if code in LANGUAGES), language_of(request))


class SeeOther(HttpResponseRedirectBase):
    """303 (RFC 9110, 15.4.4): the browser continues with a GET at a whole address.

    A path is none: on a product's own host it is the address of another page.
    """

    status_code = 303

    def __init__(self, address: str) -> None:
        if not urlsplit(address).scheme:
            raise ValueError(f"{address} is no whole address")
        super().__init__(address)


def to_page(request: HttpRequest, address: str) -> SeeOther:
    """Lead the payer to one of our pages, in the language that was chosen by `?lang=`."""
    chosen = request.GET.get("lang", "")
    return SeeOther(f"{address}?lang={chosen}" if chosen in LANGUAGES else address)


def for_payers(view: View[Params]) -> View[Params]:
    """Answer in the payer's language, with the headers of a payer's page.

    Django's CSRF check is off, because it needs a cookie: the unguessable address of the page is the protection.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        with override(language_of(request)):
            response = view(request, *args, **kwargs)
        for name, value in HEADERS.items():
            response[name] = value
        if getattr(response, "xframe_options_exempt", False):
            # Browsers without `frame-ancestors` know no list of origins.
            del response["X-Frame-Options"]
        return response

    with_policy: Any = csrf_exempt(csp(POLICY)(answer))
    with_policy.is_for_payers = True
    return cast(View[Params], with_policy)


def page(
    request: HttpRequest,
    name: str,
    context: dict[str, Any] | None = None,
    status: int = 200,
    *,
    has_script: bool = False,
) -> HttpResponse:
    """Return the page of the template `payer/<name>.html`, which may load the merchant's logo, and a script of ours."""
    shown = {"request": request, "is_preview": getattr(request, "is_preview", False), **(context or {})}
    if not (shown["is_preview"] or "style_sheet" in shown):
        shown["other_language"] = "en" if get_language() == "fil" else "fil"
    policy = csp_update({"img-src": image_origins(shown)} | ({"script-src": [SELF]} if has_script else {}))
    # Without Django's context processors, of which no such page shows anything.
    show: Any = policy(lambda _: HttpResponse(render_to_string(f"payer/{name}.html", shown), status=status))
    return cast(HttpResponse, show(request))


def qr_code_of(text: str) -> HttpResponse:
    """Return `text` as a QR code (ISO/IEC 18004) in SVG."""
    image = BytesIO()
    segno.make_qr(text).save(image, kind="svg", scale=6, light="white")
    return HttpResponse(image.getvalue(), content_type="image/svg+xml")


def unknown_page(request: HttpRequest) -> HttpResponse:
    """Return the 404 page for an address that belongs to no payment."""
    return page(request, "unknown", status=404)
