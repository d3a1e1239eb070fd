"""Evidence as documents that providers take: PDFs and JPEGs as they are, everything else in one PDF for each document.

Merchants' files are opened by `joined_pdf` alone, a process that is bounded in time and memory; and not even there
where a file is a document by itself.
"""

import base64
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from payments.concurrency.bounded_process import Ended, output_of
from payments.providers.disputes import Evidence
from payments.providers.evidence import joined_pdf

TEXT, PDF, JPEG = "text/plain", "application/pdf", "image/jpeg"
# For all documents of a response.
SECONDS = 30
SCRIPT = Path(joined_pdf.__file__)
SIGNS = str.maketrans({"₱": "PHP "})


class Unusable(Exception):
    """There is no document of this evidence; the message says to the merchant what to send instead."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file of `content_type` in base64. Its content is in no repr, because it is personal."""

    content_type: str
    content: str = field(repr=False)

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return len(self.content) * 3 // 4 - self.content.count("=")

    @property
    def decoded(self) -> bytes:
        """Return its bytes."""
        return base64.b64decode(self.content)


@dataclass(frozen=True, slots=True)
class Limit:
    """What `provider` takes in one document."""

    provider: str
    max_bytes: int


def documents_of(evidence: Mapping[str, Sequence[Evidence]], limits: Mapping[str, Limit]) -> dict[str, Document]:
    """Return the document of each name, from its pieces, within its limit. Raise Unusable and HostBusy."""
    whole = {name: _as_it_is(pieces) for name, pieces in evidence.items()}
    made = _joined({name: evidence[name] for name, document in whole.items() if document is None}, limits)
    documents = {name: document or made[name] for name, document in whole.items()}
    for name, document in documents.items():
        # A PDF that became too large comes back empty.
        if not document.content or document.size > limits[name].max_bytes:
            most, named = f"{limits[name].max_bytes / 1024**2:.3g} MB", ", ".join(map(_title, evidence[name]))
            takes = f"{limits[name].provider} takes {most} in a document at most"
            raise Unusable(f"{takes}, and this is more: {named}. Make them smaller.")
    return documents


def _as_it_is(pieces: Sequence[Evidence]) -> Document | None:
    """Return the only piece as a document, where it is one already."""
    first, *others = pieces
    is_document = not others and first.content_type in (PDF, JPEG)
    return Document(first.content_type, first.content) if is_document else None


def _joined(evidence: Mapping[str, Sequence[Evidence]], limits: Mapping[str, Limit]) -> dict[str, Document]:
    """Return a PDF for each name, of all its pieces; empty where it would be too large. Raise Unusable."""
    if not evidence:
        return {}
    pieces = {
        name: [{"title": _title(each), "content_type": each.content_type, "content": _content(each)} for each in pieces]
        for name, pieces in evidence.items()
    }
    made = _run(json.dumps({name: (pieces[name], limits[name].max_bytes) for name in pieces}).encode())
    if "broken" in made:
        name, number = made["broken"]
        raise Unusable(f"The {_title(evidence[name][number])} cannot be read. Send another file, or a text.")
    return {name: Document(PDF, content) for name, content in made["documents"].items()}


def _run(asked: bytes) -> dict[str, Any]:
    """Return what the process makes of the pieces. Raise Unusable where it is ended before, and HostBusy."""
    try:
        made: dict[str, Any] = json.loads(output_of(SCRIPT, asked, SECONDS))
    except Ended:
        raise Unusable("The files take too much time or memory to be read. Send simpler ones.") from None
    return made


def _title(piece: Evidence) -> str:
    return piece.type.replace("_", " ")


def _content(piece: Evidence) -> str:
    """Return the content as it is; a text in the characters that every PDF reader has. Raise Unusable."""
    if piece.content_type != TEXT:
        return piece.content
    text = unicodedata.normalize("NFC", piece.content).translate(SIGNS)
    try:
        text.encode("cp1252")
    except UnicodeEncodeError as error:
        message = f"The text of {_title(piece)} has a character that its PDF cannot show ({text[error.start]})"
        raise Unusable(f"{message}. Leave it out, or send a PDF, PNG or JPEG.") from None
    return text
