"""Providers that fail in the ways real ones do, around the real simulator and its books."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import OperationalError, connection

from payments.providers import registry
from payments.providers.base import NotSent, Operation, Outcome, Payment, Unknown
from payments.providers.simulator.books import approve
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import recover


class LosesAnswers(Simulator):
    """Does what it is asked, and the answer never arrives."""

    def capture(self, operation: Operation) -> Outcome:
        super().capture(operation)
        return Unknown("the answer was lost")

    def void(self, operation: Operation) -> Outcome:
        super().void(operation)
        raise TimeoutError

    def refund(self, operation: Operation) -> Outcome:
        super().refund(operation)
        return Unknown("the answer was lost")


class NeverHears(Simulator):
    """Loses requests on their way, so that their outcome is unknown."""

    def capture(self, operation: Operation) -> Outcome:
        return Unknown("lost on the way")

    def void(self, operation: Operation) -> Outcome:
        return Unknown("lost on the way")

    def refund(self, operation: Operation) -> Outcome:
        return Unknown("lost on the way")


class ArrivesLate(Simulator):
    """Requests reach it only when recovery has asked for them already and was answered that they are unknown."""

    def create_payment(self, payment: Payment) -> Outcome:
        recover()
        return self._answered(super().create_payment(payment))

    def capture(self, operation: Operation) -> Outcome:
        recover()
        return self._answered(super().capture(operation))

    def void(self, operation: Operation) -> Outcome:
        recover()
        return self._answered(super().void(operation))

    def refund(self, operation: Operation) -> Outcome:
        recover()
        return self._answered(super().refund(operation))

    def _answered(self, outcome: Outcome) -> Outcome:
        return outcome


class ArrivesLateUnheard(ArrivesLate):
    """Also answers no later question of its sender."""

    def __init__(self) -> None:
        self._is_cut_off = False

    def resolve(self, asked: Payment | Operation) -> Outcome:
        return Unknown("timed out") if self._is_cut_off else super().resolve(asked)

    def _answered(self, outcome: Outcome) -> Outcome:
        self._is_cut_off = True
        return Unknown("timed out")


class ArrivesLateAndDies(ArrivesLate):
    """Also kills the sender at once."""

    def _answered(self, outcome: Outcome) -> Outcome:
        os.kill(os.getpid(), signal.SIGKILL)
        return outcome


class PaidAtTheLastMoment(Simulator):
    """Its payer agrees as the payment is being ended."""

    def cancel(self, operation: Operation) -> Outcome:
        approve(SimulatedPayment.objects.get(reference=operation.payment_reference), send_message=True)
        return super().cancel(operation)


class Unreachable(Simulator):
    """Refuses the connection: nothing was sent for certain."""

    def create_payment(self, payment: Payment) -> Outcome:
        return NotSent("connection refused")

    def capture(self, operation: Operation) -> Outcome:
        return NotSent("connection refused")

    def refund(self, operation: Operation) -> Outcome:
        return NotSent("connection refused")

    def resolve(self, asked: Payment | Operation) -> Outcome:
        return NotSent("connection refused")


class KnowsNothing(Simulator):
    """Answers no lookup."""

    def resolve(self, asked: Payment | Operation) -> Outcome:
        return Unknown("timed out")


class CutsTheDatabase(Simulator):
    """The database goes away while the provider is taking the money."""

    def create_payment(self, payment: Payment) -> Outcome:
        outcome = super().create_payment(payment)
        with connection.cursor() as cursor, suppress(OperationalError):
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return outcome


class DiesBefore(Simulator):
    """The process is killed as it is about to ask."""

    def create_payment(self, payment: Payment) -> Outcome:
        os.kill(os.getpid(), signal.SIGKILL)
        return super().create_payment(payment)


class DiesAfter(Simulator):
    """The process is killed when the money has moved and nothing of it is on record."""

    def create_payment(self, payment: Payment) -> Outcome:
        super().create_payment(payment)
        os.kill(os.getpid(), signal.SIGKILL)
        return Unknown("never reached")


@contextmanager
def provider(double: Simulator) -> Iterator[None]:
    """Has `double` serve the simulator's place."""
    real = registry.PROVIDERS["simulator"]
    registry.PROVIDERS["simulator"] = double
    try:
        yield
    finally:
        registry.PROVIDERS["simulator"] = real
