"""Documents that are made of merchants' evidence."""

import base64
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from pypdf import PageObject, PdfReader

from payments.concurrency.bounded_process import HostBusy
from payments.providers.disputes import Evidence, EvidenceType
from payments.providers.evidence import documents
from payments.providers.evidence.documents import Document, Limit, Unusable
from tests.providers.evidence import file, image, pdf, text


def documents_of(evidence: dict[str, list[Evidence]], max_bytes: int = 2 * 1024**2) -> dict[str, Document]:
    """Return the documents for a provider that takes so many bytes in each."""
    return documents.documents_of(evidence, dict.fromkeys(evidence, Limit("Acme", max_bytes)))


def words_of(document: Document) -> str:
    """Return the text on the pages of a PDF."""
    assert document.content_type == "application/pdf"
    return "\n".join(map(_words_on, PdfReader(BytesIO(base64.b64decode(document.content))).pages))


def _words_on(page: PageObject) -> str:
    def must_lie_on_it(text: str, _: object, matrix: list[float], *__: object) -> None:
        assert not text.strip() or 0 < matrix[5] < page.mediabox.top

    return page.extract_text(visitor_text=must_lie_on_it)


@pytest.mark.long
def test_texts_images_and_files_for_one_document_are_joined_in_their_order() -> None:
    pieces = [
        text(EvidenceType.COMMUNICATION, "Paid ₱100 in cash\n" + "a" * 200),
        file(EvidenceType.SHIPPING, "application/pdf", pdf("Delivered on Monday")),
        file(EvidenceType.SIGNATURE, "image/png", image("PNG", mode="RGBA")),
    ]
    words = words_of(documents_of({"DefenseMaterial": pieces})["DefenseMaterial"])
    found = [words.index(part) for part in ("Paid PHP 100 in cash", "Delivered on Monday", "customer signature")]
    assert found == sorted(found)


def test_a_text_of_many_pages_is_sent_whole() -> None:
    lines = [f"Line {number} of what was said" for number in range(500)]
    words = words_of(documents_of({"D": [text(EvidenceType.OTHER, "\n".join(lines))]})["D"])
    assert [line for line in words.splitlines() if line.startswith("Line")] == lines


@pytest.mark.long
@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ([text(EvidenceType.OTHER, "She said ☃")], "a character"),
        ([text(EvidenceType.OTHER), file(EvidenceType.RECEIPT, "application/pdf", b"%PDF-1.7 no")], "receipt cannot"),
        ([file(EvidenceType.RECEIPT, "image/png", image("PNG")[:60])], "receipt cannot be read"),
        ([file(EvidenceType.RECEIPT, "image/png", image("PNG", (7000, 7000), "1"))], "receipt cannot be read"),
    ],
    ids=["other characters", "broken PDF", "broken PNG", "too many pixels"],
)
def test_what_cannot_become_a_document_is_refused_by_name(pieces: list[Evidence], why: str) -> None:
    with pytest.raises(Unusable, match=why):
        documents_of({"D": pieces})


@pytest.mark.long
def test_more_bytes_than_the_provider_takes_are_refused() -> None:
    noise = pdf(Random(1).randbytes(900_000).hex())
    with pytest.raises(Unusable, match="2 MB"):
        documents_of({"D": [file(type_, "application/pdf", noise) for type_ in list(EvidenceType)[:3]]})


@pytest.mark.long
def test_the_process_that_opens_files_has_no_environment_and_ends_in_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import json, os; print(json.dumps({'documents': {'D': ' '.join(os.environ)}}))")
    monkeypatch.setattr(documents, "SCRIPT", script)
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "x")
    assert "SECRET" not in documents_of({"D": [text(EvidenceType.OTHER)]})["D"].content
    script.write_text("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(Unusable, match="too much time or memory"):
        documents_of({"D": [text(EvidenceType.OTHER)]})
    # Where the time of the processor is not used up, the host had none.
    script.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(documents, "SECONDS", 0.5)
    with pytest.raises(HostBusy):
        documents_of({"D": [text(EvidenceType.OTHER)]})


@pytest.mark.long
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_file_by_itself_is_held_to_the_limit_too(kind: str) -> None:
    piece = file(EvidenceType.RECEIPT, f"image/{kind.lower()}", image(kind))
    assert documents_of({"D": [piece]})["D"].size > 100
    with pytest.raises(Unusable, match=r"Acme takes .* and this is more: receipt"):
        documents_of({"D": [piece]}, 100)
