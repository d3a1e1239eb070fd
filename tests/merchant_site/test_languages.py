"""The language of the merchants' site."""

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

import polib
import pytest
from django.conf import settings
from django.template.autoreload import reset_loaders
from django.test import Client
from django.utils import translation
from django.utils.translation.template import templatize

from payments.admin.lists.file import TAG
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.refusal_texts import said, translated
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.shared.errors import conflict
from payments.models import ApprovalRequest, AuditEntry
from payments.sourcetypes import SOURCE_TYPES
from tests.admin.conftest import House
from tests.client import signed_in
from tests.merchant_site.conftest import member
from tests.merchant_site.test_walls import Rows, addresses, newest_shown, rows, shown  # noqa: F401

PREFERENCES = "/merchant/preferences/"
OF_PAYERS, OF_SITE = (polib.pofile(str(path / "fil/LC_MESSAGES/django.po")) for path in settings.LOCALE_PATHS)
NAMES = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "said"}
IN_TEMPLATE = re.compile(r"""(?:gettext|_)\(u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|{\w+}|%[sd]")
CODE = [settings.BASE_DIR / "payments", settings.BASE_DIR / "customers"]
# What a page names without words of its own, and texts of Django that are none.
BRANDS = {"CSV", "PDF", "SMS", "PHP", *(each.label for each in SOURCE_TYPES)}
DATA = re.compile(
    r"[_…/@]|^[a-z]+\.[a-z]+$|Sari|Juan|Summer menu|Halo-halo|GCash|owner-of|somebody|Each morning|^table$"
)
NO_WORDS = {"%(truncated_text)s…", "200", ":", ":?.!"}
TEMPLATES = settings.BASE_DIR / "templates"


def language(client: Client, page: str = PREFERENCES, **named: str) -> str:
    """Return the language that a page says it has."""
    text = client.get(page, **named).content.decode()  # type: ignore[arg-type]
    return text.partition('<html lang="')[2].partition('"')[0]


@pytest.mark.long
@pytest.mark.parametrize(("header", "code"), [("fil-PH,en;q=0.8", "fil"), ("en-US", "en"), ("de", "en")])
def test_the_language_is_that_of_the_browser_until_one_is_chosen(owner: Client, header: str, code: str) -> None:
    assert language(owner, headers={"Accept-Language": header}) == code  # type: ignore[arg-type]


@pytest.mark.long
def test_a_chosen_language_stays_after_the_next_sign_in(owner: Client, shop: NewMerchant) -> None:
    user = member(shop.merchant, name="rosa")
    client = signed_in(user)
    answer = client.post(PREFERENCES, {"time_zone": "", "language": "fil"}, follow=True)
    assert "Na-save." in answer.content.decode()
    assert language(client) == "fil"
    again = Client()
    again.force_login(user)
    assert language(again, headers={"Accept-Language": "en"}) == "fil"  # type: ignore[arg-type]


@pytest.mark.long
def test_english_that_was_chosen_in_0_9_0_stays(owner: Client) -> None:
    session = owner.session
    session["language"] = "en-gb"
    session.save()
    assert language(owner, headers={"Accept-Language": "fil"}) == "en"  # type: ignore[arg-type]


def test_a_language_that_is_not_offered_is_refused(owner: Client) -> None:
    answer = owner.post(PREFERENCES, {"time_zone": "", "language": "de"})
    assert "not one of the available choices" in answer.content.decode()


def test_the_back_office_is_in_english(admin_client: Client) -> None:
    assert language(admin_client, "/admin/preferences/", headers={"Accept-Language": "fil"}) == "en"  # type: ignore[arg-type]


def marked_in_code() -> Iterator[str]:
    """Yield the texts that the code marks for translation."""
    for module in (each for folder in CODE for each in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            is_marked = isinstance(node, ast.Call) and getattr(node.func, "id", "") in NAMES
            if is_marked and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value


def marked_in_templates() -> Iterator[str]:
    """Yield the texts that the templates mark for translation, as Django's own extraction reads them."""
    for template in TEMPLATES.rglob("*.html"):
        for found in IN_TEMPLATE.finditer(templatize(template.read_text(encoding="utf-8"))):
            yield ast.literal_eval(found[1])


@pytest.mark.long
def test_each_marked_text_has_a_translation() -> None:
    translated = {
        entry.msgid
        for entry in (*OF_PAYERS, *OF_SITE)
        if entry.msgstr or (entry.msgstr_plural and all(entry.msgstr_plural.values()))
    }
    assert {*marked_in_code(), *marked_in_templates()} - translated == set()


def test_each_refusal_with_values_names_its_template() -> None:
    calls = re.compile(r"\bsaid\(\s*(.)")
    code = (module.read_text(encoding="utf-8") for module in CODE[0].joinpath("domain").rglob("*.py"))
    begun = [found for text in code for found in calls.findall(text.replace("def said(", ""))]
    assert set(begun) == {'"'}


def test_a_refusal_is_in_english_except_on_a_page(owner: Client) -> None:
    refusal = conflict("x", said("This session is {state} and cannot expire any more.", state="expired"))
    with translation.override("fil"):
        assert str(refusal) == "This session is expired and cannot expire any more."
        assert translated(str(refusal)) == "Ang session na ito ay expired at hindi na maaaring mag-expire."


def test_no_text_is_translated_twice() -> None:
    assert {entry.msgid for entry in OF_SITE} & {entry.msgid for entry in OF_PAYERS} == set()


def test_each_translation_has_the_placeholders_of_its_text() -> None:
    for entry in OF_SITE:
        # That of one thing may leave its number out.
        *others, last = [entry.msgstr] if entry.msgstr else entry.msgstr_plural.values()
        named = PLACEHOLDER.findall(entry.msgid_plural or entry.msgid)
        assert sorted(PLACEHOLDER.findall(last)) == sorted(named), entry.msgid
        assert all({*PLACEHOLDER.findall(text)} <= {*named} for text in others), entry.msgid


def test_the_compiled_catalog_is_that_of_the_texts() -> None:
    compiled = polib.mofile(str(settings.LOCALE_PATHS[1] / "fil/LC_MESSAGES/django.mo"))
    assert {e.msgid: e.msgstr for e in compiled} == {e.msgid: e.msgstr for e in OF_SITE}


@pytest.mark.long
def test_every_page_asks_for_its_texts_and_each_has_a_translation(rows: Rows, house: House) -> None:  # noqa: F811
    client = signed_in(member(house.shop.merchant))
    unmarked = set[str]()
    with marked_texts() as asked:
        for address in addresses(rows):
            unmarked |= names_without_mark(shown(client.get(address)))
    assert {name for name in unmarked if not DATA.search(name)} - BRANDS == set()
    assert asked - {entry.msgid for entry in (*OF_PAYERS, *OF_SITE)} == NO_WORDS


@pytest.mark.long
def test_in_filipino_a_number_drops_a_word_and_a_title_is_the_headline(rows: Rows, house: House) -> None:  # noqa: F811
    client = signed_in(member(house.shop.merchant))
    for address in addresses(rows):
        page = shown(client.get(address, headers={"Accept-Language": "fil"}))
        assert not re.search(r"\d+ mga ", page), address
        if "<h1" in page and address.endswith("/change/") and "/statement/" not in address:
            [title], [headline] = (
                re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", page, re.DOTALL)[:1] for tag in ("title", "h1")
            )
            assert title.split() == [*TAG.sub("", headline).split(), "|", "kaha"], address


def test_a_file_has_the_same_words_in_each_language(owner: Client, house: object) -> None:
    def file(code: str) -> bytes:
        answer = owner.post("/merchant/payments/charge/csv/?mode=test", headers={"Accept-Language": code})
        return b"".join(answer.streaming_content) + answer["Content-Disposition"].encode()[:30]  # type: ignore[attr-defined]

    assert b"captured" in file("fil")
    assert file("fil") == file("en")


def test_the_audit_log_names_things_in_english(owner: Client, shop: NewMerchant) -> None:
    with translation.override("fil"):
        audit_log.record(Action.PROPOSED, ApprovalRequest(kind="issue_key", merchant=shop.merchant))
    assert AuditEntry.objects.latest("pk").object_name.startswith("Issue a key")


# The elements that name things, rather than show them.
NAMING = {"th", "label", "h2", "h3", "button", "summary", "legend", "dt"}


@contextmanager
def marked_texts() -> Iterator[set[str]]:
    """Have each text that is translated stand in ⟦⟧; yield the texts that were asked for."""
    asked = set[str]()

    def one(text: str) -> str:
        # A lazy text that becomes part of another is translated first.
        if "⟦" not in text:
            asked.add(str(text))
        return f"⟦{text}⟧" if text else text

    def many(single: str, plural: str, number: int) -> str:
        asked.add(single)
        return f"⟦{single if number == 1 else plural}⟧"

    with (
        patch.object(translation._trans, "gettext", one),
        patch.object(translation._trans, "ngettext", many),
        patch.object(translation._trans, "pgettext", lambda _, text: one(text)),
        patch.object(translation._trans, "npgettext", lambda _, *each: many(*each)),
    ):
        # No part of a page that was rendered before is shown here, and none of here afterwards.
        reset_loaders()
        try:
            yield asked
        finally:
            reset_loaders()


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._inside += tag in NAMING
        if self._inside == 1 and tag in NAMING:
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in NAMING

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data


def names_without_mark(page: str) -> set[str]:
    """Return the names that `page`, which was made with `marked_texts`, shows without asking for a translation."""
    names = _Names()
    names.feed(page)
    return {" ".join(name.split()) for name in names.found if "⟦" not in name and any(map(str.isalpha, name))}
