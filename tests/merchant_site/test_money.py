"""Payouts, balance, statements, the bank account, and what two persons of a merchant decide."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts.terms import Terms
from payments.ids import public_id
from payments.ledger.account_days import sum_up_due
from payments.merchant_site.pages import payouts
from payments.models import ApprovalRequest, AuditEntry, PayoutAccount
from payments.money import shown_amount
from tests.admin.actions import once
from tests.admin.conftest import text_of, the_operator, words_of
from tests.approvals.factories import NOTE, REASON, requested_key
from tests.client import Api, made, signed_in
from tests.ledger.books import charge_fees, settle
from tests.merchant_site.conftest import member
from tests.operators.factories import proposed
from tests.overview.past_charges import days_ago, make_past_charge
from tests.payouts.setups import NUMBER, requested_account, requested_schedule
from tests.payouts.stories import days_pass, give_account, give_schedule, make_payout, paid_out, settled

pytestmark = [pytest.mark.long, pytest.mark.django_db]
URLS = "config.merchant_urls"
ACCOUNT = {"mode": "live", "currency": "PHP", "holder": "Sari Store", "bic": "BNORPHMM", "number": NUMBER}


def address(name: str, *args: object) -> str:
    return reverse(f"admin:{name}", URLS, args)


def requested(client: Client, **fields: str) -> ApprovalRequest:
    """Ask for a bank account by the form; return the request."""
    form = address("payments_payoutaccount_add")
    answer = client.post(form, ACCOUNT | {**once(client), "reason": REASON} | fields)
    assert answer.status_code == 302, words_of(answer)
    return ApprovalRequest.objects.latest("pk")


def decide(client: Client, request: ApprovalRequest, decision: str = "approve") -> int:
    name = f"payments_{request.shown_as._meta.model_name}_decide"
    return client.post(address(name, request.pk), {"decision": decision, "note": NOTE}).status_code


def test_a_bank_account_is_set_by_two_owners(owner: Client, shop: NewMerchant) -> None:
    request = requested(owner)
    assert "Another owner or kaha" in words_of(owner.get(address("payments_approvalrequest_change", request.pk)))
    decide(owner, request)
    assert not PayoutAccount.objects.exists()
    other = signed_in(member(shop.merchant, name="nena"))
    assert '<span class="nav-count">1<' in text_of(other.get(address("payments_payout_changelist")))
    assert "earn goes to this account" in words_of(other.get(address("payments_approvalrequest_decide", request.pk)))
    decide(other, request)
    account = PayoutAccount.objects.get()
    assert account.effective_at >= clock.now() + timedelta(hours=23)
    assert AuditEntry.objects.filter(action="approved").latest("id").actor == "nena"
    withdraw = address("payments_payoutaccount_withdraw", account.pk)
    assert other.post(withdraw, {"reason": REASON}).status_code == 302
    account.refresh_from_db()
    assert account.withdrawn_at


@pytest.mark.parametrize("role", ["finance", "support", "developer", "viewer"])
def test_only_an_owner_asks_for_and_decides_a_bank_account(role: str, shop: NewMerchant) -> None:
    request, client = requested_account(shop.merchant), signed_in(member(shop.merchant, role))
    assert client.get(address("payments_payoutaccount_add")).status_code == 403
    assert decide(client, request) in (403, 404)
    request.refresh_from_db()
    assert request.state == "proposed"


def test_a_viewer_sees_no_bank_account(shop: NewMerchant, api: Api) -> None:
    settled(api)
    give_account(shop.merchant, "000123450815")
    payout = paid_out(give_schedule(shop.merchant))
    requested_account(shop.merchant)
    for role, seen in (("viewer", False), ("developer", False), ("finance", True)):
        client = signed_in(member(shop.merchant, role))
        for page in ("payments_payout_changelist", "payments_payout_change"):
            shown = text_of(client.get(address(page, *([payout.pk] if page.endswith("change") else []))))
            assert ("0815" in shown) is seen, (role, page)
        assert client.get(address("payments_payoutaccount_changelist")).status_code == (200 if seen else 403)
        waiting = client.get(address("payments_approvalrequest_waiting"))
        assert (waiting.status_code == 200 and "6789" in text_of(waiting)) is seen


@pytest.mark.parametrize(("role", "seen"), [("viewer", False), ("finance", True)])
def test_the_first_page_names_the_bank_account_to_those_who_may_see_it(
    role: str, seen: bool, shop: NewMerchant, api: Api
) -> None:
    api.charge()
    make_payout(shop.merchant)
    shown = text_of(signed_in(member(shop.merchant, role)).get(address("index")))
    assert "Next payout" in shown
    assert ("ending in 6789" in shown) is seen


def test_an_owner_decides_nothing_that_is_the_services(owner: Client, shop: NewMerchant) -> None:
    request = requested_schedule(shop.merchant, Terms(interval="daily"))
    assert decide(owner, request) == 404
    assert REASON not in text_of(owner.get(address("payments_approvalrequest_waiting")))


def test_what_the_staff_asked_for_is_decided_here_without_their_names(owner: Client, shop: NewMerchant) -> None:
    request = requested_account(shop.merchant)
    for page in ("payments_approvalrequest_waiting", "payments_approvalrequest_changelist"):
        assert "kaha&#x27;s staff" in text_of(owner.get(address(page))), page
    file = b"".join(owner.post(address("payments_approvalrequest_csv")).streaming_content).decode()
    assert ("kaha's staff" in file, ",ana," in file) == (True, False)
    form = address("payments_approvalrequest_decide", request.pk)
    for shown in (owner.get(form), owner.post(form, {"decision": "approve", "note": ""})):
        text = words_of(shown)
        assert ("kaha&#x27;s staff" in text, "ana" in text.split()) == (True, False)
    assert decide(owner, request) == 302
    assert "requested by ana" in AuditEntry.objects.filter(action="added").latest("id").reason
    page = text_of(owner.get(address("payments_approvalrequest_change", request.pk)))
    assert "kaha&#x27;s staff" in page


def test_an_approved_key_is_taken_by_the_developer_who_asked_for_it(owner: Client, shop: NewMerchant) -> None:
    developer = member(shop.merchant, "developer")
    client = signed_in(developer)
    request = requested_key(shop.merchant, proposed_by=developer)
    assert decide(client, request) == 403
    decide(owner, request)
    assert owner.post(address("payments_approvalrequest_take", request.pk)).status_code == 302
    shown = client.post(address("payments_approvalrequest_take", request.pk))
    assert find_key(shown.context["secrets"]["Key"])


@pytest.mark.usefixtures("commits")
def test_a_refund_that_support_requests_is_approved_by_finance_once(shop: NewMerchant, api: Api) -> None:
    charge = api.charge(amount=10_000)
    support = member(shop.merchant, "support")
    request = proposed(amount=2_500, proposed_by=support)
    finance = signed_in(member(shop.merchant, "finance"))
    assert decide(signed_in(support), request) == 403
    assert decide(signed_in(member(shop.merchant, "viewer")), request) == 404
    assert api.read(charge)["amount_refunded"] == 0
    for _ in range(2):
        decide(finance, request)
    assert api.read(charge)["amount_refunded"] == 2_500
    assert "₱25.00 is sent back to Juan dela Cruz." in words_of(
        finance.get(address("payments_operatoraction_change", request.pk))
    )


def test_the_content_of_a_payout_is_the_apis(
    shop: NewMerchant, api: Api, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge_fees(shop.merchant)
    charge = settled(api, 30_000)
    settled(api, 20_000)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1_250}))
    # The refund is settled too before the payout.
    settle()
    days_pass(1)
    give_account(shop.merchant)
    payout = paid_out(give_schedule(shop.merchant, reserve_percent=10, reserve_days=30))
    listed = made(api.get(f"/payouts/{public_id('po', payout.pk)}/transactions"))["data"]
    monkeypatch.setattr(payouts, "SHOWN_PARTS", 2)
    page = owner.get(address("payments_payout_change", payout.pk))
    older = owner.get(address("payments_payout_change", payout.pk), {"after": page.context["more_after"]})
    shown = [row[2] for part in (page, older) for row in part.context["transactions"]]
    assert shown == [shown_amount(one["amount"], "PHP") for one in listed]
    *lines, last = [line for line, _ in page.context["content"]]
    named = {line.words: line.amount for line in lines}
    assert (named["Charges"], named["Refunds"], named["Kept in reserve"]) == (50_000, -1_250, -payout.reserve)
    assert named["Fees"] < 0
    assert sum(named.values()) == last.amount == payout.amount


def test_the_balance_is_the_apis_with_the_next_payout(shop: NewMerchant, api: Api, owner: Client) -> None:
    settled(api, 30_000)
    api.charge(amount=5_000)
    give_account(shop.merchant)
    give_schedule(shop.merchant, "daily", reserve_percent=10, reserve_days=30)
    page = text_of(owner.get(address("balance"))).replace("\xa0", " ")
    for member_name, amount in (("available", "₱300.00"), ("pending", "₱50.00")):
        assert api.get("/balance").json()[member_name][0]["amount"] == round(float(amount[1:]) * 100)
        assert f"<dd>{amount}</dd>" in page
    assert "<strong>₱270.00</strong>" in page


def test_a_statement_is_the_operators_for_this_merchant_alone(
    owner: Client, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    moment = days_ago(40)
    make_past_charge(shop.merchant, moment, amount=123_456)
    sum_up_due(limit=100)
    month = f"{moment:%Y-%m}"
    assert f"month={month}" in text_of(owner.get(address("payments_statement_changelist")))
    shown = owner.get(address("payments_statement_change", shop.merchant.pk), {"month": month, "mode": "test"})
    assert "1,234.56" in text_of(shown)
    names = [month, "test", "csv"]
    file = owner.post(address("payments_statement_download", shop.merchant.pk, *names))
    office = reverse("admin:payments_statement_download", args=[shop.merchant.pk, *names])
    theirs = signed_in(the_operator()).get(office).content
    # The last columns say when it was made.
    assert [line.split(b",")[:13] for line in file.content.splitlines()] == [
        line.split(b",")[:13] for line in theirs.splitlines()
    ]
    assert b"1234.56" in theirs
    assert owner.post(address("payments_statement_download", other_shop.merchant.pk, *names)).status_code == 404
