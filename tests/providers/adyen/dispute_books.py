"""The disputes of Adyen's fake: what is supplied and how each ends. Where Adyen leaves it open, the worse is true."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]

CONTENT_TYPES = {"application/pdf": b"%PDF-", "image/jpeg": b"\xff\xd8\xff", "image/jpg": b"\xff\xd8\xff"}
MAX_BYTES = {"application/pdf": 2 * 1024**2}
OTHER_MAX_BYTES = 10 * 1024**2
REQUIRED, ONE_OR_MORE, OPTIONAL = "Required", "OneOrMore", "Optional"
# Of a chargeback by Mastercard's 4853, as in Adyen's own examples.
REASONS: dict[str, dict[str, str]] = {
    "GoodsNotReturned": {"TIDorInvoice": OPTIONAL, "GoodsNotReturned": REQUIRED},
    "InvalidChargeback": {"InvalidChargeback": OPTIONAL},
    "SupplyDefenseMaterial": {"TIDorInvoice": OPTIONAL, "DefenseMaterial": REQUIRED},
}


class Refusal(Exception):
    """Adyen does not do it, in these words."""


@dataclass
class DisputeBook:
    """One dispute; `defended` has the reasons by which it was defended, one at most."""

    psp_reference: str
    payment_reference: str
    reasons: dict[str, dict[str, str]] = field(default_factory=lambda: REASONS)
    documents: dict[str, Body] = field(default_factory=dict)
    defended: list[str] = field(default_factory=list)
    is_accepted: bool = False
    is_expired: bool = False

    def do(self, call: str, body: Body) -> Body:
        """Return what a call answers beyond its success. Raise Refusal."""
        if self.is_expired:
            raise Refusal("Dispute expired.")
        if self.defended or self.is_accepted:
            raise Refusal("Dispute is not defendable.")
        calls = {
            "retrieveApplicableDefenseReasons": self._list,
            "supplyDefenseDocument": self._supply,
            "deleteDisputeDefenseDocument": self._delete,
            "defendDispute": self._defend,
            "acceptDispute": self._accept,
        }
        return calls[call](body) or {}

    def _list(self, body: Body) -> Body:
        reasons = [
            {"defenseReasonCode": code, "satisfied": self._satisfies(code), "defenseDocumentTypes": self._kinds(code)}
            for code in self.reasons
        ]
        return {"defenseReasons": reasons}

    def _kinds(self, code: str) -> list[Body]:
        return [
            {"defenseDocumentTypeCode": kind, "requirementLevel": level, "available": kind in self.documents}
            for kind, level in self.reasons[code].items()
        ]

    def _satisfies(self, code: str) -> bool:
        kinds = self.reasons[code]
        some = [kind for kind, level in kinds.items() if level == ONE_OR_MORE]
        has_required = all(kind in self.documents for kind, level in kinds.items() if level == REQUIRED)
        return has_required and (not some or any(kind in self.documents for kind in some))

    def _supply(self, body: Body) -> None:
        documents: Sequence[Body] = body["defenseDocuments"]
        for document in documents:
            kind = document["defenseDocumentTypeCode"]
            if not any(kind in kinds for kinds in self.reasons.values()) or kind in self.documents:
                raise Refusal("Invalid defense document type.")
            content = base64.b64decode(document["content"], validate=True)
            start = CONTENT_TYPES.get(document["contentType"])
            if start is None or not content.startswith(start):
                raise Refusal("Invalid content type of defense document.")
            if len(content) > MAX_BYTES.get(document["contentType"], OTHER_MAX_BYTES):
                raise Refusal("Defense document is too large.")
        self.documents |= {document["defenseDocumentTypeCode"]: document for document in documents}

    def _delete(self, body: Body) -> None:
        if body["defenseDocumentType"] not in self.documents:
            raise Refusal("Defense document not found.")
        del self.documents[body["defenseDocumentType"]]

    def _defend(self, body: Body) -> None:
        if body["defenseReasonCode"] not in self.reasons or not self._satisfies(body["defenseReasonCode"]):
            raise Refusal("Required defense documents are missing.")
        self.defended.append(body["defenseReasonCode"])

    def _accept(self, body: Body) -> None:
        self.is_accepted = True
