"""What holds for everything that one operator proposes and another decides."""

from typing import Any, Protocol

from django.contrib.auth.models import AbstractBaseUser

from payments import clock
from payments.models.correction import free_of_secrets

Operator = AbstractBaseUser


class Refused(Exception):
    """A decision that this operator may not make, or that comes too late; nothing was changed."""


class Proposal(Protocol):
    """A row with whoever proposed it."""

    proposed_by_id: Any


def decision(proposal: Proposal, decider: Operator, note: str) -> dict[str, Any]:
    """What a row keeps of a decision. Raises Refused for one's own proposal and without a note, and ValidationError."""
    if proposal.proposed_by_id == decider.pk:
        raise Refused("Nobody decides their own proposal. A second person must.")
    if not note.strip():
        raise Refused("Say what the decision rests on.")
    free_of_secrets(note)
    return {"decided_by": decider, "decided_at": clock.now(), "note": note}
