"""Texts in whatever letters on a page of a PDF: in the fonts that every PDF reader has, else in fonts of ours.

Those are in the folder `fonts`, with their licences; a PDF has the drawn letters of them only.
"""

import unicodedata
from collections.abc import Container, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from threading import Lock

from anyascii import anyascii
from reportlab.pdfbase.pdfmetrics import getFont, getRegisteredFontNames, registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

PLAIN, BOLD = "Helvetica", "Helvetica-Bold"
FONTS = Path(__file__).with_name("fonts")
# Our fonts for a line with other letters than those two have: the first that has a letter draws it.
OTHERS = {PLAIN: ("DejaVuSansCondensed", "DroidSansFallback"), BOLD: ("DejaVuSansCondensed-Bold", "DroidSansFallback")}
CUT = "…"
# A font that is registered again would lose the letters of a document that another thread draws.
ONE_AT_A_TIME = Lock()


def draw(canvas: Canvas, x: float, y: float, text: str, font: str, size: float, width: float) -> None:
    """Draw one line of text from `x` on, cut to `width`; to the left of `x` where `width` is negative."""
    found = parts(text, font, size, abs(width))
    if width < 0:
        x -= _width(found, size)
    line = canvas.beginText(x, y)
    for each, part in found:
        line.setFont(each, size)
        line.textOut(part)
    canvas.drawText(line)


def parts(text: str, font: str, size: float, width: float) -> list[tuple[str, str]]:
    """Return `text`, cut to `width`, as parts with the font of each: `font`, or OTHERS of it for other letters."""
    text = whole = " ".join(unicodedata.normalize("NFC", text).split())
    while True:
        found = list(_parts(text, font))
        if _width(found, size) <= width:
            return found
        whole = whole[:-1]
        text = whole + CUT


def _width(found: list[tuple[str, str]], size: float) -> float:
    return float(sum(stringWidth(part, font, size) for font, part in found))


def _parts(text: str, font: str) -> Iterator[tuple[str, str]]:
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        drawn = ((other, letter) for each in text for other, letter in _letters(each, font))
        for other, found in groupby(drawn, key=lambda pair: pair[0]):
            yield other, "".join(letter for _, letter in found)
    else:
        yield font, text


def _letters(letter: str, font: str) -> Iterator[tuple[str, str]]:
    """Yield the font and the letter; of one that no font has, or that joins its neighbours, a transliteration."""
    is_right_to_left = unicodedata.bidirectional(letter) in ("R", "AL")
    for other in () if is_right_to_left else OTHERS[font]:
        if ord(letter) in _glyphs(other):
            yield other, letter
            return
    yield OTHERS[font][0], anyascii(letter)


@cache
def _glyphs(font: str) -> Container[int]:
    """Return the code points that a font of ours has, which documents may use from now on."""
    with ONE_AT_A_TIME:
        if font not in getRegisteredFontNames():
            registerFont(TTFont(font, FONTS / f"{font}.ttf"))
    glyphs: Container[int] = getFont(font).face.charToGlyph
    return glyphs
