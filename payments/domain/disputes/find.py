"""Disputes as their merchant finds them."""

from payments import clock
from payments.domain.catalogue.error_table import DISPUTE_NOT_ANSWERABLE
from payments.domain.catalogue.refusal_texts import said
from payments.domain.disputes.stages import ASKS_FOR_EVIDENCE
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError, conflict
from payments.domain.shared.finder import Finder
from payments.ids import public_id
from payments.models import Attempt, Dispute
from payments.providers import registry

ResponseState = Dispute.ResponseState


# With the source of its charge.
find = Finder("dp", lambda *owner: Dispute.objects.of(*owner).select_related("charge__source"))


def find_open(caller: Caller, text: str) -> Dispute:
    """Return the dispute as `find` does, if it can be responded to now. Raise PaymentError `dispute_not_answerable`."""
    dispute = find(caller, text)
    if dispute.response_state in (ResponseState.PENDING, ResponseState.SENT):
        raise _not_answerable(dispute, "You have responded to this dispute already.")
    if dispute.status not in ASKS_FOR_EVIDENCE:
        raise _not_answerable(dispute, said("This dispute is {status} and takes no response.", status=dispute.status))
    if dispute.evidence_due_at and dispute.evidence_due_at <= clock.now():
        raise _not_answerable(dispute)
    if not registry.takes_responses(authorization_of(dispute).provider):
        raise _not_answerable(dispute, "Respond to this dispute at the provider itself; kaha cannot send it there.")
    return dispute


def authorization_of(dispute: Dispute) -> Attempt:
    """Return the attempt that authorized the disputed payment."""
    rows = Attempt.objects.select_related("account").filter(merchant_id=dispute.merchant_id, charge=dispute.charge_id)
    return rows.get(kind=Attempt.Kind.AUTHORIZE, passed_on=False)


def _not_answerable(dispute: Dispute, message: str = "") -> PaymentError:
    return conflict(DISPUTE_NOT_ANSWERABLE, message, public_id("ch", dispute.charge_id))
