"""The language of payers' pages."""

import re
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.utils.translation.template import templatize

from payments.pages import payer
from payments.pages.responses import language_of
from payments.providers.failure_data import REASONS
from tests.client import Api
from tests.pages.waiting_charges import awaited, page_of, path_of

CATALOG = settings.LOCALE_PATHS[0] / "fil" / "LC_MESSAGES"
TEMPLATES = settings.BASE_DIR / "templates" / "payer"
MARKED = re.compile(r"""gettext\(u?(?P<quote>['"])(?P<text>.*?)(?P=quote)\)|_\(u?(['"])(?P<short>.*?)\3\)""", re.DOTALL)
PLACEHOLDER = re.compile(r"%\(\w+\)s")


def translated() -> polib.POFile:
    return polib.pofile(str(CATALOG / "django.po"))


def marked_in_templates() -> set[str]:
    """Return the texts that the templates mark for translation, as Django's own extraction reads them."""
    texts = set[str]()
    for template in TEMPLATES.glob("*.html"):
        python = templatize(template.read_text(encoding="utf-8"))
        texts |= {found["text"] or found["short"] for found in MARKED.finditer(python)}
    return texts


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("fil-PH,fil;q=0.9,en;q=0.8", "fil"),
        ("tl", "fil"),
        ("en-US,fil;q=0.5", "en-gb"),
        ("de,fil;q=0.5", "fil"),
        ("de", "en-gb"),
        ("*", "en-gb"),
        ("", "en-gb"),
        ("\x00;q=x,,", "en-gb"),
    ],
)
def test_a_page_is_in_the_first_language_of_the_browser_that_it_has(header: str, language: str) -> None:
    assert language_of(RequestFactory().get("/", headers={"Accept-Language": header})) == language


def test_each_text_of_the_pages_is_translated_and_no_other() -> None:
    texts = {str(text) for pair in payer.FAILURES.values() for text in pair} | marked_in_templates()
    assert {entry.msgid for entry in translated()} == texts
    assert [entry.msgid for entry in translated() if not entry.msgstr] == []


def test_each_translation_has_the_placeholders_of_its_text() -> None:
    for entry in translated():
        assert sorted(PLACEHOLDER.findall(entry.msgstr)) == sorted(PLACEHOLDER.findall(entry.msgid)), entry.msgid


def test_the_compiled_catalog_is_that_of_the_texts() -> None:
    compiled = polib.mofile(str(CATALOG / "django.mo"))
    assert {entry.msgid: entry.msgstr for entry in compiled} == {e.msgid: e.msgstr for e in translated()}


def test_each_code_of_a_failure_has_words_for_the_payer() -> None:
    assert payer.FAILURES.keys() == REASONS.keys()


def test_no_page_speaks_of_the_payer() -> None:
    texts = [template.read_text(encoding="utf-8") for template in Path(TEMPLATES).glob("*.html")]
    assert not [text for text in [*texts, *(entry.msgid for entry in translated())] if "the payer" in text.lower()]


def test_a_payer_reads_filipino_and_the_language_ends_with_the_page(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "gcash")
    page = client.get(page_of(charge), headers={"Accept-Language": "fil"})
    assert "Gusto mo bang magbayad?" in page.content.decode()
    assert '<html lang="fil">' in page.content.decode()
    assert "Accept-Language" in page["Vary"]
    assert "Do you want to pay?" in client.get(page_of(charge)).content.decode()


def test_a_failed_payment_says_in_filipino_what_to_do(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "card", redirect=None)
    back = path_of(client.post(page_of(charge), {"decision": "cancel"})["Location"])
    text = client.get(back, headers={"Accept-Language": "fil"}).content.decode()
    assert "Kinansela mo ang bayad." in text
    assert "Magbayad ulit kapag handa ka na." in text
