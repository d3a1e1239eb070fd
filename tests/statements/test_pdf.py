"""Statements as PDF have merchants' names in their own letters."""

from datetime import date
from io import BytesIO

import pytest
from pypdf import PdfReader

from payments.domain.statements.pdf_file import statement_pdf
from payments.domain.statements.statement import Statement
from payments.ids import new_id
from payments.ledger.account_days import midnight
from payments.models import Merchant


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
    first = date(2026, 10, 1)
    content = statement_pdf(Statement(merchant, False, first, midnight(date(2026, 11, 1)), True, []))
    texts = PdfReader(BytesIO(content)).pages[0].extract_text()
    assert (shown or title) in texts
    assert "?" not in texts
