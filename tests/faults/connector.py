"""A connector to the simulator over TCP, as careful as one to a real provider has to be."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp

from payments.providers.base import NotSent, Operation, Outcome, Payment, PayoutOutcome, Unknown
from payments.providers.disputes import DisputeResponse
from payments.providers.payouts import PayoutOrder
from payments.providers.simulator.connector import Simulator
from tests.faults.wire import Asked, from_wire, to_wire

CONNECT_SECONDS = 2.0


class RemoteSimulator(Simulator):
    """Asks the simulator at `port` of `host`; a call takes `total_seconds` at most. `calls` counts them."""

    def __init__(self, port: int, total_seconds: float = Simulator.timeout_seconds, host: str = "127.0.0.1") -> None:
        self._address = f"http://{host}:{port}"
        self._limits = aiohttp.ClientTimeout(total=total_seconds, sock_connect=CONNECT_SECONDS)
        self.calls = 0

    def create_payment(self, payment: Payment) -> Outcome:
        return self._ask("create_payment", payment)

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        return self._ask("continue_payment", payment, params)

    def capture(self, operation: Operation) -> Outcome:
        return self._ask("capture", operation)

    def void(self, operation: Operation) -> Outcome:
        return self._ask("void", operation)

    def cancel(self, operation: Operation) -> Outcome:
        return self._ask("cancel", operation)

    def refund(self, operation: Operation) -> Outcome:
        return self._ask("refund", operation)

    def extend(self, operation: Operation) -> Outcome:
        return self._ask("extend", operation)

    def respond(self, asked: DisputeResponse) -> Outcome:
        return self._ask("respond", asked)

    def create_payout(self, order: PayoutOrder) -> PayoutOutcome:
        return self._ask("create_payout", order)

    def find_payout(self, order: PayoutOrder) -> PayoutOutcome:
        return self._ask("find_payout", order)

    def resolve(self, asked: Payment | Operation) -> Outcome:
        return self._ask("resolve", asked)

    def _ask(self, verb: str, asked: Asked, params: Mapping[str, str] | None = None) -> Any:
        self.calls += 1
        return asyncio.run(self._outcome(f"{self._address}/{verb}", to_wire(asked), params or {}))

    async def _outcome(self, url: str, body: bytes, params: Mapping[str, str]) -> Any:
        try:
            status, answer = await self._post(url, body, params)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            # There was never a connection on which anything could have been sent.
            return NotSent(type(error).__name__)
        except (aiohttp.ClientError, TimeoutError) as error:
            return Unknown(type(error).__name__)
        return _read(status, answer)

    async def _post(self, url: str, body: bytes, params: Mapping[str, str]) -> tuple[int, bytes]:
        async with (
            aiohttp.ClientSession(timeout=self._limits) as session,
            session.post(url, data=body, params=params) as response,
        ):
            return response.status, await response.read()


def _read(status: int, answer: bytes) -> Any:
    if status == 429:
        return NotSent("too many requests")
    if status != 200:
        return Unknown(f"status {status}")
    try:
        return from_wire(answer)
    except ValueError:
        return Unknown("an answer that cannot be read")
