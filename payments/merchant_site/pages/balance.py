"""The balance by currency, with the next payout of each."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from payments.admin.lists.mode import MODES, mode_of
from payments.ledger.balances import Balance, balances_of
from payments.merchant_site.next_payout import planned
from payments.merchant_site.site import merchant_of, merchant_site
from payments.models import PayoutSchedule
from payments.money import shown_amount


def balance_page(request: HttpRequest) -> HttpResponse:
    """Return the page of the balance in the chosen mode."""
    of = merchant_of(request).pk, MODES[mode_of(request)]
    coming = {schedule.currency: planned(schedule) for schedule in PayoutSchedule.objects.of(*of)}
    books = [(code, list(_amounts(each, code)), coming.get(code)) for code, each in balances_of(*of).items()]
    context = merchant_site.each_context(request) | {"title": _("Balance"), "books": books}
    return TemplateResponse(request, "merchant/balance.html", context)


def _amounts(balance: Balance, currency: str) -> Iterator[tuple[str, str, str]]:
    """Yield each part of a balance: its name, amount and meaning."""
    for name, amount, meaning in (
        (_("Available"), balance.available, _("settled, for the next payout")),
        (_("Pending"), balance.pending, _("captured, settled after the end of the day (UTC)")),
        (_("On its way"), balance.on_its_way, _("in payouts that are not paid yet")),
        (_("Reserved"), balance.reserved, _("kept of payouts for some days")),
        (_("Held"), balance.held, _("of holds; not yours before you capture them")),
    ):
        yield name, shown_amount(amount, currency), meaning
