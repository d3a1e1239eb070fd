"""A provider around the simulator's books that reports outcomes by signed webhooks."""

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.http import HttpResponse
from django.test import Client

from payments.domain.provider_events import apply
from payments.domain.provider_events.inbox import read_outcome, written_outcome
from payments.models import Attempt, ProviderAccount, ProviderEvent
from payments.providers import registry
from payments.providers.base import (
    Approved,
    BadSignature,
    Declined,
    NotFound,
    Operation,
    Outcome,
    Payment,
    Pending,
    WebhookEvent,
)
from payments.providers.disputes import disputed_from, news_from
from payments.providers.simulator.books import approve
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api, made
from tests.routing.doubles import KEY, Psp, installed

HEADER = "Psp-Signature"
ANSWER = "[taken]"
APPLIED = ("applied", "")
Message = tuple[dict[str, str], bytes]


class WebhookPsp(Psp):
    """Answers captures, voids and refunds only with that it has them, and reports their outcomes later.

    What it has not reported yet is in `announced`. Lookups are answered by `found`, and returns by
    `continued`, where there is such an answer.
    """

    def __init__(self, name: str = "reporting") -> None:
        super().__init__(name)
        self.announced: list[WebhookEvent] = []
        self.voids = True
        self.found: Outcome | None = None
        self.looked_up: list[Payment | Operation] = []
        self.continued: Outcome | None = None
        self.brought: list[Mapping[str, str]] = []

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        self.brought.append(params)
        return self.continued or super().continue_payment(payment, params)

    def capture(self, operation: Operation) -> Outcome:
        return self._later(operation, super().capture(operation))

    def void(self, operation: Operation) -> Outcome:
        return self._later(operation, super().void(operation) if self.voids else declined())

    def refund(self, operation: Operation) -> Outcome:
        return self._later(operation, super().refund(operation))

    def cancel(self, operation: Operation) -> Outcome:
        """Says at once that it will, and a payer who is faster pays."""
        return Approved(operation.reference)

    def resolve(self, asked: Payment | Operation) -> Outcome:
        self.looked_up.append(asked)
        outcome = self.found or super().resolve(asked)
        is_reporting = isinstance(asked, Operation) and not isinstance(outcome, NotFound)
        return Pending(asked.reference) if is_reporting else outcome

    def read_webhook(self, headers: Mapping[str, str], body: bytes) -> list[WebhookEvent]:
        if not hmac.compare_digest(headers.get(HEADER, ""), _signature(body)):
            raise BadSignature
        return [_read(**item) for item in json.loads(body)["items"]]

    def _later(self, operation: Operation, outcome: Outcome) -> Outcome:
        self.announced.append(event_about(operation.reference, outcome, operation.amount))
        return Pending(operation.reference)


def event_about(reference: str, outcome: Outcome | None, amount: int | None = 10_000, **members: Any) -> WebhookEvent:
    """Build an event with its own key."""
    key = f"{reference}:{type(outcome).__name__}"
    return WebhookEvent(reference, outcome, key, amount, "PHP", **members)


def signed(*events: WebhookEvent) -> Message:
    """Build the signed message of these events."""
    return signed_bytes(json.dumps({"items": [_written(each) for each in events]}, default=str).encode())


def signed_bytes(body: bytes) -> Message:
    return {HEADER: _signature(body)}, body


def send(account: ProviderAccount, message: Message) -> HttpResponse:
    """Send a message to the account's address; return the answer."""
    headers, body = message
    path = f"/providers/{account.public_id}/webhooks"
    return Client().generic("POST", path, body, content_type="application/json", headers=headers)


def announce(account: ProviderAccount, *events: WebhookEvent) -> None:
    """Send the events, one message each, and apply them."""
    for each in events:
        assert send(account, signed(each)).status_code == 200
    apply_due()


def apply_due() -> int:
    """As a worker does by itself as often as anything is due; what was put off is due at once here."""
    let_time_pass(ProviderEvent, "due_at")
    return apply.apply_due()


def do(live: Api, charge: dict[str, Any], verb: str, **body: Any) -> dict[str, Any]:
    """Send the merchant's operation; return the charge after it."""
    return made(live.post(f"/charges/{charge['id']}/{verb}", body))


def paid_on_its_page() -> None:
    """Approve at the provider, which sends no webhook."""
    approve(SimulatedPayment.objects.latest("id"), send_message=False)


def name_of(kind: str) -> str:
    """Our reference of the newest attempt of this kind."""
    return Attempt.objects.filter(kind=kind).latest("id").reference


def standing() -> list[tuple[str, str]]:
    """How each event stands, oldest first, and why."""
    return list(ProviderEvent.objects.order_by("id").values_list("state", "why"))


@contextmanager
def reporting(psp: WebhookPsp) -> Iterator[WebhookPsp]:
    """Has kaha know a connector to `psp` that takes webhooks."""
    with installed(psp):
        known = registry.CONNECTORS[psp.name]
        registry.CONNECTORS[psp.name] = dataclasses.replace(known, webhook_headers=(HEADER,), webhook_answer=ANSWER)
        yield psp


def approved(reference: str = "psp_1", *, captured: bool = False) -> Approved:
    return Approved(reference, captured=captured)


def declined(code: str = "processing_error") -> Declined:
    return Declined(code, "psp_1", "PSP_SAYS_NO", "It was refused.")


def _written(each: WebhookEvent) -> dict[str, Any]:
    outcome = each.outcome
    announced = {"kind": type(outcome).__name__, "announced": written_outcome(outcome)} if outcome else {}
    return dataclasses.asdict(each) | {"outcome": announced}


def _read(outcome: dict[str, str], dispute: dict[str, Any] | None, **members: Any) -> WebhookEvent:
    found = read_outcome(outcome["kind"], outcome["announced"]) if outcome else None
    read = news_from if dispute and "claims" in dispute else disputed_from
    return WebhookEvent(outcome=found, dispute=read(dispute) if dispute else None, **members)


def _signature(body: bytes) -> str:
    return hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()
