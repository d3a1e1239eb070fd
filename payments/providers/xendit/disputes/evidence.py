"""Which of the evidence that Xendit takes for a dispute each piece of a merchant's becomes.

Xendit names for each dispute what it takes, and lists the names nowhere. So a name is understood by its words. A piece
that no name shows goes where any may go, or else into a file of the others, whose pages say what each piece is: to lose
a dispute for want of an answer is worse than to answer under a name that does not fit.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain

from payments.providers import http
from payments.providers.disputes import Evidence, EvidenceType
from payments.providers.evidence.documents import PDF, TEXT, Document, Limit, Unusable
from payments.providers.xendit.fields import Body, objects, text

# What is a field's name as it is, and no more than that.
NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
# In words of the names, those that say most first.
POLICY = frozenset(["policy", "policies", "terms"])
SHOWN_BY: dict[EvidenceType, frozenset[str]] = {
    EvidenceType.RECEIPT: frozenset(["receipt", "receipts", "invoice", "invoices"]),
    EvidenceType.SHIPPING: frozenset(["delivery", "shipping", "shipment", "tracking"]),
    EvidenceType.SERVICE: frozenset(["service", "services", "usage"]),
    EvidenceType.SIGNATURE: frozenset(["signature", "signed", "delivery"]),
    EvidenceType.COMMUNICATION: frozenset(["communication", "communications", "correspondence"]),
    EvidenceType.REFUND_POLICY: POLICY,
    EvidenceType.CANCELLATION_POLICY: POLICY,
    EvidenceType.DUPLICATE: frozenset(["duplicate"]),
    EvidenceType.OTHER: frozenset(),
}
SHOWS_ANY = frozenset(["explanation", "statement", "other", "others", "additional", "supporting"])


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """Something that Xendit takes: a text of so many characters, or a file of so many bytes; and what is put there."""

    name: str
    is_file: bool
    max_length: int
    is_recommended: bool
    pieces: list[Evidence] = field(default_factory=list)

    @property
    def limit(self) -> Limit:
        return Limit("Xendit", self.max_length)

    @property
    def filename(self) -> str:
        """Return a name by which a file of these pieces is known again."""
        parts = chain.from_iterable((piece.type.value, piece.content_type, piece.content) for piece in self.pieces)
        return f"evidence-{hashlib.sha256(repr(tuple(parts)).encode()).hexdigest()[:32]}"

    def shows(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(re.split(r"[^a-z]+", self.name.lower()))

    def takes(self, piece: Evidence) -> bool:
        """Whether there is room for the piece: a file may be made of several, and of texts."""
        is_text = piece.content_type == TEXT and len(piece.content) <= self.max_length
        return self.is_file or (is_text and not self.pieces)

    def has(self, item: Body) -> bool:
        """Whether an item that Xendit has is what is put here."""
        if text(item, "category_slug") != self.name:
            return False
        if not self.is_file:
            return text(item, "text_content") == self.pieces[0].content
        return text(item, "filename").startswith(self.filename)

    def field(self, document: Document | None) -> http.Field:
        """Return the field of the form: the text, or the document that was made of the pieces."""
        if document is None:
            return http.Field(self.name, self.pieces[0].content.encode(), f"{TEXT}; charset=utf-8")
        suffix = "pdf" if document.content_type == PDF else "jpg"
        return http.Field(self.name, document.decoded, document.content_type, f"{self.filename}.{suffix}")


def placed(category: object, evidence: Iterable[Evidence]) -> list[EvidencePlace]:
    """Return the places of a dispute's category in which there is something. Raise Unusable."""
    places = sorted(_places(category), key=lambda place: not place.is_recommended)
    left = [piece for piece in evidence if not _put(piece, places)]
    files = sorted((place for place in places if place.is_file), key=lambda place: not place.pieces)
    if left and not files:
        raise Unusable(_no_place(left, places))
    for piece in left:
        files[0].pieces.append(piece)
    return [place for place in places if place.pieces]


def _places(category: object) -> list[EvidencePlace]:
    """Return what a category takes, without what cannot be understood."""
    found = []
    for allowed in objects(category, "allowed_evidence") if isinstance(category, dict) else []:
        name, kind, most = text(allowed, "name"), allowed.get("type"), allowed.get("max_length")
        if NAME.fullmatch(name) and kind in ("FILE", "TEXT") and isinstance(most, Decimal):
            found.append(EvidencePlace(name, kind == "FILE", int(most), allowed.get("is_recommended") is True))
    return found


def _put(piece: Evidence, places: Sequence[EvidencePlace]) -> bool:
    """Put a piece where it is shown best; return False where it is shown nowhere."""
    for words in (SHOWN_BY[piece.type], SHOWS_ANY):
        for place in places:
            if place.shows(words) and place.takes(piece):
                place.pieces.append(piece)
                return True
    return False


def _no_place(left: Sequence[Evidence], places: Sequence[EvidencePlace]) -> str:
    """Say what Xendit takes instead."""
    if not places:
        return "Xendit names no evidence that it takes for this dispute. Respond in its dashboard."
    kinds = ("file" if place.is_file else f"text of up to {place.max_length} characters" for place in places)
    taken = ", ".join(f"{place.name} ({kind})" for place, kind in zip(places, kinds, strict=True))
    pieces = ", ".join(piece.type.replace("_", " ") for piece in left)
    return f"Xendit takes for this dispute: {taken}. There is no place for: {pieces}. Send it in Xendit's dashboard."
