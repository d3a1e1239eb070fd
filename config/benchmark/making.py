"""What requests need before they can be measured: sources, charges, holds, made over the API and not measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from config.benchmark.sending import Answers, Load, Request
from payments.quickstart.payment import CARD, ORDER

APPROVED = CARD["number"]
DECLINED = "4000000000000002"


@dataclass(frozen=True)
class Seeded:
    """IDs of charges with half of the merchant's after them, and with one page; a key of the merchant that went quiet,
    and how many charges there are in all.
    """

    middle: str = ""
    before_last: str = ""
    quiet_key: str = ""
    charges: int = 0


@dataclass
class Maker:
    """Makes objects of the merchant whose `secret_key` it has; `charges` are the IDs of all that it has charged.

    `receiver` is the URL of the merchant's endpoint, and `seeded` tells what was there before.
    """

    load: Load
    port: int
    secret_key: str
    receiver: str = ""
    seeded: Seeded = Seeded()
    charges: list[str] = field(default_factory=list)

    def sources(self, count: int, number: str = APPROVED, **members: Any) -> Sequence[str]:
        """The IDs of new sources of cards with this number."""
        return self.send(new_sources(count, number, **members)).ids

    def charged(self, count: int, capture: bool = True) -> Sequence[str]:
        """The IDs of new charges, held only where not captured."""
        return self.charge(new_charges(self.sources(count), capture=capture))

    def charge(self, requests: Sequence[Request]) -> Sequence[str]:
        """Send requests that charge; the IDs of the charges."""
        ids = self.send(requests).ids
        self.charges += ids
        return ids

    def send(self, requests: Sequence[Request], seconds: float | None = None, again: bool = False) -> Answers:
        """Send requests to the service: see `Load.send`."""
        return self.load.send(self.port, [request.text(self.secret_key) for request in requests], seconds, again)


def new_sources(count: int, number: str = APPROVED, **members: Any) -> list[Request]:
    """Requests that each make a source, of a payer of its own."""
    cards = [{**CARD, "number": number, "name": f"Payer {payer}"} for payer in range(count)]
    return [Request("POST", "/v2/sources/", {"type": "card", "card": card, **members}) for card in cards]


def new_charges(sources: Sequence[str], **members: Any) -> list[Request]:
    """Requests that each charge one of `sources`, under a key of its own."""
    return [
        Request("POST", "/v2/charges/", {**ORDER, "source": source, **members}, key=uuid4().hex) for source in sources
    ]


def acts(charges: Sequence[str], verb: str, body: dict[str, Any]) -> list[Request]:
    """Requests that each do something to one of `charges`, under a key of its own."""
    return [Request("POST", f"/v2/charges/{charge}/{verb}", body, key=uuid4().hex) for charge in charges]
