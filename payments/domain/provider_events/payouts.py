"""Provider events about payouts: each only says that there is news, and the provider is asked what it is."""

from payments.db.writes import StaleRow
from payments.domain.bulkheads import ProviderBusy
from payments.domain.payouts import send
from payments.domain.payouts.outcomes import Answer, CannotBeTrue
from payments.domain.provider_events.reasons import Ended, Later, require_same
from payments.models import Payout, ProviderEvent
from payments.providers.payouts import Paid
from payments.providers.references import read_reference

State = ProviderEvent.State


def meant(event: ProviderEvent) -> Payout | None:
    """Return the payout that the event names; None where it names none. Raise Ended where it contradicts its payout."""
    payout_id, _ = read_reference(event.reference) or (None, None)
    payout = Payout.objects.filter(id=payout_id).first() if payout_id else None
    if payout:
        require_same(event, payout.provider_account_id, payout.amount, payout.currency)
    return payout


def apply(payout: Payout) -> None:
    """Look the payout up and record how it stands. Raise Later and Ended."""
    had_ended = payout.status in (Payout.Status.FAILED, Payout.Status.CANCELLED)
    try:
        answer = send.look_up(payout)
    except (ProviderBusy, StaleRow):
        raise Later("It is being sent or looked up at this moment.") from None
    except CannotBeTrue as reason:
        raise Ended(State.NEEDS_ATTENTION, str(reason)) from None
    if not isinstance(answer, Answer):
        raise Later(f"The provider does not say: {getattr(answer, 'why', type(answer).__name__)}")
    if had_ended and isinstance(answer, Paid):
        why = f"It was paid though it was {payout.status} here: the merchant's balance was charged with it again."
        raise Ended(State.NEEDS_ATTENTION, why)
