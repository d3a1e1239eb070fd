"""Payouts on their way out by providers: sent once by their reference, and looked up where the outcome is unknown.

A payout is claimed, and with that recorded as asked for, before its provider is called; the outcome is recorded after
it. `asked_at` is empty only where the provider certainly has not got it: it may then be sent, or be cancelled. What was
sent and not answered is looked up, and sent again by the same reference only when the provider did not know it
ABSENT_TRIES times, with time between. A refusal that is about us and not about the payout leaves it pending with the
reason: it is tried again, and operators may cancel it.
"""

import logging
from datetime import timedelta
from typing import Any

from payments import clock
from payments.db.writes import StaleRow
from payments.domain import bulkheads
from payments.domain.due_rows import DueRows, next_lookup_at
from payments.domain.payouts import outcomes, provider
from payments.failpoints import Failpoint, reached
from payments.ids import public_id
from payments.models import Payout
from payments.models.books.payout import WHY_MAX_LENGTH
from payments.providers.base import NotFound, NotSent, PayoutOutcome, Rejected, Unknown
from payments.providers.payouts import Accepted, Failed, Paid, Returned
from payments.sensitive_data.redaction import shortened
from payments.sweeps.scope import ALL_MERCHANTS, Scope

logger = logging.getLogger("kaha.payouts")

BATCH = 20
# A lease is longer than the call to a provider for one payout. A payout that has changed is no longer held.
DUE = DueRows(lease=timedelta(minutes=3), same=("merchant_id", "version"))
# After so many lookups in vain, the last one minutes after it was sent, the provider has certainly not got a payout.
ABSENT_TRIES = 3
Status = Payout.Status


def send_due(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Send or look up at most `limit` due payouts; return how many were tried."""
    approved = Payout.objects.filter(scope.within(), livemode=True, status=Status.PENDING, due_at__isnull=True)
    approved.filter(approved_at__isnull=False, provider_account__isnull=False).update(due_at=clock.now())
    count = 0
    while count < limit and (claimed := DUE.claim(Payout.objects.filter(scope.within()), _counted)):
        _advance(*claimed)
        count += 1
    return count


def look_up(payout: Payout) -> PayoutOutcome:
    """Ask the provider how the payout stands, and record it; return what it said.

    Raise ProviderBusy, StaleRow and CannotBeTrue, where nothing was recorded.
    """
    answer = provider.ask(payout, sends=False)
    if isinstance(answer, outcomes.Answer):
        outcomes.record(payout, answer)
    return answer


def _counted(payout: Payout) -> dict[str, Any]:
    """Return what a claim changes: a payout is sent where it was not asked for, and else looked up."""
    if payout.status == Status.PENDING and payout.asked_at is None:
        return {"asked_at": clock.now(), "tries": payout.tries + 1, "lookups": 0}
    return {"lookups": payout.lookups + 1}


def _advance(payout: Payout) -> None:
    """Send or look up a claimed payout and record the outcome; an error in it does not stop the others."""
    reached(Failpoint.OPENED)
    # Each lookup is counted by its claim.
    sends = payout.lookups == 0
    try:
        answer = provider.ask(payout, sends=sends)
        reached(Failpoint.RECORDING)
        _record(payout, answer, sends)
        reached(Failpoint.RECORDED)
    except bulkheads.ProviderBusy:
        before = {"asked_at": None, "tries": payout.tries - 1} if sends else {"lookups": payout.lookups - 1}
        DUE.put_off(payout, until=next_lookup_at(clock.now(), 0), **before)
    except StaleRow:
        # Another process has recorded it, or has claimed it.
        pass
    except Exception as error:
        logger.exception("payout could not be recorded", extra={"payout": public_id("po", payout.id)})
        _look_up_later(payout, type(error).__name__)


def _record(payout: Payout, answer: PayoutOutcome, sends: bool) -> None:
    match answer:
        case NotSent(why=why) if sends:
            _send_later(payout, f"Not sent: {why}")
        case Rejected(provider_code=code) if sends:
            _send_later(payout, f"The provider refused the request, so nothing was paid: {code}")
        case NotFound() if payout.status == Status.PENDING and payout.lookups >= ABSENT_TRIES:
            DUE.put_off(
                payout, until=clock.now(), asked_at=None, why="The provider never got it, and it is sent again."
            )
        case Accepted() if payout.status == Status.IN_TRANSIT:
            DUE.put_off(payout, until=clock.now() + outcomes.LOOK_AGAIN, lookups=0, why="")
        case NotFound():
            _look_up_later(payout, "The provider does not know it.")
        case NotSent(why=why) | Unknown(why=why) | Rejected(message=why):
            _look_up_later(payout, f"Its outcome is not known: {why}")
        case Accepted() | Paid() | Failed() | Returned():
            outcomes.record(payout, answer)


def _send_later(payout: Payout, why: str) -> None:
    """Have a payout sent again that the provider has certainly not got."""
    DUE.put_off(
        payout, until=next_lookup_at(clock.now(), payout.tries - 1), asked_at=None, why=shortened(why, WHY_MAX_LENGTH)
    )


def _look_up_later(payout: Payout, why: str) -> None:
    DUE.put_off(payout, until=next_lookup_at(clock.now(), payout.lookups), why=shortened(why, WHY_MAX_LENGTH))
