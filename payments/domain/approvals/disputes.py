"""What an operator does about a dispute for its merchant, by the verbs of the API."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from payments.domain.approvals.limits import limit_of
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.disputes import evidence, respond
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.ids import public_id
from payments.models import Dispute
from payments.providers.disputes import Evidence
from payments.vault import with_prefetched_keys

# No request of a merchant waits for the answer, and none is stored: an operator has no idempotency key.
NO_ANSWER = StoredAnswer(0, b"")


class AboveLimit(Exception):
    """The operator may not give up so much; the message says what to do instead."""


def add_evidence(dispute: Dispute, piece: Evidence) -> None:
    """Add `piece` to an open dispute. Raise PaymentError and VaultUnavailable as `evidence.add` does."""
    _respond(
        dispute,
        lambda caller, dispute_id: evidence.add(caller, dispute_id, piece, lambda _: NO_ANSWER),
        f"Add evidence: {piece.type}",
    )


def submit_evidence(dispute: Dispute) -> None:
    """Ask for the evidence to be sent. Raise PaymentError as `respond.submit` does."""
    _respond(
        dispute,
        lambda caller, dispute_id: respond.submit(caller, dispute_id, lambda _: NO_ANSWER),
        "Submit the evidence",
    )


def accept(dispute: Dispute, operator: User) -> None:
    """Ask for the loss to be accepted. Raise AboveLimit, and PaymentError as `respond.accept` does."""
    most = limit_of(operator, dispute.currency)
    if most is None or dispute.amount > most:
        raise AboveLimit("This is above your approval limit. The merchant can accept it, by POST …/accept.")
    _respond(
        dispute, lambda caller, dispute_id: respond.accept(caller, dispute_id, lambda _: NO_ANSWER), "Accept the loss"
    )


@with_prefetched_keys
@transaction.atomic
def _respond(dispute: Dispute, verb: Callable[[Caller, str], Any], detail: str) -> None:
    verb(Caller(dispute.merchant_id, dispute.livemode), public_id("dp", dispute.pk))
    audit_log.record(Action.RESPONDED, dispute, detail=detail)
