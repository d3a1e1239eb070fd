"""The pages of a checkout: the payer chooses a way to pay and pays, waits, or sees how it ended."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_http_methods, require_safe

from payments import clock
from payments.domain.catalogue import error_table
from payments.domain.checkout import payments
from payments.domain.checkout.payments import Choice
from payments.domain.messages.failures import CHECK_FAILURES, DECLINED, FAILURES, PAY_OTHERWISE, TRY_ANOTHER_CARD
from payments.domain.shared.errors import PaymentError
from payments.ids import short_reference
from payments.models import Charge, Checkout, Source
from payments.models.checkout.checkout import ATTEMPTS_MAX
from payments.pages.checkout import form as forms
from payments.pages.checkout import receipts
from payments.pages.checkout.context import Problem, shown_form
from payments.pages.checkout.form import PayForm
from payments.pages.checkout.order import asked_of, first_way, shop_address, shop_closed, shown_order
from payments.pages.limit import address_of_payer, limited
from payments.pages.payment import shown_facts, shown_return
from payments.pages.responses import SeeOther, for_payers, language_of_checkout, page, to_page, unknown_page
from payments.rendering.objects.checkout import payment_url
from payments.typed_text import read_whole_number
from payments.vault import VaultError

State = Checkout.State
REFRESH_SECONDS = 4
# The statuses of refusals; that of all others is 503.
REFUSED = {error_table.RATE_LIMITED: 429, error_table.SOURCE_TYPE_UNAVAILABLE: 422, error_table.INVALID_CHOICE: 422}
# Failures after which the same card fails again.
OF_THE_CARD = {"card_declined", "insufficient_funds", "lost_card", "stolen_card", "expired_card"}
ENDS = {State.PAID: "paid", State.AUTHORIZED: "paid", State.VOIDED: "voided", State.EXPIRED: "expired"}


@for_payers
@limited
@require_http_methods(["GET", "HEAD", "POST"])
def show_checkout(request: HttpRequest, token: str, prefix: str) -> HttpResponse:
    """Show a checkout as it is, and take the payer's choice."""
    checkout = _checkout_at(prefix, token)
    if checkout is None:
        return unknown_page(request)
    with override(language_of_checkout(request, checkout)):
        return _take(request, checkout) if request.method == "POST" else _shown(request, checkout)


@for_payers
@limited
@require_safe
def finish_checkout(request: HttpRequest, token: str, prefix: str) -> HttpResponse:
    """Lead a payer who has paid, or whose card is kept, back to the shop, and any other to the page.

    The issuer's page leads here whose card is to be kept.
    """
    checkout = _checkout_at(prefix, token, with_charge=False)
    if checkout is None:
        return unknown_page(request)
    # An earlier card's page may still be open, too.
    if checkout.check_url and request.GET.get("attempt") == str(checkout.attempts):
        payments.come_back(checkout, request.GET.dict(), address_of_payer())
        checkout.refresh_from_db(fields=["state"])
    return SeeOther(_after(checkout))


@for_payers
@limited
@require_http_methods(["GET", "HEAD", "POST"])
def show_receipt(request: HttpRequest, token: str, prefix: str) -> HttpResponse:
    """Give the payer of a paid checkout what its page says as one file, or send the receipt by e-mail."""
    checkout = _checkout_at(prefix, token)
    if checkout is None or checkout.state != State.PAID or not checkout.charge_list:
        return unknown_page(request)
    with override(language_of_checkout(request, checkout)):
        charge, back = checkout.charge_list[0], payment_url(checkout)
        return receipts.give(request, charge, back, "checkout/paid", lambda form: _end_context(checkout, "paid", form))


def _checkout_at(prefix: str, token: str, *, with_charge: bool = True) -> Checkout | None:
    """Return the checkout of an address, at which only IDs with this prefix are."""
    return payments.checkout_of_page(token, with_charge=with_charge) if token.startswith(f"{prefix}_") else None


def _after(checkout: Checkout) -> str:
    is_done = checkout.state in (State.PAID, State.AUTHORIZED)
    return (shop_address(checkout, "success_url") if is_done else "") or payment_url(checkout)


def _take(request: HttpRequest, checkout: Checkout) -> HttpResponse:
    """Take what the payer sent; a form that is not of the present state leads to the page, which shows that state."""
    if "otherwise" in request.POST:
        # The page of an earlier attempt may still be open.
        if request.POST["otherwise"] == str(checkout.attempts):
            payments.give_up(checkout)
        return _to_page(request, checkout)
    if checkout.state != State.UNPAID or checkout.merchant.is_closed:
        return _to_page(request, checkout)
    form = forms.read(request.POST.dict(), asked_of(checkout), clock.now())
    if form.errors:
        return _asked(request, checkout, form, status=422)
    choice = Choice(form.way, _attempt(request), form.card, form.owner, form.payer)
    try:
        address = _next(checkout, choice)
    except (PaymentError, VaultError) as error:
        return _refused(request, checkout, choice.attempt, form, error)
    return SeeOther(address) if address else _to_page(request, checkout)


def _to_page(request: HttpRequest, checkout: Checkout) -> HttpResponse:
    """Lead to the page of a checkout, which shows what is true now."""
    return to_page(request, payment_url(checkout))


def _attempt(request: HttpRequest) -> int:
    """Return the number of attempts when the form was shown; one that cannot be is of no form of ours."""
    try:
        return read_whole_number(request.POST.get("attempt", ""))
    except ValueError:
        return ATTEMPTS_MAX


def _next(checkout: Checkout, choice: Choice) -> str:
    """Pay, and return where the payer goes: to the bank, or to the shop; "" where the page says what is next."""
    done = f"{payment_url(checkout)}/done"
    if checkout.mode == Checkout.Mode.SAVE_CARD:
        payments.save_card(checkout, choice, address_of_payer())
        return checkout.check_url or (done if checkout.state == State.PAID else "")
    charge = payments.pay(checkout, choice, address_of_payer())
    if charge.status == Charge.Status.PENDING and charge.action:
        return str(charge.action["url"])
    return done if charge.status == Charge.Status.SUCCEEDED else ""


def _refused(
    request: HttpRequest, checkout: Checkout, attempt: int, form: PayForm, error: PaymentError | VaultError
) -> HttpResponse:
    code = error.code if isinstance(error, PaymentError) else ""
    if code in ("checkout_not_payable", "card_not_keepable") or payments.has_begun(checkout, attempt):
        # Sent twice, from a page that was left open, or refused after the provider was asked: the page shows what is
        # true now.
        return _to_page(request, checkout)
    match code:
        case error_table.RATE_LIMITED:
            title, advice = _("Too many attempts were declined"), _("Wait a few minutes, or contact the shop.")
        case error_table.SOURCE_TYPE_UNAVAILABLE | error_table.INVALID_CHOICE:
            title, advice = _("This way to pay is not available now"), _("Choose another way.")
        case _other if checkout.mode == Checkout.Mode.SAVE_CARD:
            return _asked(request, checkout, form, _problem(checkout, "processing_error"), REFUSED.get(code, 503))
        case _other:
            title = _("The payment could not be sent")
            advice = _("Try again in a moment, or choose another way to pay.")
    return _asked(request, checkout, form, Problem(title, f"{_('Nothing was paid.')} {advice}"), REFUSED.get(code, 503))


def _shown(request: HttpRequest, checkout: Checkout) -> HttpResponse:
    if checkout.state == State.PAYING:
        return _waiting(request, checkout)
    if checkout.state in ENDS:
        return _ended(request, checkout, ENDS[State(checkout.state)])
    if checkout.expires_at is not None and checkout.expires_at <= clock.now():
        return _ended(request, checkout, "expired")
    if checkout.merchant.is_closed:
        return _closed(request, checkout, *shop_closed())
    if checkout.attempts >= ATTEMPTS_MAX:
        return _ended(request, checkout, "exhausted")
    if not payments.can_keep_card(checkout):
        text = _("Another card does not help: the shop has no place for it. Contact the shop.")
        return _closed(request, checkout, _("The shop cannot keep your card"), text)
    failure = payments.last_failure(checkout) if checkout.attempts else None
    if failure is None:
        return ask(request, checkout)
    return _asked_again(request, checkout, *failure)


def ask(request: HttpRequest, checkout: Checkout) -> HttpResponse:
    """Show the form of a checkout as a payer sees it first."""
    return _asked(request, checkout, None)


def _asked(
    request: HttpRequest, checkout: Checkout, form: PayForm | None, problem: Problem | None = None, status: int = 200
) -> HttpResponse:
    """Show a form of a checkout, a blank one where there is none yet."""
    asked = asked_of(checkout)
    shown = shown_form(asked, form or forms.blank(asked, first_way(checkout)), problem)
    template = "checkout/request" if checkout.kind == Checkout.Kind.REQUEST else "checkout/pay"
    return page(request, template, shown_order(checkout) | shown, status, has_script=True)


def _asked_again(request: HttpRequest, checkout: Checkout, code: str, source: Source) -> HttpResponse:
    """Show the form after an attempt that failed: why, with the name on its card, and which card to replace."""
    form, card = forms.blank(asked_of(checkout), source.type), getattr(source, "card", None)
    if card:
        form.values["holder"] = card.name
        form.refused_card = card.last4 if code in OF_THE_CARD else ""
    return _asked(request, checkout, form, _problem(checkout, code))


def _problem(checkout: Checkout, code: str) -> Problem:
    """Return what a form says of a payment or a check that failed."""
    reason, advice = FAILURES.get(code, (DECLINED, PAY_OTHERWISE))
    if checkout.mode == Checkout.Mode.SAVE_CARD:
        reason, advice = CHECK_FAILURES.get(code, reason), TRY_ANOTHER_CARD
    return Problem(str(reason).removesuffix("."), f"{_('Nothing was paid.')} {advice}")


def _waiting(request: HttpRequest, checkout: Checkout) -> HttpResponse:
    charge = payments.waiting_charge(checkout)
    # Between two statements of another request there may be none.
    context = shown_order(checkout) | (shown_facts(charge) if charge else {})
    action = charge.action if charge else checkout.check_url and {"url": checkout.check_url}
    # Who has approved waits here: the shop may offer to pay once more.
    away = {} if action else {"cancel_url": ""}
    response = page(request, "checkout/paying", context | {"action": action} | away)
    response["Refresh"] = str(REFRESH_SECONDS)
    return response


def _ended(request: HttpRequest, checkout: Checkout, end: str) -> HttpResponse:
    return page(request, f"checkout/{end}", _end_context(checkout, end), 410 if end == "expired" else 200)


def _closed(request: HttpRequest, checkout: Checkout, title: str, text: str) -> HttpResponse:
    """Say why a checkout that is open cannot be paid."""
    return page(request, "checkout/closed", _end_context(checkout, "closed") | {"title": title, "text": text}, 410)


def _end_context(checkout: Checkout, end: str, form: PayForm | None = None) -> dict[str, Any]:
    charge = payments.last_charge(checkout)
    back = shop_address(checkout, "success_url" if end == "paid" else "cancel_url")
    is_paid = checkout.state == State.PAID
    return shown_order(checkout) | {
        **(receipts.offer(charge, f"{payment_url(checkout)}/receipt", form) if is_paid and charge else {}),
        "moment": checkout.updated_at,
        **(shown_facts(charge) | shown_return(charge) if charge else {}),
        "reference": short_reference(charge.id if charge else checkout.id),
        "cancel_url": "",
        "back_url": back,
        "paid": end == "paid",
        "is_invoice": checkout.kind == Checkout.Kind.REQUEST,
        "is_held": checkout.state == State.AUTHORIZED,
        "ended_at": _expired_at(checkout) if end == "expired" else checkout.updated_at,
    }


def _expired_at(checkout: Checkout) -> datetime:
    """Return when a checkout expired: at its time, or before it because the shop ended it."""
    ended = [checkout.updated_at] if checkout.state == State.EXPIRED else []
    return min([*ended, checkout.expires_at or checkout.updated_at])
