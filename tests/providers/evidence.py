"""Pieces of evidence: texts, and files of each type."""

import base64
from io import BytesIO

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from payments.providers.disputes import Evidence, EvidenceType


def text(type_: EvidenceType, words: str = "Signed for by Maria") -> Evidence:
    return Evidence(type_, "text/plain", words)


def file(type_: EvidenceType, content_type: str, content: bytes) -> Evidence:
    return Evidence(type_, content_type, base64.b64encode(content).decode())


def pdf(words: str) -> bytes:
    made = BytesIO()
    canvas = Canvas(made)
    canvas.drawString(100, 700, words)
    canvas.save()
    return made.getvalue()


def image(kind: str, size: tuple[int, int] = (300, 200), mode: str = "RGB") -> bytes:
    made = BytesIO()
    Image.new(mode, size).save(made, kind)
    return made.getvalue()


def uploaded(content: bytes) -> SimpleUploadedFile:
    """Return a file as a browser sends it, with a name and a type that say nothing of its content."""
    return SimpleUploadedFile("picture.bin", content, "application/octet-stream")
