"""The receipt of a captured charge for its payer: the page that says so as a file, or once by e-mail."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language

from payments.domain.messages import receipts
from payments.domain.messages.outbox import is_ready
from payments.models import Charge, PayerMessage
from payments.pages.checkout import fields
from payments.pages.checkout.context import shown_field
from payments.pages.checkout.form import PayForm, read_one
from payments.pages.responses import page, to_page

STYLE_SHEET = "payments/static/payments/payer.css"


def offer(charge: Charge, address: str, form: PayForm | None = None) -> dict[str, Any]:
    """Return the context of what a page offers: a file at `address`, and a mail to the address in `form`."""
    is_mailed = receipts.is_asked_for(charge)
    is_offered = (
        not is_mailed
        and charge.status == Charge.Status.SUCCEEDED
        and is_ready(charge.livemode, PayerMessage.Channel.EMAIL)
    )
    return {
        "receipt_url": address,
        "is_mailed": is_mailed,
        "mail_to": shown_field(form or PayForm(""), fields.EMAIL) if is_offered else None,
    }


def give(
    request: HttpRequest, charge: Charge, back: str, template: str, context: Callable[[PayForm | None], dict[str, Any]]
) -> HttpResponse:
    """Return the page as a file; of a form, send the receipt to the address in it and lead `back` to the page."""
    if request.method != "POST":
        return _saved(request, template, context(None))
    form = read_one(request.POST.dict(), fields.EMAIL)
    if form.errors:
        return page(request, template, context(form), 422)
    if is_ready(charge.livemode, PayerMessage.Channel.EMAIL):
        receipts.send_as_asked(charge, form.values["email"], "fil" if get_language() == "fil" else "en")
    return to_page(request, back)


def _saved(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the page as one file with all that it needs."""
    css = (settings.BASE_DIR / STYLE_SHEET).read_text(encoding="utf-8")
    response = page(request, template, context | {"style_sheet": css, "receipt_url": "", "back_url": ""})
    reference = context["reference"].replace(" ", "")
    response["Content-Disposition"] = f'attachment; filename="receipt-{reference}.html"'
    return response
