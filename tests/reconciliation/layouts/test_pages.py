"""The pages on which a layout is made of an example, asked for, and looked at."""

import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from payments.domain.reconciliation.columns.layout import Role
from payments.models import ApprovalRequest, FileLayout, OwnBankAccount
from tests.admin.actions import address_of
from tests.admin.conftest import text_of
from tests.canaries.misplaced import NUMBER
from tests.client import signed_in
from tests.operators.factories import NOTE, person
from tests.reconciliation.factories import read_file
from tests.reconciliation.layouts.stories import COLUMNS, csv_of, layout_in_force, xlsx_of

pytestmark = [pytest.mark.django_db, pytest.mark.long]
MAKE = reverse("admin:payments_filelayout_make")


@pytest.fixture
def finance() -> Client:
    return signed_in(person("maria", "finance"))


def first_step(client: Client, content: bytes, account: str = "simulator", **fields: str) -> str:
    """Return the page that follows an example."""
    example = SimpleUploadedFile("example.csv", content)
    return unescape(text_of(client.post(MAKE, {"account": account, "example": example, **fields})))


def settings_in(page: str) -> dict[str, str]:
    """Return the fields of the second step as a browser sends them."""
    fields = dict(re.findall(r'<input type="hidden" name="(account|sample)" value="([^"]+)"', page))
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', page, re.S):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    typed = re.findall(r'<textarea name="(\w+)".*?>(.*?)</textarea>', page, re.S)
    return fields | {name: text.strip() for name, text in typed}


def test_the_second_step_shows_rows_proposal_and_what_kaha_reads_and_stores_nothing(finance: Client) -> None:
    page = first_step(finance, csv_of(NUMBER, "b", "c"))
    assert NUMBER not in page
    for words in ("Bank am Markt", "Summe", "column “Währung”, by its", "₱18.89", "24 Nov 2026", "₱56.67"):
        assert words in page, words
    found = settings_in(page)
    assert {role: found[f"column_{role}"] for role in COLUMNS} == COLUMNS
    assert (found["dates"], found["decimal"], found["kinds"]) == ("%d.%m.%Y", ",", "zahlung = charge")
    assert not ApprovalRequest.objects.exists()


def test_a_preview_tries_other_settings_and_says_what_cannot_be_read(finance: Client) -> None:
    fields = settings_in(first_step(finance, csv_of("a", "b")))
    page = text_of(finance.post(MAKE, fields | {"dates": "%m/%d/%y", "decision": "preview"}))
    assert "Rows that cannot be read: 2" in page
    assert "line 3, column Datum" in page
    page = unescape(text_of(finance.post(MAKE, fields | {"kinds": "zahlung = salary", "decision": "ask"})))
    assert "Write “word = meaning”, with one of charge" in page
    page = text_of(finance.post(MAKE, fields | {"column_date": "", "decision": "ask", "reason": "New"}))
    assert "Name the column of the date." in page
    assert "This field cannot be blank." in text_of(finance.post(MAKE, fields | {"decision": "ask"}))
    assert not ApprovalRequest.objects.exists()


def test_what_is_asked_for_is_approved_by_another_and_shown_with_what_it_read(
    finance: Client, bank_account: OwnBankAccount, tmp_path: Any
) -> None:
    account = bank_account
    page = first_step(finance, xlsx_of("a"), account.name)
    fields = settings_in(page) | {"decision": "ask", "reason": "A new bank"}
    sent = finance.post(MAKE, fields)
    request = ApprovalRequest.objects.get()
    assert sent["Location"] == address_of(request, "change")
    assert "Another operator approves or rejects it" in text_of(finance.get(sent["Location"]))
    other = signed_in(person("ben", "administrator"))
    assert "bpi-payouts, version 1" in text_of(other.get(address_of(request, "decide")))
    done = other.post(address_of(request, "decide"), {"decision": "approve", "note": NOTE})
    layout = FileLayout.objects.get()
    assert done["Location"] == address_of(layout, "change")
    (tmp_path / "november.csv").write_bytes(csv_of("b"))
    run = read_file(tmp_path / "november.csv", account.name)
    assert "bpi-payouts, version 1" in text_of(finance.get(address_of(run, "change")))
    page = text_of(finance.get(address_of(layout, "change")))
    for words in ("in force", "maria", "ben", "Amount: Betrag", "november.csv", "Change the layout"):
        assert words in page, words


def test_the_next_version_begins_from_the_one_in_force_where_its_columns_are_there(finance: Client) -> None:
    layout = layout_in_force(columns=COLUMNS | {Role.TEXT: "Art"})
    address = f"{MAKE}?account=simulator"
    assert address in text_of(finance.get(address_of(layout, "change")))
    assert 'value="simulator" selected' in text_of(finance.get(address))
    found = settings_in(first_step(finance, csv_of("a")))
    assert found["column_text"] == "Art"
    other = csv_of("a").replace(b"Payment ID", b"ID")
    assert settings_in(first_step(finance, other))["column_text"] != "Art"
    finance.post(MAKE, found | {"column_text": "", "decision": "ask", "reason": "No text"})
    request = ApprovalRequest.objects.latest("pk")
    assert (request.before["version"], request.after["version"]) == (1, 2)
    page = text_of(signed_in(person("ben", "finance")).get(address_of(request, "decide")))
    assert "<del>Art</del>" in page


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"%PDF-1.4\x00\x01", "It cannot be read"), (xlsx_of("a")[:200], "no Xlsx file"), (b"", "empty")],
)
def test_an_example_that_cannot_be_read_is_said(content: bytes, words: str, finance: Client) -> None:
    assert words in first_step(finance, content)


def test_a_form_that_was_changed_asks_for_nothing(finance: Client) -> None:
    fields = settings_in(first_step(finance, csv_of("a"))) | {"decision": "ask", "reason": "x"}
    assert 'type="file"' in text_of(finance.post(MAKE, fields | {"sample": "forged"}))
    assert "errornote" in text_of(finance.post(MAKE, fields | {"account": "\0"}))
    assert not ApprovalRequest.objects.exists()
