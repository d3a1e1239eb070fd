"""Make PDFs of texts, images and other PDFs, in a process of its own: what merchants send is opened nowhere else.

Run as a script, it reads the pieces of each document and how many bytes it may have as JSON from its input, and writes
the PDFs in base64 to its output, or what is wrong. It has no environment, imports nothing of kaha, and the system ends
it where it takes more time or memory than it may.
"""

import base64
import json
import resource
import sys
import textwrap
from collections.abc import Iterator
from io import BytesIO
from typing import Any

CPU_SECONDS = 20
MEMORY_BYTES = 768 * 1024**2
# Of an image; Pillow refuses twice as many.
PIXELS = 20_000_000
# The longer side of an image in the document, enough to read a page by.
SIDE_PIXELS = 2_000

MARGIN = 50
TITLE_FONT, TEXT_FONT, SIZE, LINE = "Helvetica-Bold", "Courier", 9, 12
COLUMNS = 90


Piece = dict[str, str]


class Broken(Exception):
    """A piece cannot be read: its document and its number there."""


def joined(document: str, pieces: list[Piece], max_bytes: int) -> str:
    """Return the PDF of all pieces in base64; empty where it has more bytes. Raise Broken."""
    from pypdf import PdfWriter

    writer = PdfWriter()
    for number, piece in enumerate(pieces):
        try:
            writer.append(BytesIO(_pdf_of(piece)), import_outline=False)
        except Exception:  # noqa: BLE001 # a merchant's file may be broken in any way
            raise Broken(document, number) from None
    file = BytesIO()
    writer.write(file)
    made = file.getvalue()
    return base64.b64encode(made).decode() if len(made) <= max_bytes else ""


def _pdf_of(piece: Piece) -> bytes:
    """Return one piece as a PDF: a PDF as it is."""
    if piece["content_type"] == "text/plain":
        return _drawn(piece["title"], lambda canvas, area: _draw_text(canvas, area, piece["content"]))
    content = base64.b64decode(piece["content"])
    if piece["content_type"] == "application/pdf":
        return content
    return _drawn(piece["title"], lambda canvas, area: _draw_image(canvas, area, content))


def _drawn(title: str, draw: Any) -> bytes:
    """Return a PDF with `title` on its first page, and below what `draw` draws on the canvas."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    file, (width, height) = BytesIO(), A4
    canvas = Canvas(file, pagesize=A4, invariant=1, pageCompression=1)
    canvas.setFont(TITLE_FONT, SIZE + 3)
    canvas.drawString(MARGIN, height - MARGIN, title)
    draw(canvas, (width - 2 * MARGIN, height - 2 * MARGIN - 2 * LINE))
    canvas.save()
    return file.getvalue()


def _draw_text(canvas: Any, area: tuple[float, float], text: str) -> None:
    top = y = MARGIN + area[1]
    canvas.setFont(TEXT_FONT, SIZE)
    for line in _lines(text):
        if y < MARGIN:
            canvas.showPage()
            canvas.setFont(TEXT_FONT, SIZE)
            y = top
        canvas.drawString(MARGIN, y, line)
        y -= LINE


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, long ones in parts."""
    for line in text.expandtabs(4).splitlines():
        yield from textwrap.wrap(line, COLUMNS, replace_whitespace=False, drop_whitespace=False) or [""]


def _draw_image(canvas: Any, area: tuple[float, float], content: bytes) -> None:
    from PIL import Image, ImageOps
    from reportlab.lib.utils import ImageReader

    Image.MAX_IMAGE_PIXELS = PIXELS
    image = Image.open(BytesIO(content), formats=["PNG", "JPEG"])
    image.draft("RGB", (SIDE_PIXELS, SIDE_PIXELS))
    image.thumbnail((SIDE_PIXELS, SIDE_PIXELS))
    shown = ImageOps.exif_transpose(image).convert("RGBA")
    # What is transparent is white on paper.
    page = Image.new("RGBA", shown.size, "white")
    page.alpha_composite(shown)
    file = BytesIO()
    page.convert("RGB").save(file, "JPEG", quality=80)
    scale = min(area[0] / page.width, area[1] / page.height)
    width, height = page.width * scale, page.height * scale
    canvas.drawImage(ImageReader(file), MARGIN, MARGIN + area[1] - height, width, height)


def main() -> None:
    """Make the PDFs of what comes in, within the limits."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    asked: dict[str, tuple[list[Piece], int]] = json.load(sys.stdin)
    try:
        made: dict[str, Any] = {"documents": {name: joined(name, *document) for name, document in asked.items()}}
    except Broken as broken:
        made = {"broken": broken.args}
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main()
