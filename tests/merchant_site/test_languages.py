"""The language of the merchants' site."""

import pytest
from django.test import Client
from django.utils import translation

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApprovalRequest, AuditEntry
from tests.client import signed_in
from tests.merchant_site.conftest import member

PREFERENCES = "/merchant/preferences/"


def language(client: Client, page: str = PREFERENCES, **named: str) -> str:
    """Return the language that a page says it has."""
    text = client.get(page, **named).content.decode()  # type: ignore[arg-type]
    return text.partition('<html lang="')[2].partition('"')[0]


@pytest.mark.parametrize(("header", "code"), [("fil-PH,en;q=0.8", "fil"), ("en-US", "en-gb"), ("de", "en-gb")])
def test_the_language_is_that_of_the_browser_until_one_is_chosen(owner: Client, header: str, code: str) -> None:
    assert language(owner, headers={"Accept-Language": header}) == code  # type: ignore[arg-type]


def test_a_chosen_language_stays_after_the_next_sign_in(owner: Client, shop: NewMerchant) -> None:
    user = member(shop.merchant, name="rosa")
    client = signed_in(user)
    answer = client.post(PREFERENCES, {"time_zone": "", "language": "fil"}, follow=True)
    assert "Na-save." in answer.content.decode()
    assert language(client) == "fil"
    again = Client()
    again.force_login(user)
    assert language(again, headers={"Accept-Language": "en"}) == "fil"  # type: ignore[arg-type]


def test_a_language_that_is_not_offered_is_refused(owner: Client) -> None:
    answer = owner.post(PREFERENCES, {"time_zone": "", "language": "de"})
    assert "not one of the available choices" in answer.content.decode()


def test_the_back_office_is_in_english(admin_client: Client) -> None:
    assert language(admin_client, "/admin/preferences/", headers={"Accept-Language": "fil"}) == "en-gb"  # type: ignore[arg-type]


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
