"""What leads data, money or trust elsewhere is recorded with the values before and after, and the inbox has it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants import api_keys, merchants, origins, terms
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.risk import blocks, decline_limits
from payments.domain.webhooks import endpoints
from payments.ids import new_id
from payments.inbox import sections
from payments.ledger.fees import Rate
from payments.models import ApprovalLimit, AuditEntry, Block, Merchant
from tests.admin.conftest import operator
from tests.admin.test_hands_off import merchant_form
from tests.admin.test_pages import page_of

__all__ = ["operator"]

SITE = "https://shop.example"
URL, OTHER = "https://shop.example/kaha?token=s3cret", "https://elsewhere.example/kaha"
Act = Callable[[Merchant], Any]


def lift_a_block(merchant: Merchant) -> None:
    ana = User.objects.create_user("ana")
    block = Block(merchant=merchant, livemode=True, reason="Chargebacks.", put_by=ana, email="juan@example.com")
    blocks.add_block(block, None)
    blocks.lift(block, ana, "It was the owner.")


def move_an_endpoint(merchant: Merchant) -> None:
    endpoint, _ = endpoints.add_for_operator(merchant, True, URL, ["*"], new_id())
    endpoints.change_for_operator(endpoint, url=OTHER)


# By what is changed: the act, and a part of what the log says.
ACTS: dict[str, tuple[Act, str]] = {
    "webhook_secrets": (
        lambda merchant: merchants.roll_webhook_secret(merchant, True, timedelta(hours=24)),
        "live mode, the older ones sign along until",
    ),
    "webhook_endpoint": (move_an_endpoint, f"url: https://shop.example/kaha → {OTHER}"),
    "fees": (
        lambda merchant: terms.set_fee(merchant, "card", "PHP", Rate(10_000, 0)),
        "card in PHP: not set → 10000 basis points and 0",
    ),
    "decline_budget": (lambda merchant: decline_limits.set_budget(merchant, 9_000), "usual → 9000"),
    "block": (lift_a_block, "in live mode, at its merchant: in force → lifted"),
    "allowed_origins": (
        lambda merchant: origins.set_origins(merchant.keys.get(livemode=True, kind="publishable"), [SITE]),
        f"origins: not set → {SITE}",
    ),
    "API key": (lambda merchant: api_keys.create_key(merchant, True, "secret"), "mer_"),
}


def noticed(limit: frozenset[Any] | None = None) -> list[tuple[str, str]]:
    """Return what the inbox says of changes, and of which merchant."""
    everything = sections.sections_of(User(is_superuser=True, is_active=True), limit)
    [section] = [section for section in everything if section.sort.name == "notices"]
    return [(entry.what, entry.merchant) for entry in section.entries]


@pytest.mark.long
@pytest.mark.parametrize(("what", "act", "detail"), [(name, *case) for name, case in ACTS.items()], ids=ACTS)
def test_an_act_is_in_the_inbox_at_once_with_its_values_in_the_log(
    shop: NewMerchant, other_shop: NewMerchant, what: str, act: Act, detail: str
) -> None:
    known = len(noticed())
    act(shop.merchant)
    entry = AuditEntry.objects.latest("id")
    assert detail in entry.detail
    assert "s3cret" not in entry.detail
    newest = noticed()[0]
    assert len(noticed()) > known
    assert (newest[0].startswith(what.replace("_", " ")), newest[1]) == (True, "Sari Store")
    assert newest in noticed(frozenset([shop.merchant.id]))
    assert newest not in noticed(frozenset([other_shop.merchant.id]))


def test_test_mode_is_no_notice(shop: NewMerchant) -> None:
    known = noticed()
    merchants.roll_webhook_secret(shop.merchant, False, timedelta())
    endpoints.add_for_operator(shop.merchant, False, "http://localhost:8080/", ["*"], new_id())
    assert noticed() == known


def test_a_notice_is_shown_for_some_days(shop: NewMerchant) -> None:
    terms.set_fee(shop.merchant, "card", "PHP", Rate(350, 0))
    with clock.at(clock.now() + timedelta(days=5)):
        assert noticed() == []


def test_a_merchants_status_and_descriptor_are_noticed_with_before_and_after(
    operator: Client, shop: NewMerchant
) -> None:
    form = merchant_form() | {"status": "closed", "statement_descriptor": "OTHER"}
    assert operator.post(page_of(shop.merchant), form).status_code == 302
    entry = AuditEntry.objects.latest("id")
    assert "status: active → closed" in entry.detail
    assert "statement_descriptor: SARI STORE → OTHER" in entry.detail
    assert noticed()[0][1] == "Sari"


def test_an_approval_limit_is_noticed_by_those_who_work_for_all(operator: Client, shop: NewMerchant) -> None:
    role = Group.objects.get(name="support")
    limit = ApprovalLimit.objects.get_or_create(role=role, currency="PHP", defaults={"amount": 1000})[0]
    address = reverse("admin:payments_approvallimit_change", args=[limit.pk])
    form = {"role": role.pk, "currency": "PHP", "amount": "9,999.00"}
    assert operator.post(address, form).status_code == 302
    entry = AuditEntry.objects.latest("id")
    assert "→ 9,999.00" in entry.detail
    assert noticed()[0] == ("amount changed by operator", "")
    assert ("amount changed by operator", "") not in noticed(frozenset([shop.merchant.id]))


def test_who_becomes_a_superuser_is_noticed(db: None) -> None:
    ben = User.objects.create_user("ben")
    known = noticed()
    ben.is_superuser = True
    ben.save()
    assert len(noticed()) == len(known) + 1
    User.objects.create_superuser("cleo")
    assert noticed()[0][0].startswith("user added")
    ben.is_superuser = False
    ben.save()
    assert len(noticed()) == len(known) + 2
