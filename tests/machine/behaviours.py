"""What the contract (section 7) says of each test card and of the other types of sources."""

from dataclasses import dataclass
from typing import Any

from payments.providers.simulator.scenarios import SCENARIOS

REDIRECT, PIN = "redirect_to_url", "verify_otp"
APPROVED = "approved"
RIGHT_PIN, WRONG_PIN = "123456", "654321"
PIN_TRIES = 3


@dataclass(frozen=True)
class Behaviour:
    """How a source behaves when it is charged.

    `asks` is the action that its payer must take, of which a card spares some; `answers` is what the provider makes
    of it, of which it says nothing where `is_lost`; `refunds_end` is the final state of a refund after a while.
    """

    type: str = "card"
    number: str = ""
    asks: str = ""
    answers: str = APPROVED
    is_lost: bool = False
    refunds_begin: str = "succeeded"
    refunds_end: str = ""

    @property
    def can_be_held(self) -> bool:
        return self.type == "card"

    def __repr__(self) -> str:
        return self.number or self.type

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


DECLINES = {number: each.decline_code for number, each in SCENARIOS.items() if each.decline_code}
ORDINARY = [
    Behaviour(number="4000000000003055"),
    Behaviour(number="4242424242424242", asks=REDIRECT),
    Behaviour(number="4000000000005126", refunds_end="failed"),
    Behaviour(number="4000000000007726", refunds_begin="pending", refunds_end="succeeded"),
    Behaviour(number="4000000000005100", is_lost=True),
    Behaviour(number="4000000000005118", is_lost=True, answers="processing_error"),
    Behaviour(type="gcash", asks=REDIRECT),
    Behaviour(type="qrph", asks=REDIRECT),
    Behaviour(type="bpi", asks=PIN),
    Behaviour(type="unionbank", asks=PIN),
]
DECLINED = [Behaviour(number=number, answers=code) for number, code in DECLINES.items()]
