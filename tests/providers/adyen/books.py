"""The payments of Adyen's fake, and the events by which it reports them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Any

from tests.providers.adyen.dispute_books import DisputeBook
from tests.providers.adyen.webhooks import item_of, webhook_of
from tests.providers.bench import Money, SignedMessage


class State(StrEnum):
    """Where a payment stands."""

    AWAITING = "awaiting"  # its payer
    HELD = "held"
    TAKEN = "taken"
    OVER = "over"  # refused, run out or ended


@dataclass
class Booked:
    """A payment, by the body that asked for it."""

    body: dict[str, Any]
    psp_reference: str
    state: State = State.AWAITING
    taken: int = 0
    returned: int = 0
    # What the payer decided at the issuer's page, which counts when it is handed in.
    agreed: bool | None = None

    @property
    def value(self) -> int:
        """The amount that was asked for."""
        return int(self.body["amount"]["value"])

    @property
    def money(self) -> Money:
        """What the books say of it."""
        return Money(self.value if self.state is State.HELD else 0, self.taken, self.returned)

    @property
    def is_card(self) -> bool:
        """Whether an issuer's page authorises nothing by itself."""
        return bool(self.body["paymentMethod"]["type"] == "scheme")


@dataclass
class Books:
    """All payments by our reference, what is still to be done about them, and what is to be reported."""

    payments: dict[str, Booked] = field(default_factory=dict)
    disputes: dict[str, DisputeBook] = field(default_factory=dict)
    due: list[Callable[[], None]] = field(default_factory=list)
    announced: list[SignedMessage] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def new_psp_reference(self) -> str:
        """Return a new PSP reference."""
        return f"PSP{next(self._numbers):013d}"

    def found(self, psp_reference: str) -> Booked | None:
        """Return the payment with this PSP reference."""
        return next((each for each in self.payments.values() if each.psp_reference == psp_reference), None)

    def authorise(self, payment: Booked) -> None:
        """Authorise the payment, as the issuer or the wallet."""
        is_held = (payment.body.get("additionalData") or {}).get("manualCapture") == "true"
        payment.state = State.HELD if is_held else State.TAKEN
        payment.taken = 0 if is_held else payment.value
        self._report_of(payment, "AUTHORISATION", additionalData=_additional(payment))

    def refuse(self, payment: Booked, reason: str) -> None:
        """Refuse the payment, as the issuer, the wallet or the payer."""
        payment.state = State.OVER
        self._report_of(payment, "AUTHORISATION", success=False, reason=reason, additionalData=_additional(payment))

    def close_offer(self, payment: Booked) -> None:
        """Close the offer: the payer never came."""
        payment.state = State.OVER
        self._report_of(payment, "OFFER_CLOSED")

    def capture(self, payment: Booked, asked: dict[str, Any], psp_reference: str) -> None:
        """Capture a part of the hold and release the rest."""
        value = int(asked["amount"]["value"])
        can = payment.state is State.HELD and value <= payment.value
        if can:
            payment.state, payment.taken = State.TAKEN, value
        self._report_done(payment, "CAPTURE", asked, psp_reference, value, success=can)

    def refund(self, payment: Booked, asked: dict[str, Any], psp_reference: str) -> None:
        """Refund a part of the captured amount."""
        value = int(asked["amount"]["value"])
        can = payment.taken - payment.returned >= value
        payment.returned += value if can else 0
        self._report_done(payment, "REFUND", asked, psp_reference, value, success=can)

    def reverse(self, payment: Booked, asked: dict[str, Any], psp_reference: str) -> None:
        """Lets go of what is held, or gives back what was taken."""
        can = payment.state is State.HELD or (payment.state is State.TAKEN and not payment.returned)
        action = "cancel" if payment.state is State.HELD else "refund"
        if can:
            payment.state, payment.returned = State.OVER, payment.taken
        members = {"additionalData": {"modification.action": action}}
        self._report_done(payment, "CANCEL_OR_REFUND", asked, psp_reference, payment.value, success=can, **members)

    def end(self, reference: str, psp_reference: str) -> None:
        """Cancel the payment with our reference, unless it is captured or does not exist."""
        payment = self.payments.get(reference)
        can = payment is not None and payment.state in (State.AWAITING, State.HELD)
        amount = {"currency": "PHP", "value": 0} if payment is None else payment.body["amount"]
        if payment and can:
            payment.state = State.OVER
        members = {"merchantReference": reference, "pspReference": psp_reference}
        self._announce(item_of("TECHNICAL_CANCEL", success=can, **amount, **members))

    def fail_afterwards(self, event: str, payment: Booked, kind: str, reference: str, value: int) -> None:
        """Report that a completed operation failed afterwards."""
        asked = {"reference": f"{kind}-{reference}"}
        payment.returned -= value if kind == "refund" else 0
        self._report_done(payment, event, asked, self.new_psp_reference(), value, reason="failed at the scheme")

    def dispute(self, payment: Booked, events: Iterable[str]) -> DisputeBook:
        """Report the stages of a dispute of all that was taken, under a reference of its own."""
        disputed = DisputeBook(self.new_psp_reference(), payment.body["reference"])
        self.disputes[disputed.psp_reference] = disputed
        for event in events:
            self.report_dispute(disputed, event)
        return disputed

    def report_dispute(self, disputed: DisputeBook, event: str, **additional: str) -> None:
        """Report a stage of a dispute."""
        payment = self.payments[disputed.payment_reference]
        named = {"merchantReference": disputed.payment_reference, "originalReference": payment.psp_reference}
        announced = {"pspReference": disputed.psp_reference, "paymentMethod": "visa", **named}
        currency = payment.body["amount"]["currency"]
        item = item_of(event, success=True, currency=currency, value=payment.taken, **announced)
        self._announce(item | ({"additionalData": additional} if additional else {}))

    def let_pass(self) -> None:
        """Do the due operations in the order of the requests."""
        due, self.due = self.due, []
        for act in due:
            act()

    def _report_of(self, payment: Booked, event: str, *, success: bool = True, **members: Any) -> None:
        named = {"merchantReference": payment.body["reference"], "pspReference": payment.psp_reference}
        method = "visa" if payment.is_card else payment.body["paymentMethod"]["type"]
        amount = payment.body["amount"]
        self._announce(item_of(event, success=success, paymentMethod=method, **amount, **named, **members))

    def _report_done(
        self,
        payment: Booked,
        event: str,
        asked: dict[str, Any],
        psp_reference: str,
        value: int,
        *,
        success: bool = True,
        reason: str = "",
        **members: Any,
    ) -> None:
        currency = payment.body["amount"]["currency"]
        named = {"merchantReference": asked["reference"], "originalReference": payment.psp_reference}
        why = reason or ("" if success else "Insufficient balance on payment")
        announced = {"pspReference": psp_reference, "reason": why, **named, **members}
        self._announce(item_of(event, success=success, currency=currency, value=value, **announced))

    def _announce(self, item: dict[str, Any]) -> None:
        self.announced.append(webhook_of(item))


def _additional(payment: Booked) -> dict[str, str]:
    metadata = {f"metadata.{name}": value for name, value in payment.body.get("metadata", {}).items()}
    return metadata | ({"cvcResult": "1 Matches"} if payment.is_card else {})
