"""The language of payers' pages."""

import ast
import re
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.utils.dates import MONTHS
from django.utils.translation import override
from django.utils.translation.template import templatize

from payments.domain.messages.failures import FAILURES
from payments.pages.responses import language_of
from payments.providers.failure_data import REASONS
from tests.client import Api
from tests.pages.waiting_charges import awaited, page_of, path_of

CATALOG = settings.LOCALE_PATHS[0] / "fil" / "LC_MESSAGES"
TEMPLATES = settings.BASE_DIR / "templates" / "payer"
MAILS = settings.BASE_DIR / "templates" / "mail"
MESSAGES = settings.BASE_DIR / "payments" / "domain" / "messages"
PAGES = settings.BASE_DIR / "payments" / "pages"
MARKED = re.compile(r"""gettext\(u?(?P<quote>['"])(?P<text>.*?)(?P=quote)\)|_\(u?(['"])(?P<short>.*?)\3\)""", re.DOTALL)
PLACEHOLDER = re.compile(r"%\(\w+\)s|{\w+}")


def translated() -> polib.POFile:
    return polib.pofile(str(CATALOG / "django.po"))


def marked_in_templates() -> set[str]:
    """Return the texts that the templates mark for translation, as Django's own extraction reads them."""
    pages = (templatize(each.read_text(encoding="utf-8")) for each in [*TEMPLATES.rglob("*.html"), *MAILS.iterdir()])
    sources = (each.read_text(encoding="utf-8") for each in MESSAGES.glob("*.py"))
    return {found["text"] or found["short"] for text in (*pages, *sources) for found in MARKED.finditer(text)}


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("fil-PH,fil;q=0.9,en;q=0.8", "fil"),
        ("tl", "fil"),
        ("en-US,fil;q=0.5", "en"),
        ("de,fil;q=0.5", "fil"),
        ("de", "en"),
        ("*", "en"),
        ("", "en"),
        ("\x00;q=x,,", "en"),
    ],
)
def test_a_page_is_in_the_first_language_of_the_browser_that_it_has(header: str, language: str) -> None:
    assert language_of(RequestFactory().get("/", headers={"Accept-Language": header})) == language


def marked_in_code() -> set[str]:
    """Return the texts that the modules of the pages mark for translation."""
    calls = (
        node
        for module in PAGES.rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_"
    )
    return {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}


def test_each_text_of_the_pages_is_translated_and_no_other() -> None:
    texts = marked_in_code() | marked_in_templates()
    with override("en"):
        texts |= {str(month) for month in MONTHS.values()}
    of_site = polib.pofile(str(settings.LOCALE_PATHS[1] / "fil" / "LC_MESSAGES" / "django.po"))
    assert {entry.msgid for entry in translated()} == texts - {entry.msgid for entry in of_site}
    assert [entry.msgid for entry in translated() if not entry.msgstr] == []


def test_each_translation_has_the_placeholders_of_its_text() -> None:
    for entry in translated():
        assert sorted(PLACEHOLDER.findall(entry.msgstr)) == sorted(PLACEHOLDER.findall(entry.msgid)), entry.msgid


def test_the_compiled_catalog_is_that_of_the_texts() -> None:
    compiled = polib.mofile(str(CATALOG / "django.mo"))
    assert {entry.msgid: entry.msgstr for entry in compiled} == {e.msgid: e.msgstr for e in translated()}


def test_each_code_of_a_failure_has_words_for_the_payer() -> None:
    assert FAILURES.keys() == REASONS.keys()


def test_no_page_speaks_of_the_payer() -> None:
    texts = [template.read_text(encoding="utf-8") for template in Path(TEMPLATES).rglob("*.html")]
    assert not [text for text in [*texts, *(entry.msgid for entry in translated())] if "the payer" in text.lower()]


def test_a_payer_reads_filipino_and_the_language_ends_with_the_page(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "gcash")
    page = client.get(page_of(charge), headers={"Accept-Language": "fil"})
    assert "Gusto mo bang magbayad?" in page.content.decode()
    assert '<html lang="fil">' in page.content.decode()
    assert "Accept-Language" in page["Vary"]
    assert "Do you want to pay?" in client.get(page_of(charge)).content.decode()


def test_a_payer_chooses_the_other_language(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "gcash")
    assert 'href="?lang=fil" hreflang="fil"' in client.get(page_of(charge)).content.decode()
    page = client.get(f"{page_of(charge)}?lang=fil").content.decode()
    assert "Gusto mo bang magbayad?" in page
    assert 'href="?lang=en" hreflang="en"' in page


def test_a_failed_payment_says_in_filipino_what_to_do(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "card", redirect=None)
    back = path_of(client.post(page_of(charge), {"decision": "cancel"})["Location"])
    text = client.get(back, headers={"Accept-Language": "fil"}).content.decode()
    assert "Kinansela mo ang bayad." in text
    assert "Magbayad ulit kapag handa ka na." in text
