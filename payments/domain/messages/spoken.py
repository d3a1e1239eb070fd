"""What staff may read aloud to a payer who calls about a payment."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.dateformat import format as format_date
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from payments.domain.messages.failures import DECLINED, FAILURES, PAY_OTHERWISE
from payments.models import Charge, Dispute, Refund
from payments.money import shown_amount

PAID = _("Your payment of {amount} to {merchant} went through on {day}.")
HELD = _("{amount} is reserved for {merchant}, and nothing is taken yet. The reservation ends on {day}.")
TO_CONFIRM = _("Your payment of {amount} to {merchant} waits for you to confirm it.")
LOOKED_UP = _("Your payment of {amount} to {merchant} is still being confirmed with your bank.")
NOT_TWICE = _("Please do not pay a second time.")
FAILED = _("Your payment of {amount} to {merchant} did not go through on {day}.")
NOTHING_PAID = _("Nothing was paid.")
LATE = _("Money that arrived afterwards goes back to you.")
CANCELLED = _("Your payment of {amount} to {merchant} was cancelled.")
SOME_DAYS = _("Your bank or wallet may need some days until it shows the money.")
DISPUTED = _("Your bank looks into your dispute of it, and lets you know the result.")
DECIDED = _("Your dispute of it has ended, and your bank lets you know the result.")
STATEMENT = _("On your statement it reads {descriptor}.")
SENT_BACK = _("{amount} of it was sent back on {day}.")
ON_ITS_WAY = _("A refund of {amount} is on its way.")
NOT_SENT_BACK = _("A refund of {amount} did not go through.")


def spoken(charge: Charge, refunds: Sequence[Refund], disputes: Iterable[Dispute], locale: str) -> str:
    """Return what staff may say to the payer of `charge`, in the language of `locale`, "en" or "fil"."""
    with override(locale):
        amount = charge.amount_captured if charge.captured else charge.amount
        known = {
            "amount": shown_amount(amount, charge.currency),
            "merchant": charge.merchant.title,
            "day": _moment(charge.hold_expires_at if charge.authorized else charge.created_at),
            "descriptor": charge.statement_descriptor,
        }
        standing = [str(sentence).format(**known) for sentence in _standing(charge)]
        disputed = [DISPUTED if dispute.status in Dispute.OPEN else DECIDED for dispute in disputes][-1:]
        statement = [STATEMENT.format(**known)] if charge.captured or charge.authorized else []
        return " ".join(map(str, [*standing, *_refunded(charge, refunds), *disputed, *statement]))


def _standing(charge: Charge) -> Sequence[object]:
    match charge.status:
        case Charge.Status.PENDING:
            return (TO_CONFIRM,) if charge.action else (LOOKED_UP, NOT_TWICE)
        case Charge.Status.FAILED if charge.reversed_late:
            return FAILED, LATE, SOME_DAYS
        case Charge.Status.FAILED:
            why = FAILURES.get((charge.failure_data or {}).get("code", ""), (DECLINED, PAY_OTHERWISE))
            return FAILED, NOTHING_PAID, *why
        case Charge.Status.VOIDED:
            return CANCELLED, SOME_DAYS
        case Charge.Status.SUCCEEDED | Charge.Status.REFUNDED:
            return (HELD if charge.authorized else PAID,)
        case unknown:
            raise ValueError(unknown)


def _refunded(charge: Charge, refunds: Sequence[Refund]) -> Iterator[str]:
    """Yield what went back, is on its way, and what did not if nothing else did."""
    sums: Counter[str] = Counter()
    for refund in refunds:
        sums[refund.status] += refund.amount
    amounts = {status: shown_amount(amount, charge.currency) for status, amount in sums.items()}
    if sent := amounts.get(Refund.Status.SUCCEEDED):
        day = max(refund.updated_at for refund in refunds if refund.status == Refund.Status.SUCCEEDED)
        yield SENT_BACK.format(amount=sent, day=_moment(day))
        yield str(SOME_DAYS)
    if pending := amounts.get(Refund.Status.PENDING):
        yield ON_ITS_WAY.format(amount=pending)
    if amounts.keys() == {Refund.Status.FAILED}:
        yield NOT_SENT_BACK.format(amount=amounts[Refund.Status.FAILED])


def _moment(moment: datetime | None) -> str:
    return format_date(moment.astimezone(ZoneInfo(settings.DISPLAY_TIME_ZONE)), "j F Y, H:i") if moment else ""
