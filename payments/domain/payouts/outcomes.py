"""What a provider says of a payout, recorded: each change once, and none backwards.

A word that comes late is recorded too, because the money has moved: a payout that was returned after it was paid gives
the money back to the balance, and one that was paid after it had failed is taken of the balance again.
"""

from datetime import timedelta

from django.db import transaction

from payments import clock
from payments.domain.payouts import states
from payments.models import Payout
from payments.providers.payouts import Accepted, Failed, Paid, Returned

Status = Payout.Status
Answer = Accepted | Paid | Failed | Returned
# How often a payout on its way is looked up, besides what the provider reports by itself.
LOOK_AGAIN = timedelta(hours=1)


class CannotBeTrue(Exception):
    """What the provider says contradicts our records, and nothing was changed; the message is for operators."""


@transaction.atomic
def record(payout: Payout, answer: Answer) -> Payout:
    """Bring the payout to where its provider says it is; return it.

    Raise StaleRow where it is not as it was read, and CannotBeTrue.
    """
    if payout.status == Status.PENDING:
        payout = states.mark_sent(payout, **_known(answer))
    if payout.status in (Status.FAILED, Status.CANCELLED):
        return _late(payout, answer)
    if payout.status == Status.IN_TRANSIT and isinstance(answer, Paid | Returned):
        payout = states.mark_paid(payout)
    match answer:
        case Failed(code=code):
            return states.mark_failed(payout, code)
        case Returned():
            return states.mark_failed(payout, "returned")
        case Accepted() | Paid():
            return payout


def _known(answer: Answer) -> dict[str, object]:
    """Return the columns of a payout that its provider has."""
    ref = {"provider_ref": answer.provider_ref} if answer.provider_ref else {}
    return {"due_at": clock.now() + LOOK_AGAIN, "lookups": 0, "why": "", **ref}


def _late(payout: Payout, answer: Answer) -> Payout:
    match answer:
        case Paid():
            return states.mark_paid_late(payout)
        case Accepted():
            raise CannotBeTrue(f"The provider is paying it out, and it is {payout.status} here.")
        case Failed() | Returned():
            return payout
