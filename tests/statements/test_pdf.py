"""Statements as PDF have merchants' names in their own letters, our mark, and a place for each text."""

import re
from dataclasses import replace
from datetime import date
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from pypdf import PdfReader

from payments.domain.statements.pdf_file import statement_pdf
from payments.domain.statements.statement import Chapter, Owed, Row, Statement
from payments.ids import new_id
from payments.ledger.account_days import midnight
from payments.models import LogHead, Merchant

OCTOBER = date(2026, 10, 1)
TEXT = re.compile(r"1 0 0 1 (\S+) (\S+) Tm (?:/F\S+ \S+ Tf \S+ TL )?\((.*?)\) Tj")
RULE = re.compile(r"\.6 w\nn 48 (\S+) m \S+ \1 l S")
# Of an SVG file.
STROKE = re.compile(r'd="M(\S+) (\S+)([hv])([^"]+)" stroke="\S+" stroke-width="(.*?)"')
CIRCLE = re.compile(r'<circle cx="(.*?)" cy="(.*?)" r="(.*?)"')


@pytest.fixture
def statement() -> Statement:
    moved = Owed(12_500, 700)
    section = Chapter("PHP", Owed(), [Row(OCTOBER, "capture", moved, moved)], moved)
    merchant = Merchant(id=new_id(), title="Sari Store", account_name="Maria Cruz", business_address="Manila")
    return Statement(merchant, False, OCTOBER, midnight(date(2026, 11, 1)), True, [section])


def drawn(statement: Statement) -> str:
    """Return what a PDF reader draws on the first page."""
    page = PdfReader(BytesIO(statement_pdf(statement))).pages[0]
    return str(page.get_contents().get_data().decode("cp1252", "replace"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Aling Niña’s Sari-Sari Store", ""),
        ("Tindahan ₱ (Niño)", ""),
        ("Zażółć gęślą jaźń Łódź", ""),
        ("Ateş İnşaat Ağaçlı Şirketi", ""),
        ("Łódź Ateş 日本", ""),
        ("北京烤鸭店 李雷", ""),
        ("東京 さくら カフェ", ""),
        ("서울 한식당", ""),
        ("Việt Ελλάς Привет", ""),
        ("W" * 100, "W" * 40),
        ("مطعم Beirut", "mt`m Beirut"),
        ("ไทย 🎉", "aithy :tada:"),
    ],
)
def test_a_pdf_has_the_letters_of_a_merchants_name(title: str, shown: str) -> None:
    merchant = Merchant(id=new_id(), title=title)
    content = statement_pdf(Statement(merchant, False, OCTOBER, midnight(date(2026, 11, 1)), True, []))
    texts = PdfReader(BytesIO(content)).pages[0].extract_text()
    assert (shown or title) in texts
    assert "?" not in texts


def test_the_newest_signed_head_is_in_it_with_a_code(statement: Statement) -> None:
    head = LogHead(size=1_840, signed_at=statement.until, note="pay.example.com/transparency\n1840\nqA4f=\n")
    page = drawn(replace(statement, head=head))
    texts = [text for *_, text in TEXT.findall(page)]
    assert "Signed head of 1,840 leaves, 1 November 2026, 00:00 UTC" in texts
    assert any(text.endswith("/transparency/heads/1840") for text in texts)
    # The squares of the code are one path.
    assert page.count(" re ") > 200


def test_every_text_has_a_place_and_stands_on_no_other_or_rule(statement: Statement) -> None:
    page = drawn(statement)
    columns: dict[float, list[float]] = {}
    places: dict[str, tuple[float, float]] = {}
    for x, y, text in TEXT.findall(page):
        columns.setdefault(float(x), []).append(float(y))
        places[text] = float(x), float(y)
    assert all(upper - lower > 9 for ys in columns.values() for upper, lower in pairwise(sorted(ys, reverse=True)))
    rules = [float(y) for y in RULE.findall(page)]
    assert len(rules) == 3
    assert all(y - rule > 2 or rule - y > 8 for rule in rules for ys in columns.values() for y in ys)
    headings = ("Sari Store", "Maria Cruz", "Manila", "Summary, PHP", "Movements, PHP")
    assert [places[line][0] for line in headings] == [48] * len(headings)
    for label, value in (("Number", statement.number), ("Period", statement.period)):
        assert places[value] == (places[label][0] + 54, places[label][1])


def test_a_statement_has_our_mark(statement: Statement) -> None:
    page, mark = drawn(statement), Path(str(finders.find("payments/mark.svg"))).read_text()
    strokes, circles = STROKE.findall(mark), CIRCLE.findall(mark)
    assert (len(strokes), len(circles)) == (2, 2)
    for x, y, way, length, width in strokes:
        end = f"{float(x) + float(length):g} {y}" if way == "h" else f"{x} {float(y) + float(length):g}"
        assert f"{width} w\nn {x} {y} m {end} l S" in page
    for x, y, radius in circles:
        assert f"{float(x) + float(radius):g} {y} m" in page
        assert f" {x} {float(y) + float(radius):g} c" in page
