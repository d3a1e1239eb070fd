"""Why a provider event is not applied, now or ever."""

from uuid import UUID

from payments.models import ProviderEvent

State = ProviderEvent.State


class Later(Exception):
    """It cannot be applied now; the message says what keeps it."""


class Ended(Exception):
    """It will never be applied, for the reason in the message; how it stands then is in `state`."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state


def require_same(event: ProviderEvent, account_id: UUID | None, amount: int, currency: str) -> None:
    """Raise Ended unless an event is about what was asked of this account, and about this amount."""
    if account_id != event.account_id:
        raise Ended(State.NEEDS_ATTENTION, "What has this name was asked of another account.")
    if event.amount is not None and event.amount != amount:
        raise Ended(State.NEEDS_ATTENTION, f"The message says {event.amount}, and {amount} was asked for.")
    if event.currency and event.currency.upper() != currency:
        raise Ended(State.NEEDS_ATTENTION, f"The message says {event.currency}, and {currency} was asked for.")
