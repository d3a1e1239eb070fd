"""What some connectors can do beside payments."""

from typing import Protocol, runtime_checkable

from payments.providers.base import NotFound, NotSent, Outcome, PayoutOutcome, Unknown
from payments.providers.disputes import DisputeResponse, FoundDispute
from payments.providers.payouts import PayoutOrder


@runtime_checkable
class TakesResponses(Protocol):
    """A connector by which merchants respond to disputes."""

    def respond(self, asked: DisputeResponse) -> Outcome:
        """Send the response; Approved where the provider has it, Rejected where it does not take it.

        It is harmless when repeated: a provider that has it already may also reject it.
        """


@runtime_checkable
class FindsDisputes(Protocol):
    """A connector whose events of disputes are only news, so that it is asked about each."""

    def find_dispute(self, provider_ref: str) -> FoundDispute | Unknown | NotSent | NotFound:
        """Return how the dispute stands, by a lookup that moves nothing; NotFound where the provider never saw it."""


@runtime_checkable
class PaysOut(Protocol):
    """A connector that pays out to bank accounts."""

    def create_payout(self, order: PayoutOrder) -> PayoutOutcome:
        """Pay it out, once for each reference; never NotFound."""

    def find_payout(self, order: PayoutOrder) -> PayoutOutcome:
        """Return how it stands, by a lookup that moves nothing; NotFound where the provider never saw it."""
