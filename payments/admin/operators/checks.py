"""What kaha has looked at before money goes back: good news and bad, for who decides on a request."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from payments import clock
from payments.admin.framework.formats import money
from payments.domain.operators.duplicates import same_card
from payments.ids import first_id
from payments.ledger.balances import Balance, balances_of
from payments.models import Charge, Refund

# Refunds to the same card within this time are named.
SEEN_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Check:
    """A fact that was looked at, and whether it speaks for the request."""

    is_good: bool
    text: str


def checks_of(charge: Charge, amount: int) -> Iterator[Check]:
    """Yield what speaks for and against giving `amount` of a charge back to its payer."""

    def shown(sum_: int) -> str:
        return money(sum_, charge.currency)

    if charge.amount_refunded:
        text = _("{amount} of this payment was refunded before").format(amount=shown(charge.amount_refunded))
        yield Check(False, text)
    else:
        yield Check(True, _("Nothing of this payment was refunded before"))
    if charge.disputes.exists():
        yield Check(False, _("The bank has disputed it: the payer may get the money twice"))
    else:
        yield Check(True, _("The bank has not disputed it"))
    balance = balances_of(charge.merchant_id, charge.livemode).get(charge.currency, Balance())
    yield _of_balance(charge, balance.available + balance.pending, amount)
    yield from _other_refunds(charge)


def _of_balance(charge: Charge, there: int, amount: int) -> Check:
    words = {"merchant": charge.merchant.title, "amount": money(there, charge.currency)}
    if there >= amount:
        return Check(True, _("The balance of {merchant} covers it: {amount}").format(**words))
    return Check(False, _("The balance of {merchant} does not cover it: {amount}").format(**words))


def _other_refunds(charge: Charge) -> Iterator[Check]:
    """Yield the other refunds to the same card, of the same merchant."""
    sources: Any = same_card(charge)
    if sources is None:
        return
    rows = Refund.objects.filter(charge__source__in=sources, currency=charge.currency).exclude(charge=charge)
    rows = rows.filter(id__gte=first_id(clock.now() - SEEN_FOR)).exclude(status=Refund.Status.FAILED)
    found = rows.aggregate(count=Count("id"), total=Sum("amount"))
    if not found["count"]:
        yield Check(True, _("Nothing else went back to this card within 30 days"))
        return
    text = ngettext(
        "{count} other refund to this card within 30 days: {amount}",
        "{count} other refunds to this card within 30 days: {amount}",
        found["count"],
    )
    yield Check(False, text.format(count=found["count"], amount=money(found["total"], charge.currency)))
