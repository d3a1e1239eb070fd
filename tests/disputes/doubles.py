"""Providers that take responses to disputes, refuse them or lose their answers, around the real simulator."""

from payments.providers.base import Approved, Outcome, Rejected
from payments.providers.disputes import DisputeResponse
from payments.providers.simulator.connector import Simulator


class TakesAllResponses(Simulator):
    """Takes each response, whatever its own books say."""

    def respond(self, asked: DisputeResponse) -> Outcome:
        return Approved(asked.provider_ref)


class LosesResponses(Simulator):
    """Takes responses, and its answer never arrives."""

    def respond(self, asked: DisputeResponse) -> Outcome:
        super().respond(asked)
        raise TimeoutError


class RefusesResponses(Simulator):
    """Refuses each response."""

    def respond(self, asked: DisputeResponse) -> Outcome:
        return Rejected("too_late", "The bank has decided.")
