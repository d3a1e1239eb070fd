"""Provider events about disputes: a stage that the provider reports, or news of which it is asked."""

import json
from copy import copy

from payments.domain import provider_calls
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import attempts
from payments.domain.disputes import record as stages
from payments.domain.disputes.stages import ASKS_FOR_EVIDENCE, STATUSES
from payments.domain.provider_calls import ProviderCall
from payments.domain.provider_events.reasons import Ended, Later
from payments.domain.provider_events.references import attempt_of
from payments.domain.routing.provider_accounts import connected
from payments.models import Attempt, Dispute, ProviderEvent
from payments.providers.abilities import FindsDisputes
from payments.providers.base import NotFound
from payments.providers.disputes import Disputed, DisputeNews, FoundDispute, Stage, disputed_from, news_from

State = ProviderEvent.State
Status = Dispute.Status


def named_by(event: ProviderEvent) -> Disputed | DisputeNews | None:
    """Return what an event says of a dispute; None where it says nothing of one."""
    if event.outcome == Disputed.__name__:
        return disputed_from(json.loads(event.outcome_json))
    return news_from(json.loads(event.outcome_json)) if event.outcome == DisputeNews.__name__ else None


def record(event: ProviderEvent, said: Disputed | DisputeNews) -> None:
    """Record the stage that the event is about, or all stages where it says only that there is news.

    Raise Later and Ended, also of what is recorded and unexpected.
    """
    if isinstance(said, Disputed):
        attempt, _ = attempt_of(event)
        if why := _record(attempt, said):
            raise Ended(State.NEEDS_ATTENTION, why)
        return
    found = _look_up(event, said)
    # The answer alone says of which payment.
    named = copy(event)
    named.reference = found.payment_reference
    attempt, _ = attempt_of(named)
    _apply_found(attempt, found)


def _look_up(event: ProviderEvent, news: DisputeNews) -> FoundDispute:
    """Return what the provider answers about the dispute that the event names. Raise Later where it does not say."""
    client = connected(event.account)
    assert isinstance(client, FindsDisputes)  # nosec B101 # for the type checker: no other connector reports news
    call = ProviderCall(event.account.provider, event.account_id, "find_dispute", news.provider_ref)
    try:
        found = provider_calls.ask(call, lambda: client, lambda provider: provider.find_dispute(news.provider_ref))
    except ProviderBusy:
        raise Later("The provider is busy.") from None
    if not isinstance(found, FoundDispute):
        raise Later(f"The provider does not say: {'it does not know it' if isinstance(found, NotFound) else found.why}")
    if not found.unclear and news.claims and _is_older(found, news.claims):
        raise Later("The provider does not say yet what the message says.")
    return found


def _is_older(found: FoundDispute, claimed: Stage) -> bool:
    """Whether a dispute is not as far as a message speaks of: the answer may be older than the message."""
    if STATUSES[found.stages[-1].stage] not in Dispute.OPEN:
        return False
    has_ended = STATUSES[claimed] not in Dispute.OPEN
    return has_ended or max(stage.stage for stage in found.stages) < claimed


def _apply_found(attempt: Attempt, found: FoundDispute) -> None:
    """Record the stages of a dispute that was looked up. Raise Later and Ended."""
    unexpected = [_record(attempts.reload(attempt), stage) for stage in found.stages]
    if why := " ".join(filter(None, [found.unclear, *dict.fromkeys(unexpected)])):
        raise Ended(State.NEEDS_ATTENTION, why)
    _require_agreement(attempt, found.stages[-1])


def _record(attempt: Attempt, stage: Disputed) -> str:
    """Record a stage; return what operators must know of it. Raise Later and Ended."""
    if attempt.kind != Attempt.Kind.AUTHORIZE:
        raise Ended(State.NEEDS_ATTENTION, f"A dispute names a {attempt.kind} and no payment.")
    try:
        return stages.record(attempt, stage)
    except stages.CannotBeTrue as reason:
        raise Ended(State.NEEDS_ATTENTION, str(reason)) from None
    except stages.NotNow as reason:
        raise Later(str(reason)) from None


def _require_agreement(attempt: Attempt, last: Disputed) -> None:
    """Raise Later where the dispute stands otherwise here than at its provider, so that operators learn of it at last.

    Stages only go forward, and a provider that was asked says how it stands now. It may be behind with a response that
    it has taken.
    """
    reported = STATUSES[last.stage]
    [status] = Dispute.objects.filter(charge=attempt.charge_id, provider_ref=last.provider_ref).values_list(
        "status", flat=True
    )
    is_behind = reported in ASKS_FOR_EVIDENCE and status in (Status.UNDER_REVIEW, Status.ACCEPTED)
    if status != reported and not is_behind:
        raise Later(f"The provider says that the dispute is {reported}, and it is {status} on record.")
