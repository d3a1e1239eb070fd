"""Keys that operators issue, roll and revoke: shown once, and kept by nobody."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey, AuditEntry
from tests.admin.actions import REASON, act, address_of, form_of
from tests.admin.conftest import text_of
from tests.admin.test_pages import page_of
from tests.client import Api
from tests.factories import ApiKeyFactory

SECRET = {"mode": "test", "kind": "secret"}
A_KEY = re.compile(r"<code>([spr]k_(?:test|live)_[0-9a-f]{48})</code>")


def shown_key(answer: Any) -> str:
    [key] = A_KEY.findall(text_of(answer))
    return key


def test_an_issued_key_works(operator: Client, shop: NewMerchant) -> None:
    key = shown_key(act(operator, shop.merchant, "issue_key", **SECRET))
    assert Api(key).get("/me").status_code == 200


def test_the_answer_that_shows_a_key_is_kept_by_nobody(
    operator: Client, shop: NewMerchant, caplog: pytest.LogCaptureFixture
) -> None:
    answer = act(operator, shop.merchant, "issue_key", **SECRET)
    key = shown_key(answer)
    assert "no-store" in answer["Cache-Control"]
    kept = [*map(str, AuditEntry.objects.values()), *(str(each.get_decoded()) for each in Session.objects.all())]
    assert [text for text in (*kept, caplog.text) if key in text] == []
    assert key not in text_of(operator.get(page_of(find_key(key)))) + text_of(operator.get(page_of(shop.merchant)))


def test_the_audit_log_has_the_reason_why_a_key_was_issued(operator: Client, shop: NewMerchant) -> None:
    key = find_key(shown_key(act(operator, shop.merchant, "issue_key", **SECRET)))
    entry = AuditEntry.objects.about(key).get()
    assert (entry.action, entry.actor, entry.reason) == ("added", "operator", REASON)


def test_a_key_has_a_name_that_its_successor_keeps(operator: Client, shop: NewMerchant) -> None:
    key = find_key(shown_key(act(operator, shop.merchant, "issue_key", **SECRET, name="Web shop")))
    assert "Web shop" in text_of(operator.get(page_of(shop.merchant)))
    assert find_key(shown_key(act(operator, key, "roll", hours="0"))).name == "Web shop"


def test_a_name_that_looks_like_a_secret_is_refused(operator: Client, shop: NewMerchant) -> None:
    named = {"name": "for 4242424242424242"}
    assert "errorlist" in text_of(act(operator, shop.merchant, "issue_key", **SECRET, **named))


def test_a_form_that_is_sent_again_issues_no_second_key(operator: Client, shop: NewMerchant) -> None:
    address = address_of(shop.merchant, "issue_key")
    form = form_of(operator, address) | SECRET
    shown_key(operator.post(address, form))
    count = ApiKey.objects.count()
    again = operator.post(address, form, follow=True)
    assert "was sent before" in text_of(again)
    assert A_KEY.findall(text_of(again)) == []
    assert ApiKey.objects.count() == count


def test_a_restricted_key_has_the_limits_that_were_given(operator: Client, shop: NewMerchant) -> None:
    limits = {"rights": ["charges:read"], "networks": "10.0.0.0/8\n2001:db8::/32", "days": "30"}
    key = find_key(shown_key(act(operator, shop.merchant, "issue_key", mode="test", kind="restricted", **limits)))
    assert (key.rights, key.allowed_networks) == (["charges:read"], ["10.0.0.0/8", "2001:db8::/32"])
    assert key.expires_at
    assert timedelta(days=29) < key.expires_at - clock.now() <= timedelta(days=30)


@pytest.mark.long
@pytest.mark.parametrize(
    "fields",
    [{"kind": "restricted"}, {"kind": "secret", "rights": ["charges:read"]}, {"kind": "secret", "networks": "10.0.0"}],
    ids=["no rights", "rights of none", "no network"],
)
def test_what_can_be_no_key_is_refused_and_said(fields: dict[str, Any], operator: Client, shop: NewMerchant) -> None:
    count = ApiKey.objects.count()
    assert "errorlist" in text_of(act(operator, shop.merchant, "issue_key", mode="test", **fields))
    assert ApiKey.objects.count() == count


def test_nothing_is_done_without_a_reason(operator: Client, shop: NewMerchant) -> None:
    assert "errorlist" in text_of(act(operator, ApiKey.objects.latest("pk"), "revoke", reason=" "))
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()


def test_a_reason_with_a_card_number_is_refused_and_not_shown_again(operator: Client, shop: NewMerchant) -> None:
    answer = act(operator, ApiKey.objects.latest("pk"), "revoke", reason="of 4242424242424242")
    assert "4242424242424242" not in text_of(answer)
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()


def test_a_rolled_key_works_along_until_the_overlap_ends(operator: Client, shop: NewMerchant) -> None:
    old = find_key(shop.keys["sk_test"])
    new = shown_key(act(operator, old, "roll", hours="2"))
    assert Api(new).get("/me").status_code == Api(shop.keys["sk_test"]).get("/me").status_code == 200
    old.refresh_from_db()
    assert old.expires_at
    assert timedelta(hours=1) < old.expires_at - clock.now() <= timedelta(hours=2)


def test_a_form_that_is_sent_again_rolls_a_key_once(operator: Client, shop: NewMerchant) -> None:
    old = find_key(shop.keys["sk_test"])
    form = form_of(operator, address_of(old, "roll")) | {"hours": "2"}
    shown_key(operator.post(address_of(old, "roll"), form))
    assert operator.post(address_of(old, "roll"), form).status_code == 302
    assert ApiKey.objects.filter(pk=UUID(form["row_id"].partition(":")[0])).count() == 1
    assert AuditEntry.objects.about(old).filter(action="rolled").count() == 1


def test_a_key_that_is_over_is_neither_rolled_nor_offered_to_be(operator: Client) -> None:
    key = ApiKeyFactory(expires_at=clock.now())
    assert "Roll this key" not in text_of(operator.get(page_of(key)))
    assert "does not work any more" in text_of(act(operator, key, "roll", hours="2"))


def test_the_origins_of_a_publishable_key_are_set_and_shown(operator: Client, shop: NewMerchant) -> None:
    key = find_key(shop.keys["pk_test"])
    act(operator, key, "set_origins", origins="https://shop.example\nhttps://www.shop.example/")
    key.refresh_from_db()
    assert key.allowed_origins == ["https://shop.example", "https://www.shop.example"]
    entry = AuditEntry.objects.about(key).latest("id")
    assert (entry.action, entry.fields, entry.reason) == ("changed", ["allowed_origins"], REASON)
    assert "https://www.shop.example" in text_of(operator.get(page_of(key)))


def test_what_is_no_origin_is_said_at_the_form(operator: Client, shop: NewMerchant) -> None:
    key = find_key(shop.keys["pk_test"])
    assert "Write each origin as" in text_of(act(operator, key, "set_origins", origins="shop.example"))


def test_a_card_number_is_no_origin_and_not_shown_again(operator: Client, shop: NewMerchant) -> None:
    key = find_key(shop.keys["pk_test"])
    answer = act(operator, key, "set_origins", origins="https://4242424242424242.example")
    assert "4242424242424242" not in text_of(answer)
    key.refresh_from_db()
    assert key.allowed_origins == []


def test_a_secret_key_is_offered_no_origins(operator: Client, shop: NewMerchant) -> None:
    assert "Set its origins" not in text_of(operator.get(page_of(find_key(shop.keys["sk_test"]))))


def test_a_revoked_key_is_refused_at_once(operator: Client, shop: NewMerchant) -> None:
    assert act(operator, find_key(shop.keys["sk_test"]), "revoke").status_code == 302
    assert Api(shop.keys["sk_test"]).get("/me").status_code == 401
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.reason) == ("revoked", REASON)


def test_a_key_is_not_revoked_by_a_look(operator: Client, shop: NewMerchant) -> None:
    text_of(operator.get(reverse("admin:payments_apikey_revoke", args=[find_key(shop.keys["sk_test"]).pk])))
    assert Api(shop.keys["sk_test"]).get("/me").status_code == 200
