"""Messages of the simulator: signed JSON, stored until it is acknowledged, delivered at least once."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import JSONField, QuerySet
from django.db.models.functions import Cast
from django.utils.crypto import constant_time_compare, salted_hmac

from payments import clock
from payments.providers.base import Approved, BadSignature, Declined, Outcome, Unknown, WebhookEvent
from payments.providers.disputes import Disputed, disputed_from
from payments.providers.simulator.models import Message

SIGNATURE_HEADER = "Simulator-Signature"
# The time to acknowledge a message before it is delivered again.
CLAIM_SECONDS = 30
# The kind of a message without an outcome.
NEWS = "payout"
OUTCOMES: dict[str, type[Approved] | type[Declined]] = {"approved": Approved, "declined": Declined}


def write_message(reference: str, outcome: Outcome | Disputed) -> None:
    """Leaves a message in the caller's transaction: `reference` came to this final `outcome`, or is disputed."""
    content = {"reference": reference, "kind": type(outcome).__name__.lower(), "outcome": asdict(outcome)}
    Message.objects.create(body=json.dumps(content, default=str))


def write_news(reference: str) -> None:
    """Leave a message in the caller's transaction: the payout of `reference` has changed, and can be looked up."""
    Message.objects.create(body=json.dumps({"reference": reference, "kind": NEWS}))


def unacknowledged(among: Collection[str] | None = None) -> QuerySet[Message]:
    """Return the unacknowledged messages: all, or those about one of the references `among`."""
    rows = Message.objects.filter(delivered_at=None)
    if among is None:
        return rows
    return rows.annotate(content=Cast("body", JSONField())).filter(content__reference__in=among)


def unacknowledged_references() -> set[str]:
    """Return the references of the unacknowledged messages."""
    return {json.loads(body)["reference"] for body in unacknowledged().values_list("body", flat=True)}


def claim(limit: int, among: Collection[str] | None = None) -> list[Message]:
    """Return up to `limit` due messages, oldest first, each repeated later unless it is acknowledged."""
    now = clock.now()
    due = unacknowledged(among).filter(due_at__lte=now).order_by("due_at")
    with transaction.atomic():
        messages = list(due.select_for_update(skip_locked=True)[:limit])
        ids = [message.pk for message in messages]
        Message.objects.filter(id__in=ids).update(due_at=now + timedelta(seconds=CLAIM_SECONDS))
    return messages


def acknowledge(message_id: int) -> None:
    """Acknowledge a message; harmless when repeated."""
    Message.objects.filter(id=message_id, delivered_at=None).update(delivered_at=clock.now())


def sign(body: bytes) -> dict[str, str]:
    """Return the headers that sign a message with this body."""
    return {SIGNATURE_HEADER: _signature(body)}


def read(headers: Mapping[str, str], body: bytes) -> WebhookEvent:
    """Return the event in a message. Raise BadSignature unless the simulator signed exactly this body."""
    if not constant_time_compare(headers.get(SIGNATURE_HEADER, ""), _signature(body)):
        raise BadSignature
    content: dict[str, Any] = json.loads(body)
    if content["kind"] == NEWS:
        return WebhookEvent(content["reference"], None)
    if content["kind"] == "disputed":
        return WebhookEvent(content["reference"], None, dispute=disputed_from(content["outcome"]))
    if content["kind"] not in OUTCOMES:
        return WebhookEvent(content["reference"], Unknown(f"The simulator reports {content['kind']!r}."))
    return WebhookEvent(content["reference"], OUTCOMES[content["kind"]](**content["outcome"]))


def _signature(body: bytes) -> str:
    return salted_hmac("kaha.simulator.message", body, algorithm="sha256").hexdigest()
