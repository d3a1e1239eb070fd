"""Statements as PDF: in the fonts that every PDF reader has, and names in whatever letters in fonts of ours.

Those are in the folder `fonts`, with their licences; a PDF has the drawn letters of them only.
"""

import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import groupby
from pathlib import Path
from threading import Lock

from anyascii import anyascii
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import getFont, getRegisteredFontNames, registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from payments.domain.statements.statement import Owed, Section, Statement
from payments.ids import public_id
from payments.money import plain_amount

WIDTH, HEIGHT = A4
LEFT, RIGHT, TOP, BOTTOM = 48, WIDTH - 48, HEIGHT - 56, 64
LINE = 14
PLAIN, BOLD = "Helvetica", "Helvetica-Bold"
FONTS = Path(__file__).with_name("fonts")
# Our fonts for a line with other letters than those two have: the first that has a letter draws it.
OTHERS = {
    PLAIN: ("DejaVuSansCondensed", "DroidSansFallback"),
    BOLD: ("DejaVuSansCondensed-Bold", "DroidSansFallback"),
}
# Day and movement begin here; the three amounts end here.
DAY, WORDS, *AMOUNTS = LEFT, LEFT + 68, RIGHT - 200, RIGHT - 100, RIGHT
HEADS = ("Pending", "Available", "Balance")
CUT = "…"
# A font that is registered again would lose the letters of a document that another thread draws.
ONE_AT_A_TIME = Lock()


def statement_pdf(statement: Statement) -> bytes:
    """Return the statement as a PDF. A kind and currency has 31 rows at most; payouts have LINES_MAX."""
    file = BytesIO()
    sheet = Sheet(Canvas(file, pagesize=A4, invariant=1, pageCompression=1), statement)
    for section in statement.sections:
        sheet.add(section)
    if not statement.sections:
        sheet.write("Nothing was owed and nothing moved.")
    sheet.finish()
    return file.getvalue()


class Sheet:
    """The pages of one statement while they are drawn, from top to bottom."""

    def __init__(self, canvas: Canvas, statement: Statement) -> None:
        self.canvas, self.statement, self.y = canvas, statement, TOP
        canvas.setTitle(statement.file_name)
        self._write_title()

    def add(self, section: Section) -> None:
        """Draw a currency's balances and movements, with its heads again on each new page."""
        self._need(6 * LINE)
        self.y -= LINE
        self.write(f"{section.currency}", BOLD, 12)
        self._heads()
        self._row(self.statement.first.isoformat(), "Opening balance", section.opening, section.opening, BOLD, section)
        for row in section.rows:
            self._row(row.day.isoformat(), row.words, row.change, row.after, PLAIN, section)
        self._row(self.statement.last.isoformat(), "Closing balance", section.closing, section.closing, BOLD, section)
        self.y -= LINE / 2
        for words, change in section.totals:
            self._row("Total", words, change, None, PLAIN, section)

    def write(self, text: str, font: str = PLAIN, size: int = 9) -> None:
        """Draw one line of text."""
        self._need(LINE)
        line = self.canvas.beginText(LEFT, self.y)
        for each, part in parts(text, font, size, RIGHT - LEFT):
            line.setFont(each, size)
            line.textOut(part)
        self.canvas.drawText(line)
        self.y -= LINE

    def finish(self) -> None:
        self._write_foot()
        self.canvas.save()

    def _write_title(self) -> None:
        statement, merchant = self.statement, self.statement.merchant
        self.canvas.setFont(BOLD, 16)
        self.canvas.drawString(LEFT, self.y, f"Statement {statement.first:%B %Y}")
        self.y -= 1.5 * LINE
        self.write(merchant.title, BOLD, 11)
        self.write(f"{public_id('mer', merchant.pk)}, {statement.mode} mode")
        self.write(f"{statement.first} to {statement.last}. Days and months are those of UTC, as the ledger's.")
        if not statement.is_final:
            self.write(
                f"Provisional: up to {statement.until:%Y-%m-%d %H:%M:%S} UTC; movements may still be added.", BOLD
            )
        self.write(self.statement.balance_words)

    def _heads(self) -> None:
        self.canvas.setFont(BOLD, 8)
        self.canvas.drawString(DAY, self.y, "Day (UTC)")
        self.canvas.drawString(WORDS, self.y, "Movement")
        for right, head in zip(AMOUNTS, HEADS, strict=True):
            self.canvas.drawRightString(right, self.y, head)
        self.canvas.line(LEFT, self.y - 4, RIGHT, self.y - 4)
        self.y -= LINE + 2

    def _row(self, day: str, words: str, change: Owed, after: Owed | None, font: str, section: Section) -> None:
        if self._need(LINE):
            self._heads()
        self.canvas.setFont(font, 8)
        self.canvas.drawString(DAY, self.y, day)
        self.canvas.drawString(WORDS, self.y, words)
        amounts: Sequence[int | None] = (change.pending, change.available, after.total if after else None)
        for right, amount in zip(AMOUNTS, amounts, strict=True):
            text = "" if amount is None else plain_amount(amount, section.currency)
            self.canvas.drawRightString(right, self.y, text)
        self.y -= LINE

    def _need(self, height: float) -> bool:
        """Begin a new page unless `height` is left on this one; return whether it did."""
        if self.y - height >= BOTTOM:
            return False
        self._write_foot()
        self.canvas.showPage()
        self.y = TOP
        return True

    def _write_foot(self) -> None:
        self.canvas.setFont(PLAIN, 7)
        made = f"{self.statement.file_name}, made {self.statement.made_at:%Y-%m-%d %H:%M:%S} UTC"
        self.canvas.drawString(LEFT, BOTTOM - 24, made)
        self.canvas.drawRightString(RIGHT, BOTTOM - 24, f"Page {self.canvas.getPageNumber()}")


def parts(text: str, font: str, size: int, width: float) -> list[tuple[str, str]]:
    """Return `text`, cut to `width`, as parts with the font of each: `font`, or OTHERS of it for other letters."""
    text = whole = " ".join(unicodedata.normalize("NFC", text).split())
    while True:
        found = list(_parts(text, font))
        if sum(stringWidth(part, each, size) for each, part in found) <= width:
            return found
        whole = whole[:-1]
        text = whole + CUT


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
