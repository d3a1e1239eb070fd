"""Statements as PDF: a letter with a summary of each currency, then its movements."""

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import segno
from django.conf import settings
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from payments.domain.statements.pdf_letters import BOLD, PLAIN, draw
from payments.domain.statements.statement import Chapter, Owed, Statement
from payments.domain.statements.summary import Line, summary_of
from payments.ids import public_id
from payments.models import LogHead
from payments.money import MINUS, plain_amount, shown_amount

WIDTH, HEIGHT = A4
LEFT, RIGHT, TOP, BOTTOM = 48, WIDTH - 48, HEIGHT - 48, 64
ROW, BAND, CODE = 14, 18, 84
# The addressee stands to the left, what identifies the statement to the right of here.
MIDDLE = LEFT + 285
INK, SOFT, HAIR, GROUND, BRAND, WARN = map(HexColor, ("#0f201e", "#5a6b68", "#c3cfcc", "#eef3f2", "#0a4541", "#8a4b00"))
# Day and movement begin here; the three amounts end here.
DAY, WORDS, *AMOUNTS = LEFT, LEFT + 44, RIGHT - 184, RIGHT - 92, RIGHT
HEADS = ("Pending", "Available", "Balance")


def statement_pdf(statement: Statement) -> bytes:
    """Return the statement as a PDF. A kind and currency has 31 rows at most; payouts have ROWS_MAX."""
    file = BytesIO()
    sheet = Sheet(Canvas(file, pagesize=A4, invariant=1, pageCompression=1), statement)
    for section in statement.sections:
        sheet.add(section)
    if not statement.sections:
        sheet.write(LEFT, "Nothing was owed and nothing moved.")
    if statement.head:
        sheet.add_head(statement.head)
    pages = sheet.canvas.getPageNumber()
    sheet.canvas.showPage()
    for number in range(1, pages + 1):
        sheet.canvas.beginForm(_place_of(number))
        draw(sheet.canvas, RIGHT, BOTTOM - 28, f"{number} of {pages}", PLAIN, 7.5, LEFT - RIGHT)
        sheet.canvas.endForm()
    sheet.canvas.save()
    return file.getvalue()


def _place_of(number: int) -> str:
    """Return the name of what a page says about which of how many it is; it is drawn once all pages are."""
    return f"page-{number}"


class Sheet:
    """The pages of one statement while they are drawn, from top to bottom."""

    def __init__(self, canvas: Canvas, statement: Statement) -> None:
        self.canvas, self.statement, self.y = canvas, statement, TOP
        canvas.setTitle(statement.name)
        self._write_foot()
        self._write_letterhead()
        top = self.y
        self._write_addressee()
        bottom, self.y = self.y, top
        self._write_facts()
        self.y = min(self.y, bottom) - ROW

    def write(self, x: float, text: str, font: str = PLAIN, size: float = 9, colour: Any = INK) -> None:
        """Draw one line of text, up to the middle or to the right edge."""
        self.canvas.setFillColor(colour)
        draw(self.canvas, x, self.y, text, font, size, (MIDDLE - 24 if x < MIDDLE else RIGHT) - x)
        self.y -= ROW

    def add(self, section: Chapter) -> None:
        """Draw the summary of a currency, and its movements, with their heads again on each new page."""
        self._write_summary(section)
        if not section.rows:
            return
        self._need(5 * ROW)
        self._heading("Movements", section)
        self._heads()
        self._row("", "Opening balance", section.opening, section.opening, BOLD, section)
        for row in section.rows:
            self._row(f"{row.day.day} {row.day:%b}", row.words, row.change, row.after, PLAIN, section)
        self._row("", "Closing balance", section.closing, section.closing, BOLD, section)

    def add_head(self, head: LogHead) -> None:
        """Draw the signed head of the transparency log, with its address as a QR code."""
        address = f"{settings.PUBLIC_URL}/transparency/heads/{head.size}"
        self._need(CODE + 2 * BAND)
        self.y -= BAND
        _draw_code(self.canvas, RIGHT - CODE, self.y - CODE + ROW, address)
        self.write(LEFT, "Transparency log", BOLD, 12, BRAND)
        self.write(LEFT, f"Signed head of {head.size:,} leaves, {_moment(head.signed_at)}", size=8)
        self.write(LEFT, f"Root {head.note.splitlines()[2]}", size=8)
        self.write(LEFT, address, size=8, colour=SOFT)
        self.write(LEFT, "Keep it: any later change of these books shows against it.", size=8)

    def _write_letterhead(self) -> None:
        name, host = letterhead()
        _draw_mark(self.canvas, LEFT, self.y - 18, 28)
        self.y -= 2
        self.write(LEFT + 38, name, BOLD, 13)
        self.write(LEFT + 38, host, size=8, colour=SOFT)
        self.canvas.setFillColor(BRAND)
        self.canvas.setFont(BOLD, 20)
        self.canvas.drawRightString(RIGHT, TOP - 10, f"Statement, {self.statement.first:%B %Y}")
        self._rule(TOP - 34, BRAND)
        self.y = TOP - 60

    def _write_addressee(self) -> None:
        merchant = self.statement.merchant
        self.write(LEFT, merchant.title, BOLD, 11)
        if merchant.account_name != merchant.title:
            self.write(LEFT, merchant.account_name)
        for line in simpleSplit(merchant.business_address, PLAIN, 9, MIDDLE - 24 - LEFT):
            self.write(LEFT, line)
        self.write(LEFT, public_id("mer", merchant.pk), size=8, colour=SOFT)

    def _write_facts(self) -> None:
        statement = self.statement
        facts = [("Number", statement.number), ("Period", statement.period)]
        facts += [("Made", _moment(statement.made_at))]
        for label, value in facts:
            self.write(MIDDLE, label, size=9, colour=SOFT)
            self.y += ROW
            self.write(MIDDLE + 54, value)
        if not statement.livemode:
            self.write(MIDDLE, "Test mode: no real money", BOLD, colour=WARN)
        if not statement.is_final:
            self.write(MIDDLE, f"Provisional: up to {_moment(statement.until)}", BOLD, colour=WARN)

    def _write_summary(self, section: Chapter) -> None:
        lines = summary_of(section)
        self._need((len(lines) + 3) * BAND)
        self._heading("Summary", section)
        for line in lines:
            self._line(line, section.currency)
        self.y -= ROW

    def _line(self, line: Line, currency: str) -> None:
        """Draw a line of the summary; a balance is bold and has a ground."""
        if line.is_balance:
            self.canvas.setFillColor(GROUND)
            self.canvas.rect(LEFT, self.y - 6, RIGHT - LEFT, BAND, stroke=0, fill=1)
        font = BOLD if line.is_balance else PLAIN
        number = "" if line.number is None else f"{line.number:,}"
        self.canvas.setFillColor(INK)
        draw(self.canvas, LEFT + 8, self.y, line.words, font, 9, RIGHT - LEFT)
        draw(self.canvas, RIGHT - 140, self.y, number, font, 9, LEFT - RIGHT)
        draw(self.canvas, RIGHT - 8, self.y, shown_amount(line.amount, currency), font, 9, LEFT - RIGHT)
        self.y -= BAND

    def _heading(self, words: str, section: Chapter) -> None:
        self.y -= ROW / 2
        self.canvas.setFillColor(BRAND)
        draw(self.canvas, LEFT, self.y, f"{words}, {section.currency}", BOLD, 12, RIGHT - LEFT)
        self.y -= BAND + 2

    def _heads(self) -> None:
        self.canvas.setFillColor(SOFT)
        self.canvas.setFont(PLAIN, 8)
        self.canvas.drawString(DAY, self.y, "Day")
        self.canvas.drawString(WORDS, self.y, "Movement")
        for right, head in zip(AMOUNTS, HEADS, strict=True):
            self.canvas.drawRightString(right, self.y, head)
        self._rule(self.y - 5, HAIR)
        self.y -= ROW + 3

    def _row(self, day: str, words: str, change: Owed, after: Owed, font: str, section: Chapter) -> None:
        if self._need(ROW):
            self._heads()
        self.canvas.setFillColor(INK)
        self.canvas.setFont(font, 8)
        self.canvas.drawString(DAY, self.y, day)
        self.canvas.drawString(WORDS, self.y, words)
        amounts: Sequence[int] = (change.pending, change.available, after.total)
        for right, amount in zip(AMOUNTS, amounts, strict=True):
            if amount or right == RIGHT:
                # These letters have no minus.
                text = plain_amount(amount, section.currency).replace(MINUS, "-")
                self.canvas.drawRightString(right, self.y, text)
        self.y -= ROW

    def _need(self, height: float) -> bool:
        """Begin a new page unless `height` is left on this one; return whether it did."""
        if self.y - height >= BOTTOM:
            return False
        self.canvas.showPage()
        self._write_foot()
        self.y = TOP
        return True

    def _write_foot(self) -> None:
        self._rule(BOTTOM - 14, HAIR)
        self.canvas.setFillColor(SOFT)
        foot = f"{self.statement.name}. Number {self.statement.number}. Days and months are those of UTC."
        draw(self.canvas, LEFT, BOTTOM - 28, foot, PLAIN, 7.5, RIGHT - LEFT - 48)
        self.canvas.doForm(_place_of(self.canvas.getPageNumber()))

    def _rule(self, y: float, colour: Any) -> None:
        self.canvas.setStrokeColor(colour)
        self.canvas.setLineWidth(0.6)
        self.canvas.line(LEFT, y, RIGHT, y)


def _moment(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _draw_code(canvas: Canvas, x: float, y: float, text: str) -> None:
    """Draw `text` as a QR code, CODE points wide, with its lower left corner at a point."""
    rows = [*segno.make_qr(text).matrix]
    size, path = CODE / len(rows), canvas.beginPath()
    for number, row in enumerate(rows, 1):
        for place, is_dark in enumerate(row):
            if is_dark:
                path.rect(x + place * size, y + CODE - number * size, size, size)
    canvas.setFillColor(INK)
    canvas.drawPath(path, stroke=0, fill=1)


def _draw_mark(canvas: Canvas, x: float, y: float, size: float) -> None:
    """Draw kaha's mark (`mark.svg`), `size` points wide, with its lower left corner at a point."""
    canvas.saveState()
    canvas.translate(x, y + size)
    canvas.scale(size / 32, -size / 32)
    canvas.setFillColor(BRAND)
    canvas.roundRect(0, 0, 32, 32, 7, stroke=0, fill=1)
    canvas.setFillColor(HexColor("#ffd84d"))
    canvas.circle(16, 8.5, 4.5, stroke=0, fill=1)
    canvas.setFillColor(HexColor("#63d2c6"))
    canvas.roundRect(5, 13, 22, 14, 3, stroke=0, fill=1)
    canvas.rect(5, 13, 22, 6, stroke=0, fill=1)
    canvas.setFillColor(BRAND)
    canvas.setStrokeColor(BRAND)
    canvas.circle(16, 19, 1.9, stroke=0, fill=1)
    canvas.setLineCap(1)
    for width, line in ((2.4, (10.5, 13, 21.5, 13)), (1.8, (16, 20, 16, 23))):
        canvas.setLineWidth(width)
        canvas.line(*line)
    canvas.restoreState()


class Letterhead(NamedTuple):
    """The name and the host at the top of a statement."""

    name: str
    host: str


def letterhead() -> Letterhead:
    """Return the holder of the accounts that payouts are paid from, kaha where none is set, and kaha's host."""
    return Letterhead(settings.PAYOUT_DEBTOR_NAME or "kaha", urlsplit(settings.PUBLIC_URL).hostname or "")
