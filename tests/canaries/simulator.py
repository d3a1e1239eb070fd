"""A simulator that treats a marked card as its twin, with faults that quote the card."""

from collections.abc import Callable
from dataclasses import replace

from django.db import connection

from payments.providers.base import CardData, Declined, NotSent, Operation, Outcome, Payment, Unknown
from payments.providers.simulator.connector import Simulator
from tests.canaries.marks import SHAPES, SOURCE_CVC, TWINS, code_of

Fault = Callable[[str], Outcome]


class LookupBreaks(Exception):
    """An error for every lookup of one card, so that its outcome stays unknown."""


def _breaks(quoted: str) -> Outcome:
    raise RuntimeError(f"cannot send {quoted}") from ValueError(quoted)


def _loses_the_database(quoted: str) -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    return Unknown(quoted)


# A fault's message quotes the card in the shape that its serial number selects.
FAULTS: dict[int, Fault] = {
    41: _breaks,
    42: lambda quoted: Declined("card_declined", provider_code="05", message=f"No: {quoted}"),
    43: lambda quoted: Unknown(f"cannot read {quoted}"),
    44: lambda quoted: NotSent(f"cannot send {quoted}"),
    45: _loses_the_database,
}
LOOKUP_BREAKS = 46


class MarkedSimulator(Simulator):
    """A simulator that treats a marked card as its twin."""

    def create_payment(self, payment: Payment) -> Outcome:
        number = payment.card.number if payment.card else ""
        if fault := FAULTS.get(code_of(number) or 0):
            return fault(_quoted(number))
        if code_of(number) == LOOKUP_BREAKS:
            raise LookupBreaks(_quoted(number))
        return super().create_payment(replace(payment, card=_twin_of(payment.card)))

    def resolve(self, asked: Payment | Operation) -> Outcome:
        card = asked.card if isinstance(asked, Payment) else None
        if card and code_of(card.number) == LOOKUP_BREAKS:
            raise LookupBreaks(_quoted(card.number))
        return super().resolve(asked)


def _twin_of(card: CardData | None) -> CardData | None:
    twin = TWINS.get(code_of(card.number) or 0) if card else None
    return replace(card, number=twin) if card and twin else card


def _quoted(number: str) -> str:
    shape = list(SHAPES.values())[int(number[-3:-1]) % len(SHAPES)]
    return shape(number, SOURCE_CVC)
