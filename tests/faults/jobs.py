"""What a process does before it ends or is killed: a request, a payer's visit, or a sweep."""

import os
import signal
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponse

from payments import failpoints
from payments.domain.payouts import make, send, states
from payments.failpoints import Failpoint
from payments.ledger.settlement import settle_due
from payments.sweeps.scope import Scope
from payments.tasks import run_sweep
from tests.charging.doubles import provider
from tests.client import Api
from tests.faults.connector import RemoteSimulator
from tests.faults.processes import Job
from tests.faults.proxy import SLOW, Cut

IMPATIENT_SECONDS = 0.3


@dataclass(frozen=True)
class AtStep:
    """What befalls a process when it reaches `step` for the `occurrence`th time."""

    step: Failpoint
    occurrence: int = 1
    signal: ClassVar[signal.Signals]
    name: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.name} at {self.step}" + (f" ({self.occurrence})" if self.occurrence > 1 else "")


class Kill(AtStep):
    """It ends there."""

    signal = signal.SIGKILL
    name = "killed"


@dataclass(frozen=True)
class Stall(AtStep):
    """It stops there, is taken for dead, and continues when everything has been done that is done about the dead.

    From then on it suffers `then`.
    """

    then: "Kill | Cut | None" = None
    signal = signal.SIGSTOP
    name = "stalled"

    def __str__(self) -> str:
        return AtStep.__str__(self) + (f", then {self.then}" if self.then else "")


Fault = Kill | Stall | Cut | None


def cut_of(fault: Fault) -> Cut | None:
    """How the connections of a process that suffers `fault` are cut, if they are."""
    suffered = fault.then if isinstance(fault, Stall) else fault
    return suffered if isinstance(suffered, Cut) else None


@dataclass(frozen=True)
class Answer:
    """What a client or a payer's browser is answered."""

    status: int
    body: bytes
    replayed: bool = False


@dataclass(frozen=True)
class Request:
    """A POST under an idempotency key, as the merchant's program sends it."""

    api_key: str
    path: str
    body: dict[str, Any]
    key: str

    def __call__(self) -> Answer:
        return _answer(Api(self.api_key).post(self.path, self.body, self.key))


@dataclass(frozen=True)
class Visit:
    """The payer's browser comes back to us."""

    path: str

    def __call__(self) -> Answer:
        return _answer(Api("").client.get(self.path))


@dataclass(frozen=True)
class Settle:
    """The daily settlement of one merchant."""

    merchant_id: UUID

    def __call__(self) -> int:
        return settle_due(scope=Scope(self.merchant_id))


@dataclass(frozen=True)
class PayOut:
    """The payouts of one merchant: the simulated bank moves them on, and one is made of what is there then."""

    merchant_id: UUID

    def __call__(self) -> None:
        states.release_reserves(scope=Scope(self.merchant_id))
        send.send_due(scope=Scope(self.merchant_id))
        make.make_due(scope=Scope(self.merchant_id))


def recover() -> None:
    """Everything by which a worker finds out outcomes."""
    for name in (
        "resolve_attempts",
        "apply_simulator_messages",
        "send_dispute_responses",
        "execute_approved_actions",
    ):
        run_sweep(name)


def report() -> None:
    """Apply what the provider reports."""
    run_sweep("apply_simulator_messages")


def respond() -> None:
    run_sweep("send_dispute_responses")


def expire() -> None:
    run_sweep("void_expired_holds")


def deliver() -> None:
    run_sweep("deliver_webhooks")


@dataclass(frozen=True)
class Done:
    """A job's result, and how often it asked the provider."""

    result: Any
    calls: int


@dataclass(frozen=True)
class Exposed:
    """`job` with a provider at `port`, killed where `fault` says so."""

    job: Job
    port: int
    fault: Fault

    def __call__(self) -> Done:
        if isinstance(self.fault, AtStep):
            failpoints.listen(_Executioner(self.fault))
        is_slow = cut_of(self.fault) in SLOW
        remote = RemoteSimulator(self.port, IMPATIENT_SECONDS if is_slow else RemoteSimulator.timeout_seconds)
        with provider(remote):
            return Done(self.job(), remote.calls)


class _Executioner:
    def __init__(self, fault: AtStep) -> None:
        self._fault = fault
        self._reached = 0

    def __call__(self, step: Failpoint) -> None:
        self._reached += step is self._fault.step
        if step is self._fault.step and self._reached == self._fault.occurrence:
            os.kill(os.getpid(), self._fault.signal)
            self._proceed()

    def _proceed(self) -> None:
        """Only a process that stalled comes here."""
        assert isinstance(self._fault, Stall)
        failpoints.listen(_Executioner(self._fault.then) if isinstance(self._fault.then, Kill) else None)


def _answer(response: HttpResponse) -> Answer:
    return Answer(response.status_code, response.content, response.headers.get("Idempotent-Replayed") == "true")
