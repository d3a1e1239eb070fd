"""Payouts at the fake of Xendit: its books of them, and their shapes."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.providers.xendit.books import Refusal
from tests.providers.xendit.shapes import NOW, minor

SPEC = "xendit-payouts-v2-subset.openapi.json"
EVENTS = {"SUCCEEDED": "payout.succeeded", "FAILED": "payout.failed", "REVERSED": "payout.reversed"}


@dataclass
class MadePayout:
    """A payout, as it was asked for."""

    asked: dict[str, Any]
    status: str = "ACCEPTED"
    failure_code: str = ""
    id: str = field(default_factory=lambda: f"disb-{uuid4()}")

    @property
    def reference(self) -> str:
        reference: str = self.asked["reference_id"]
        return reference

    @property
    def amount(self) -> int:
        return minor(self.asked["amount"])

    def described(self) -> dict[str, Any]:
        shape = {"id": self.id, "status": self.status, "business_id": "kaha", "created": NOW, "updated": NOW}
        return self.asked | shape | ({"failure_code": self.failure_code} if self.failure_code else {})


class PayoutBooks:
    """The payouts by their idempotency keys. `refusal` is the error that the next request gets, if any."""

    def __init__(self) -> None:
        self.made: dict[str, MadePayout] = {}
        self.announced: list[dict[str, Any]] = []
        self.refusal: tuple[int, str] | None = None
        self.is_bare = True

    def create(self, asked: dict[str, Any], key: str) -> dict[str, Any]:
        """Make a payout, once for each key and body."""
        if self.refusal:
            refusal, self.refusal = self.refusal, None
            raise Refusal(*refusal)
        known = self.made.setdefault(key, MadePayout(asked))
        if known.asked != asked:
            raise Refusal(409, "DUPLICATE_ERROR")
        return known.described()

    def find(self, reference: str) -> Any:
        """Return the payouts of a reference, as the reference shows the list or as Xendit's package reads it."""
        found = [payout.described() for payout in self.made.values() if payout.reference == reference]
        return found if self.is_bare else {"data": found, "has_more": False}

    def get(self, payout_id: str) -> dict[str, Any]:
        for payout in self.made.values():
            if payout.id == payout_id:
                return payout.described()
        raise Refusal(404, "DATA_NOT_FOUND")

    def end(self, reference: str, status: str, failure_code: str = "") -> None:
        """Let the bank do something with the payouts of a reference, and announce it."""
        for payout in self.made.values():
            if payout.reference == reference:
                payout.status, payout.failure_code = status, failure_code
                event = {"event": EVENTS[status], "business_id": "kaha", "created": NOW}
                self.announced.append(event | {"data": payout.described()})
