"""What a provider event names: the attempt that it is about, and whether that is ours."""

import json

from django.db.models import Q

from payments.domain.charging import attempts
from payments.domain.provider_events.reasons import Ended, require_same
from payments.models import Attempt, Dispute, Payout, ProviderEvent
from payments.providers.base import Unknown
from payments.providers.references import FollowUp, is_trial, read_reference

State = ProviderEvent.State


def attempt_of(event: ProviderEvent) -> tuple[Attempt, FollowUp | None]:
    """Return the attempt that the event names, and the follow-up step if the event means that. Raise Ended."""
    attempt_id, step = read_reference(event.reference) or (None, None)
    found = Attempt.objects.filter(id=attempt_id).first() if attempt_id else None
    if found is None:
        raise _unasked(event)
    attempt = attempts.reload(found)
    require_same(event, found.account_id, attempt.amount, attempt.charge.currency)
    return attempt, step


def require_explained(event: ProviderEvent) -> None:
    """Raise Ended where no table of the connector names what the event says."""
    if event.outcome == Unknown.__name__:
        state = State.NEEDS_ATTENTION if _is_ours(event) else State.NOT_OURS
        raise Ended(state, json.loads(event.outcome_json)["why"])


def _is_ours(event: ProviderEvent) -> bool:
    """Whether an event names what we asked the provider for, by our name or by the provider's."""
    found = map(read_reference, (event.reference, event.payment))
    ours = [reference[0] for reference in found if reference]
    theirs = [name for name in (event.reference, event.payment, event.provider_ref) if name]
    named = Q(id__in=ours) | Q(provider_ref__in=theirs, account=event.account_id)
    if Attempt.objects.filter(named).exists() or Payout.objects.filter(id__in=ours).exists():
        return True
    return Dispute.objects.filter(provider_ref__in=theirs, merchant_id=event.merchant_id).exists()


def _unasked(event: ProviderEvent) -> Ended:
    """How an event stands that names nothing that is on record."""
    if is_trial(event.reference):
        return Ended(State.NOT_OURS, "A trial of the connection asked for it.")
    if read_reference(event.reference):
        return Ended(State.NEEDS_ATTENTION, "We asked for nothing of this name.")
    if _is_ours(event):
        return Ended(State.NEEDS_ATTENTION, "A payment of ours was changed there, and nobody asked for it here.")
    return Ended(State.NOT_OURS, "Nobody asked for it here.")
