"""The pages of requests for approval: forms of keys, accounts and routes, decisions, and a key that is shown once."""

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey, ApprovalRequest, AuditEntry, Charge, MerchantAccess, ProviderAccount
from tests.admin.actions import act, address_of, form_of
from tests.admin.conftest import client_of, text_of, words_of
from tests.admin.test_pages import list_of, page_of
from tests.approvals.factories import (
    NOTE,
    approved,
    requested_account,
    requested_change,
    requested_key,
    requested_route_change,
)
from tests.client import Api
from tests.factories import MerchantFactory
from tests.operators.corrections import operator as staff_member
from tests.operators.factories import proposed as act_proposed
from tests.routing.doubles import KEY, route_to

pytestmark = [pytest.mark.long, pytest.mark.django_db]

A_KEY = re.compile(r"<code>([sr]k_live_[0-9a-f]{48})</code>")
LIVE_SECRET = {"mode": "live", "kind": "secret"}
WAITING = reverse("admin:payments_approvalrequest_waiting")


def newest() -> ApprovalRequest:
    return ApprovalRequest.objects.latest("pk")


def decide(client: Client, request: ApprovalRequest, decision: str, note: str = NOTE) -> str:
    """Post a decision; return the text of the next page."""
    answer = client.post(address_of(request, "decide"), {"decision": decision, "note": note}, follow=True)
    return words_of(answer)


def take(client: Client, request: ApprovalRequest) -> list[str]:
    return A_KEY.findall(text_of(client.post(address_of(request, "take"), follow=True)))


def test_a_live_key_that_refunds_needs_an_approver(ana: Client, shop: NewMerchant) -> None:
    count = ApiKey.objects.count()
    for fields in (LIVE_SECRET, {"mode": "live", "kind": "restricted", "rights": ["refunds:write"]}):
        answer = act(ana, shop.merchant, "issue_key", **fields)
        assert answer["Location"] == page_of(newest())
    assert (ApiKey.objects.count(), ApprovalRequest.objects.count()) == (count, 2)


def test_a_live_key_that_reads_is_issued_at_once(ana: Client, shop: NewMerchant) -> None:
    fields = {"mode": "live", "kind": "restricted", "rights": ["charges:read"]}
    assert A_KEY.search(text_of(act(ana, shop.merchant, "issue_key", **fields)))


def test_rolling_a_live_secret_key_needs_an_approver(ana: Client, shop: NewMerchant) -> None:
    key = find_key(shop.keys["sk_live"])
    answer = act(ana, key, "roll", hours="2")
    key.refresh_from_db()
    assert (answer["Location"], key.expires_at) == (page_of(newest()), None)


def test_a_form_sent_twice_makes_one_request(ana: Client, shop: NewMerchant) -> None:
    address = address_of(shop.merchant, "issue_key")
    form = form_of(ana, address) | LIVE_SECRET
    ana.post(address, form)
    assert "was sent before" in text_of(ana.post(address, form, follow=True))
    assert ApprovalRequest.objects.count() == 1


def test_a_second_request_about_the_same_key_is_refused_with_a_message(ana: Client, shop: NewMerchant) -> None:
    key = find_key(shop.keys["sk_live"])
    act(ana, key, "roll", hours="2")
    assert "There is an open request about this already" in text_of(act(ana, key, "roll", hours="3"))


def test_an_approved_key_is_shown_to_its_requester_once(
    ana: Client, ben: Client, shop: NewMerchant, caplog: pytest.LogCaptureFixture
) -> None:
    act(ana, shop.merchant, "issue_key", **LIVE_SECRET)
    assert "which is made then" in decide(ben, newest(), "approve")
    answer = ana.post(address_of(newest(), "take"))
    [key] = A_KEY.findall(text_of(answer))
    assert "no-store" in answer["Cache-Control"]
    assert Api(key).get("/me").status_code == 200
    assert take(ana, newest()) == []
    kept = [*map(str, AuditEntry.objects.values()), *(str(each.get_decoded()) for each in Session.objects.all())]
    assert [text for text in (*kept, caplog.text, str(ApprovalRequest.objects.values())) if key in text] == []


def test_the_approver_is_not_shown_the_key(ana: Client, ben: Client, shop: NewMerchant) -> None:
    request = approved(requested_key(shop.merchant))
    assert "Take the key" in text_of(ana.get(page_of(request)))
    assert "Take the key" not in text_of(ben.get(page_of(request)))
    assert take(ben, request) == []
    assert len(take(ana, request)) == 1


def test_a_get_request_does_not_take_a_key(ana: Client, shop: NewMerchant) -> None:
    request = approved(requested_key(shop.merchant))
    assert ana.get(address_of(request, "take")).status_code == 405
    assert newest().state == "approved"


def test_a_requester_who_lost_the_permission_takes_no_key(shop: NewMerchant) -> None:
    client = client_of("dora", "add_apikey", "view_approvalrequest")
    request = approved(requested_key(shop.merchant, proposed_by=User.objects.get(username="dora")))
    User.objects.get(username="dora").user_permissions.clear()
    assert client.post(address_of(request, "take")).status_code in (403, 404)
    assert newest().state == "approved"


def test_nobody_decides_their_own_request_on_the_page(ana: Client, shop: NewMerchant) -> None:
    request = requested_key(shop.merchant)
    page = text_of(ana.get(address_of(request, "decide")))
    assert ('value="approve"' in page, 'value="withdraw"' in page) == (False, True)
    assert "Nobody decides their own" in decide(ana, request, "approve")
    assert newest().state == "proposed"


def test_a_decision_needs_the_permission(shop: NewMerchant) -> None:
    request, client = requested_key(shop.merchant), client_of("dora", "view_approvalrequest", "add_apikey")
    assert client.get(address_of(request, "decide")).status_code == 403


def test_an_operator_of_other_merchants_finds_no_request(shop: NewMerchant) -> None:
    request, client = requested_key(shop.merchant), client_of("dora", "view_approvalrequest", "decide_approvalrequest")
    dora = User.objects.get(username="dora")
    dora.user_permissions.remove(*dora.user_permissions.filter(codename="work_for_all_merchants"))
    MerchantAccess.objects.create(user=dora, merchant=MerchantFactory())
    assert client.get(address_of(request, "decide")).status_code == 404
    assert shop.merchant.title not in text_of(client.get(WAITING))


def test_the_decision_says_what_the_key_can_do(ben: Client, shop: NewMerchant) -> None:
    words = words_of(ben.get(address_of(requested_key(shop.merchant), "decide")))
    assert "can charge payers, capture, void and refund" in words
    assert "ana takes it and sees its text" in words


def test_the_decision_shows_a_setting_before_and_after(ben: Client, account: ProviderAccount) -> None:
    request = requested_change(account, {"key": "another-secret-key"}, settings={"branch": "Davao"})
    text = text_of(ben.get(address_of(request, "decide")))
    assert "<del>–</del> → <ins>Davao</ins>" in text
    assert "Our north (unchanged)" in text
    assert "replaced by what the requester typed" in text
    assert "another-secret-key" not in text


def test_the_decision_shows_a_route_before_and_after(ben: Client, account: ProviderAccount) -> None:
    request = requested_route_change(route_to(account), position=7)
    assert "<del>1</del> → <ins>7</ins>" in text_of(ben.get(address_of(request, "decide")))


def test_a_decision_that_cannot_be_applied_shows_a_message(ben: Client, account: ProviderAccount) -> None:
    request = requested_change(account, {}, title="Requested")
    ProviderAccount.objects.update(version=9)
    assert "changed since this was requested" in decide(ben, request, "approve")
    assert newest().state == "proposed"


def test_a_rejected_account_is_not_connected(ben: Client, shop: NewMerchant) -> None:
    request = requested_account(shop.merchant, {"key": KEY})
    assert "Nothing was changed" in decide(ben, request, "reject")
    assert not ProviderAccount.objects.exists()


def test_the_only_administrator_is_asked_to_make_a_second_one(ana: Client, shop: NewMerchant) -> None:
    announced = "No other operator may approve it yet. Add another operator under Operators"
    assert announced in text_of(ana.get(address_of(shop.merchant, "issue_key")))
    assert announced in text_of(ana.get(page_of(requested_key(shop.merchant))))
    staff_member("ben")
    assert announced not in text_of(ana.get(address_of(shop.merchant, "issue_key")))
    assert "Another administrator approves or rejects it by" in text_of(ana.get(page_of(newest())))


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_superuser": False}], ids=str)
def test_an_operator_who_cannot_decide_is_no_approver(ana: Client, shop: NewMerchant, change: dict[str, bool]) -> None:
    staff_member("ben")
    User.objects.filter(username="ben").update(**change)
    assert "No other operator may approve it yet" in text_of(ana.get(address_of(shop.merchant, "issue_key")))


def test_one_list_has_all_requests_that_wait_for_an_approver(
    ana: Client, ben: Client, api: Api, account: ProviderAccount
) -> None:
    api.charge(amount=20_000_000)
    money = act_proposed(charge=Charge.objects.get(), proposed_by=staff_member("ana"), amount=15_000_000)
    change = requested_change(account, {}, title="Requested")
    for client, step in ((ben, "decide"), (ana, "change")):
        text = text_of(client.get(WAITING))
        assert [row for row in (money, change) if f'"{address_of(row, step)}"' not in text] == []


def test_the_requester_finds_an_approved_key_in_the_list(ana: Client, ben: Client, shop: NewMerchant) -> None:
    request = approved(requested_key(shop.merchant))
    assert page_of(request) in text_of(ana.get(WAITING))
    assert page_of(request) not in text_of(ben.get(WAITING))


def test_an_empty_list_shows_a_message(ana: Client, shop: NewMerchant) -> None:
    assert "Nothing waits for you." in text_of(ana.get(WAITING))


def test_the_list_of_requests_links_to_all_open_requests(ana: Client, shop: NewMerchant) -> None:
    assert WAITING in text_of(ana.get(list_of(ApprovalRequest)))


def test_a_page_decides_requests_of_its_own_kinds_alone(api: Api, ben: Client) -> None:
    api.charge()
    action = act_proposed()
    for page in ("approvalrequest", "correction"):
        address = reverse(f"admin:payments_{page}_decide", args=[action.pk])
        assert ben.post(address, {"decision": "approve", "note": NOTE}).status_code == 404
    assert ApprovalRequest.objects.get().state == "proposed"
