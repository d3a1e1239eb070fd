"""Disputes at the fake of Xendit: its books, and their shapes. What Xendit leaves open is the worse."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.parser import BytesParser
from typing import Any
from uuid import uuid4

from tests.providers.xendit.books import Refusal, Request
from tests.support.http_server import Asked

Body = dict[str, Any]

SPEC = "xendit-disputes-v1-subset.openapi.json"
EVENTS = {
    "ACTION_REQUIRED": "dispute.action_required",
    "UNDER_REVIEW": "dispute.under_review",
    "WON": "dispute.won",
    "LOST": "dispute.lost",
}
FILE_TYPES = {b"%PDF-": "application/pdf", b"\xff\xd8\xff": "image/jpeg", b"\x89PNG": "image/png"}
BEGUN = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)


def takes(name: str, kind: str = "FILE", most: int = 5 * 1024**2, *, recommended: bool = False, many: int = 1) -> Body:
    """Return a kind of evidence that a category allows."""
    shape = {"name": name, "type": kind, "max_length": most, "is_recommended": recommended}
    return shape | {"max_evidences": many}


# As in Xendit's own examples, which have no other names.
ALLOWED = (takes("proof_of_delivery", recommended=True, many=3), takes("explanation", "TEXT", 255, many=3))


@dataclass
class MadeDispute:
    """A dispute of a payment. `is_slow`: what is acknowledged is done by `catch_up`. `challenges` counts those."""

    of: Request
    amount: str
    category: str = "fraudulent"
    allowed: tuple[Body, ...] = ALLOWED
    channel: str = "CARDS"
    status: str = "ACTION_REQUIRED"
    reason: str | None = None
    terminal: str | None = None
    names_reference: bool = True
    echoes_filenames: bool = True
    is_slow: bool = False
    due_at: datetime = BEGUN + timedelta(days=7)
    evidences: list[Body] = field(default_factory=list)
    timeline: list[Body] = field(default_factory=list)
    challenges: int = 0
    acceptances: int = 0
    later: Callable[[], None] | None = None
    announced: list[Body] = field(default_factory=list)
    id: str = field(default_factory=lambda: f"mi-dspt-{uuid4()}")

    def __post_init__(self) -> None:
        self.move("ACTION_REQUIRED", None)

    def move(self, status: str, reason: str | None, terminal: str | None = None) -> None:
        """Bring the dispute to a status, and announce it."""
        self.status, self.reason, self.terminal = status, reason, terminal
        at = {"timestamp": self._now(), "actor": "XENDIT", "action": "MOVED"}
        self.timeline.append(at | {"status": status, "status_reason": reason})
        self.announced.append({"event": EVENTS[status], **self.described()})

    def described(self) -> Body:
        """Return the members that a lookup and a webhook share."""
        return {
            "id": self.id,
            "channel_code": self.channel,
            "card_brands": "VISA",
            "status": self.status,
            "status_reason": self.reason,
            "currency": self.of.currency,
            "amount": {"initial": self.amount, "terminal": self.terminal},
            "created_at": _written(BEGUN),
            "updated_at": self.timeline[-1]["timestamp"],
            "due_date": _written(self.due_at),
            "note": None,
            "category": {"name": self.category, "allowed_evidence": list(self.allowed)},
            "related_disputes": [],
            "payment_id": self.of.payment_id,
            "reference_id": self.of.reference if self.names_reference else None,
            "evidences": [dict(each) for each in self.evidences],
        }

    def add(self, parts: list[Message]) -> Body:
        """Add evidence, each piece by itself."""
        self._require_waiting()
        done: list[Body] = []
        failed: list[Body] = []
        for part in parts:
            name, content = str(part.get_param("name", header="content-disposition")), _content(part)
            code = self._refuses(name, content, is_file=part.get_filename() is not None)
            if code:
                failed.append({"category_slug": name, "error_code": code, "reason": "It is not taken."})
            else:
                done.append(self._add(name, content, part.get_filename()))
        return {"dispute_id": self.id, "evidences_succeeded": done, "evidences_failed": failed, "message": "ok"}

    def delete(self, evidence_id: str) -> None:
        """Delete a piece that the bank has not seen."""
        self._require_waiting()
        [piece] = [each for each in self.evidences if each["id"] == evidence_id]
        if self.challenges:
            raise Refusal(400, "ILLEGAL_STATE")
        self.evidences.remove(piece)

    def challenge(self) -> Body:
        self._require_waiting()
        if not self.evidences:
            raise Refusal(400, "INVALID_REQUEST")
        self.challenges += 1
        return self._acknowledge(lambda: self.move("UNDER_REVIEW", None))

    def accept(self) -> Body:
        self._require_waiting()
        self.acceptances += 1
        return self._acknowledge(lambda: self.move("LOST", "ACCEPTED"))

    def catch_up(self) -> None:
        """Do what was acknowledged."""
        assert self.later
        later, self.later = self.later, None
        later()

    def _acknowledge(self, effect: Callable[[], None]) -> Body:
        self.later = effect
        if not self.is_slow:
            self.catch_up()
        return {"dispute_id": self.id, "message": "It is done later."}

    def _require_waiting(self) -> None:
        if self.status != "ACTION_REQUIRED" or self.later:
            raise Refusal(400, "ILLEGAL_STATE")

    def _refuses(self, name: str, content: bytes, *, is_file: bool) -> str:
        """Return the code by which a piece is refused; empty for one that is taken."""
        place = next((each for each in self.allowed if each["name"] == name), None)
        if place is None:
            return "EVIDENCE_CATEGORY_NOT_ALLOWED"
        if sum(1 for each in self.evidences if each["category_slug"] == name) >= place["max_evidences"]:
            return "CATEGORY_LIMIT_REACHED"
        size = len(content) if is_file else len(content.decode())
        is_of_type = is_file == (place["type"] == "FILE") and (not is_file or _mime_type(content))
        return "" if is_of_type and size <= place["max_length"] else "UNSUPPORTED_EVIDENCE_TYPE"

    def _add(self, name: str, content: bytes, filename: str | None) -> Body:
        piece: Body = {"id": f"mi-dspt-evd-{uuid4()}", "category_slug": name, "type": "FILE" if filename else "TEXT"}
        answered = dict(piece)
        if filename is None:
            piece["text_content"] = content.decode()
        else:
            digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
            answered |= {"filename": filename, "mime_type": _mime_type(content), "content_hash": f"md5:{digest}"}
            piece |= answered if self.echoes_filenames else {}
        self.evidences.append(piece | {"created_at": self._now()})
        return answered

    def _now(self) -> str:
        return _written(BEGUN + timedelta(minutes=len(self.timeline)))


class DisputeBooks:
    """The disputes by their names, oldest first."""

    def __init__(self) -> None:
        self.made: dict[str, MadeDispute] = {}

    def raise_dispute(self, of: Request, amount: str = "", **members: Any) -> MadeDispute:
        """Dispute a payment, all of it unless an amount is given."""
        made = MadeDispute(of, amount or f"{of.captured / 100:.2f}", **members)
        self.made[made.id] = made
        return made

    def of(self, reference: str) -> list[MadeDispute]:
        return [each for each in self.made.values() if each.of.reference == reference]

    def get(self, dispute_id: str) -> MadeDispute:
        if dispute_id not in self.made:
            raise Refusal(404, "DISPUTE_NOT_FOUND")
        return self.made[dispute_id]

    def announced(self) -> list[Body]:
        """Return the webhooks since the last call."""
        bodies = [body for each in self.made.values() for body in each.announced]
        for each in self.made.values():
            each.announced.clear()
        return bodies

    def shown(self, dispute_id: str, query: Body) -> Body:
        """Return what a lookup answers."""
        made = self.get(dispute_id)
        timeline = {"timeline": made.timeline[::-1]} if query.get("include_timeline") == "true" else {}
        return made.described() | timeline


def parts_of(asked: Asked) -> list[Message]:
    """Return the fields of a form, read by Python's own parser."""
    head = f"Content-Type: {asked.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + asked.body).get_payload()
    assert isinstance(parts, list)
    return parts


def fields_of(asked: Asked) -> dict[str, str]:
    """Return the form's fields by name, with files as their names; each is there once."""
    parts = parts_of(asked)
    fields = {str(each.get_param("name", header="content-disposition")): each.get_filename() or "" for each in parts}
    assert len(fields) == len(parts)
    return fields


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return content


def _mime_type(content: bytes) -> str:
    return next((kind for start, kind in FILE_TYPES.items() if content.startswith(start)), "")


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
