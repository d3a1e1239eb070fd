"""Providers that fail in the ways real ones do: the simulator and its books, but for some of its answers."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event
from typing import Any, NoReturn

from django.db import OperationalError, connection

from payments.providers import registry
from payments.providers.base import NotSent, Operation, Unknown
from payments.providers.simulator.books import approve
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import recover

Do = Callable[[], Any]
UNSENT, LOST, TIMED_OUT = NotSent("connection refused"), Unknown("lost on the way"), Unknown("timed out")
OPERATIONS = ("capture", "void", "refund", "extend")
LONG_SECONDS = 60


class Double(Simulator):
    """The simulator, with other answers to the calls that are named.

    Each is an outcome, or a function of what has the simulator do it and of what was asked.
    """

    def __init__(self, **instead: Any) -> None:
        for verb, answer in instead.items():
            setattr(self, verb, partial(self._answer, getattr(self, verb), answer))

    def _answer(self, really: Callable[..., Any], answer: Any, asked: Any, *more: Any) -> Any:
        return answer(partial(really, asked, *more), asked) if callable(answer) else answer


class Waits(Double):
    """Answers `verb` when it is released."""

    def __init__(self, verb: str) -> None:
        super().__init__(**{verb: self._wait})
        self.asked, self.proceed = Event(), Event()

    def _wait(self, do: Do, asked: object) -> Any:
        self.asked.set()
        assert self.proceed.wait(LONG_SECONDS)
        return do()


def lost(do: Do, asked: object) -> Unknown:
    """Do what is asked, and lose the answer."""
    do()
    return Unknown("the answer was lost")


def lost_by_error(do: Do, asked: object) -> NoReturn:
    do()
    raise TimeoutError


def late(do: Do, asked: object) -> Any:
    """Do it when recovery has asked for it already and was answered that it is unknown."""
    recover()
    return do()


def dies_after(do: Do, asked: object) -> NoReturn:
    """Do it, and be killed before any of it is on record."""
    do()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def dies_before(do: Do, asked: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def LosesAnswers() -> Double:
    """Return one that does what it is asked, and whose answer never arrives."""
    return Double(capture=lost, void=lost_by_error, refund=lost, extend=lost, respond=lost_by_error)


def NeverHears() -> Double:
    """Return one that loses requests on their way, so that their outcome is unknown."""
    return Double(**dict.fromkeys(OPERATIONS, LOST))


def ArrivesLate() -> Double:
    return Double(**dict.fromkeys(["create_payment", *OPERATIONS], late))


def ArrivesLateUnheard() -> Double:
    """Return one that also answers neither its sender nor any later question."""
    cut_off = Event()

    def unheard(do: Do, asked: object) -> Unknown:
        late(do, asked)
        cut_off.set()
        return TIMED_OUT

    resolve = lambda do, _: TIMED_OUT if cut_off.is_set() else do()  # noqa: E731
    return Double(resolve=resolve, **dict.fromkeys(["create_payment", *OPERATIONS], unheard))


def ArrivesLateAndDies() -> Double:
    """Return one that also kills the sender at once."""
    dies = lambda do, asked: dies_after(partial(late, do, asked), asked)  # noqa: E731
    return Double(**dict.fromkeys(["create_payment", *OPERATIONS], dies))


def PaidAtTheLastMoment() -> Double:
    """Return one whose payer agrees as the payment is being ended."""

    def cancel(do: Do, asked: Operation) -> Any:
        approve(SimulatedPayment.objects.get(reference=asked.payment_reference), send_message=True)
        return do()

    return Double(cancel=cancel)


def Unreachable() -> Double:
    """Return one that refuses the connection: nothing was sent for certain."""
    return Double(**dict.fromkeys(("create_payment", "capture", "refund", "extend", "resolve"), UNSENT))


def KnowsNothing() -> Double:
    """Return one that answers no lookup."""
    return Double(resolve=TIMED_OUT)


def CutsTheDatabase() -> Double:
    """Return one that takes the money while the database goes away."""

    def create_payment(do: Do, asked: object) -> Any:
        outcome = do()
        with connection.cursor() as cursor, suppress(OperationalError):
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return outcome

    return Double(create_payment=create_payment)


@contextmanager
def provider(double: Simulator) -> Iterator[None]:
    """Has `double` serve the simulator's place."""
    real = registry.PROVIDERS["simulator"]
    registry.PROVIDERS["simulator"] = double
    try:
        yield
    finally:
        registry.PROVIDERS["simulator"] = real
