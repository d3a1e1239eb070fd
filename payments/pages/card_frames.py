"""Card fields in frames on pages of shops, and the script that puts them there."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, cast

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import condition, require_safe

from payments.domain.merchants.origins import frame_ancestors
from payments.pages.checkout import fields
from payments.pages.checkout.context import Box
from payments.pages.limit import limited
from payments.pages.responses import for_payers

# Each with what it says where the value is too short, and where it cannot be right.
FRAMED = {
    "cardNumber": (fields.NUMBER, fields.ALL_DIGITS, fields.DIGIT_DIFFERS),
    "cardExpiry": (fields.EXPIRES, fields.MONTH_AND_YEAR, fields.EXPIRED),
    "cardCvc": (fields.CVC, fields.ALL_OF_CVC, fields.ALL_OF_CVC),
}
SCRIPT = Path(__file__).parents[1] / "static" / "sdk" / "kaha.js"
# A version never changes: a page that names the hash of one must always get it.
VERSION, YEAR_SECONDS, MINUTES_SECONDS = "1", 365 * 24 * 3600, 300


@for_payers
@limited
@require_safe
def show_field(request: HttpRequest) -> HttpResponse:
    """Show one field of a card to be framed by pages of the origins of the publishable key, and by no others."""
    name = request.GET.get("field", "cardNumber")
    if name not in FRAMED:
        raise Http404
    key = request.GET.get("key", "")
    (field, short, unlike), ancestors = FRAMED[name], frame_ancestors(key)
    policy = {
        **{name: [SELF] for name in ("script-src", "style-src", "connect-src")},
        **{name: [NONE] for name in ("img-src", "form-action")},
        "frame-ancestors": ancestors or [NONE],
    }
    # The script uses the key that was looked at here, and reads no other.
    box = Box(field, field.name, field.autocomplete)
    shown = {"name": name, "key": key if ancestors else "", "box": box, "short": short, "unlike": unlike}
    show: Any = csp_replace(policy)(lambda request: render(request, "payer/card_frame.html", shown))
    answer = cast(HttpResponse, show(request))
    # As Django's own decorator marks an answer.
    vars(answer)["xframe_options_exempt"] = bool(ancestors)
    return answer


@cache
def _script() -> tuple[bytes, str]:
    """Return the script and its hash."""
    content = SCRIPT.read_bytes()
    return content, hashlib.sha256(content).hexdigest()


def _tag(request: HttpRequest, version: str = "") -> str:
    return f'"{_script()[1]}"'


@require_safe
@condition(etag_func=_tag)
def send_script(request: HttpRequest, version: str = "") -> HttpResponse:
    """Send the script, of one version or the newest; pages of every origin may check its hash."""
    lasts = f"max-age={YEAR_SECONDS}, immutable" if version else f"max-age={MINUTES_SECONDS}"
    headers = {"Cache-Control": f"public, {lasts}", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(_script()[0], content_type="text/javascript; charset=utf-8", headers=headers)
