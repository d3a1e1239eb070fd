"""The only way to ask a provider: a place held, no database connection held, counted and traced."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from payments.concurrency.connections import release_connection
from payments.domain.bulkheads import provider_place
from payments.failpoints import Failpoint, reached
from payments.metrics.counters import count_provider_call
from payments.providers.base import NotSent, Unknown
from payments.traces.calls import record_provider_call

logger = logging.getLogger("kaha.provider_calls")

Client = TypeVar("Client")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A call of a provider, as it is counted, traced and logged.

    `account_id` is that of the account or, where none is needed, of the merchant. `reference` is the name of what is
    asked about. Outside of a request the call is traced in `request_id`, which asked first. `is_counted` is False where
    a stand-in answers and the provider is not asked.
    """

    provider: str
    account_id: UUID
    operation: str
    reference: str = ""
    request_id: str = ""
    is_counted: bool = True


def ask(call: ProviderCall, connect: Callable[[], Client], question: Callable[[Client], Answer]) -> Answer | Unknown:
    """Return what `question` returns of the client that `connect` returns; an exception of either is Unknown.

    Raise ProviderBusy, where nothing was asked.
    """
    with provider_place(call.provider, call.account_id):
        reached(Failpoint.ASKING)
        began = time.perf_counter()
        outcome: Answer | Unknown
        try:
            client = connect()
            release_connection()
            outcome = question(client)
        except Exception as error:
            asked = {"provider": call.provider, "operation": call.operation, "reference": call.reference}
            logger.exception("provider call broke", extra=asked)
            outcome = Unknown(type(error).__name__)
        if call.is_counted:
            asked_for, seconds = (call.provider, call.operation, outcome), time.perf_counter() - began
            count_provider_call(*asked_for, seconds)
            record_provider_call(call.request_id, *asked_for, seconds, isinstance(outcome, NotSent | Unknown))
        reached(Failpoint.ANSWERED)
        return outcome
