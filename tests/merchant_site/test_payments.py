"""A merchant's people look at its payments, give money back by its limit, and answer disputes."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from payments.domain.bulkheads import DOWNLOADS_OF_ONE, take_download_place
from payments.domain.disputes import evidence
from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.colleagues import end
from payments.models import (
    ApprovalLimit,
    ApprovalRequest,
    Attempt,
    AuditEntry,
    Charge,
    Evidence,
    MerchantAccess,
    OperatorAction,
    PayoutPart,
    Posting,
    Refund,
)
from payments.search.sweep import rebuild
from tests.admin.actions import REASON, once
from tests.admin.conftest import House, text_of, words_of
from tests.client import ANSWER_LOST, Api, signed_in
from tests.disputes.stories import make_dispute
from tests.ledger.books import settle
from tests.merchant_site.conftest import Role, member
from tests.operators.factories import NOTE, done, person, proposed
from tests.operators.forms import form_on
from tests.payouts.stories import make_payout

pytestmark = pytest.mark.usefixtures("commits")
LIST, LIMITS = "/merchant/payments/charge/", "/merchant/payments/approvallimit/"
ALONE = 5_000
LOOKED_UP = "being looked up with the bank"
MAY_GIVE_BACK = {Role.OWNER, Role.FINANCE, Role.SUPPORT}


def page_of(row: Any, name: str = "change") -> str:
    return f"/merchant/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/{name}/"


def refunded(client: Client, amount: str) -> str:
    """Give a part of the only charge back, from the button to the end; return the page with the result."""
    address = page_of(Charge.objects.get(), "refund")
    form = form_on(text_of(client.get(address))) | {"reason": REASON, "amount": amount}
    confirmation = form_on(text_of(client.post(address, form)))
    return words_of(client.post(address, confirmation | {"decision": "confirm"}, follow=True))


@pytest.fixture
def limit(shop: NewMerchant) -> ApprovalLimit:
    return ApprovalLimit.objects.create(merchant=shop.merchant, currency="PHP", amount=ALONE)


@pytest.mark.long
@pytest.mark.parametrize("role", Role.values)
def test_who_gives_money_back_is_said_by_the_role(role: str, shop: NewMerchant, api: Api) -> None:
    api.charge()
    client, charge = signed_in(member(shop.merchant, role)), Charge.objects.get()
    may = role in MAY_GIVE_BACK
    assert (page_of(charge, "refund") in text_of(client.get(page_of(charge)))) is may
    for address in (page_of(charge, name) for name in ("refund", "void", "capture", "release", "extend")):
        assert (client.get(address).status_code != 403) is may
        assert (client.post(address).status_code != 403) is may
    assert ('value="refund_together"' in text_of(client.get(LIST))) is may


def test_without_a_limit_one_person_gives_back_a_whole_payment(owner: Client, api: Api) -> None:
    api.charge()
    assert "₱100.00 is sent back to Juan dela Cruz." in refunded(owner, "100.00")
    assert Refund.objects.get().amount == 10_000


@pytest.mark.long
def test_parts_within_the_limit_are_given_back_by_one_and_what_exceeds_it_is_asked_for(
    limit: ApprovalLimit, owner: Client, api: Api
) -> None:
    api.charge()
    assert "₱30.00 is sent back to Juan dela Cruz." in refunded(owner, "30.00")
    assert "Another person must approve" in refunded(owner, "20.01")
    assert [refund.amount for refund in Refund.objects.all()] == [3_000]


@pytest.mark.long
def test_another_person_of_the_merchant_approves_and_the_money_goes_back_once(
    limit: ApprovalLimit, owner: Client, shop: NewMerchant, api: Api
) -> None:
    api.charge()
    refunded(owner, "60.00")
    asked = OperatorAction.objects.get()
    decision = page_of(asked, "decide"), {"decision": "approve", "note": NOTE}
    owner.post(*decision)
    assert signed_in(member(shop.merchant, Role.SUPPORT)).post(*decision).status_code == 403
    assert not Refund.objects.exists()
    finance = signed_in(member(shop.merchant, Role.FINANCE))
    assert page_of(asked, "decide") in text_of(finance.get(page_of(asked.charge)))
    for _ in range(2):
        finance.post(*decision)
    assert [refund.amount for refund in Refund.objects.all()] == [6_000]
    assert "Made by owner-of-" in words_of(owner.get(page_of(asked.charge)))


def test_a_request_is_shown_on_its_payment_to_those_who_see_requests(
    limit: ApprovalLimit, owner: Client, shop: NewMerchant, api: Api
) -> None:
    api.charge()
    refunded(owner, "60.00")
    page = page_of(Charge.objects.get())
    readers = {role: signed_in(member(shop.merchant, role)) for role in (Role.SUPPORT, Role.VIEWER)}
    seen = {role: "waits for another person" in words_of(reader.get(page)) for role, reader in readers.items()}
    assert seen == {Role.SUPPORT: True, Role.VIEWER: False}


def test_several_payments_are_given_back_together_by_the_limit(limit: ApprovalLimit, owner: Client, api: Api) -> None:
    api.charge(amount=ALONE)
    api.charge(amount=ALONE + 1)
    chosen = {"action": "refund_together", "_selected_action": [str(row.pk) for row in Charge.objects.all()]}
    page = owner.post(LIST, chosen)
    owner.post(LIST, chosen | form_on(text_of(page)) | chosen | {"reason": REASON, "decision": "confirm"})
    assert {act.amount: act.state for act in OperatorAction.objects.all()} == {ALONE: "approved", ALONE + 1: "proposed"}


def test_an_operators_act_is_the_services_and_its_request_is_for_operators(
    owner: Client, shop: NewMerchant, api: Api
) -> None:
    api.charge()
    done(proposed(amount=100))
    waiting, charge = proposed(), Charge.objects.get()
    text = words_of(owner.get(page_of(charge)))
    assert "Made by the service" in text
    for page in (text, words_of(owner.get("/merchant/payments/operatoraction/"))):
        assert not {"ana", "Decide the request", "Withdraw the request"} & {*page.split(" "), page}
        assert "Decide the request" not in page
    assert owner.post(page_of(waiting, "decide"), {"decision": "approve", "note": NOTE}).status_code == 404


@pytest.mark.long
def test_an_operator_may_decide_and_stays_unnamed(limit: ApprovalLimit, owner: Client, api: Api) -> None:
    api.charge()
    refunded(owner, "60.00")
    asked = OperatorAction.objects.get()
    signed_in(person("olive", "finance")).post(
        f"/admin/payments/operatoraction/{asked.pk}/decide/", {"decision": "reject", "note": "Seen by the office"}
    )
    shown = text_of(owner.get(page_of(asked))) + text_of(owner.get("/merchant/payments/operatoraction/"))
    file = b"".join(owner.post("/merchant/payments/operatoraction/csv/").streaming_content).decode()  # type: ignore[attr-defined]
    assert "rejected" in shown
    assert not any(word in shown + file for word in ("olive", "Seen by the office"))


def test_a_colleague_whose_access_was_ended_is_still_named(limit: ApprovalLimit, owner: Client, api: Api) -> None:
    api.charge()
    sol = member(limit.merchant, Role.SUPPORT, "sol")
    refunded(signed_in(sol), "60.00")
    end(MerchantAccess.objects.get(user=sol))
    shown = words_of(owner.get("/merchant/payments/operatoraction/"))
    assert ("sol" in shown, "kaha&#x27;s staff" in shown) == (True, False)


@pytest.mark.long
@pytest.mark.parametrize("role", sorted({*Role.values} - {Role.OWNER}))
def test_only_owners_see_and_set_the_limits(role: str, limit: ApprovalLimit, shop: NewMerchant) -> None:
    client = signed_in(member(shop.merchant, role))
    for address in (LIMITS, f"{LIMITS}add/", page_of(limit)):
        assert client.get(address).status_code == client.post(address, {}).status_code == 403


def test_an_owner_sets_the_limit_of_their_merchant_alone_once_for_a_currency(
    owner: Client, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    theirs = ApprovalLimit.objects.create(merchant=other_shop.merchant, currency="PHP", amount=7)
    assert owner.post(f"{LIMITS}add/", {"currency": "PHP", "amount": "50.00"}).status_code == 302
    assert "There is a limit" in text_of(owner.post(f"{LIMITS}add/", {"currency": "PHP", "amount": "1.00"}))
    own = ApprovalLimit.objects.get(merchant=shop.merchant)
    assert owner.post(page_of(own), {"amount": "40.00"}).status_code == 302
    assert owner.post(page_of(theirs), {"amount": "40.00"}).status_code == 404
    amounts = ApprovalLimit.objects.exclude(merchant=None).values_list("merchant", "amount")
    assert dict(amounts) == {shop.merchant.pk: 4_000, other_shop.merchant.pk: 7}
    details = AuditEntry.objects.filter(object_id=str(own.pk)).order_by("pk").values_list("detail", flat=True)
    assert list(details) == ["₱50.00", "₱40.00"]


def test_one_owner_raises_no_limit(limit: ApprovalLimit, owner: Client) -> None:
    assert "takes another person" in text_of(owner.post(page_of(limit), {"amount": "1,000.00"}))
    assert ApprovalLimit.objects.get(pk=limit.pk).amount == limit.amount


def test_another_owner_approves_a_higher_limit(limit: ApprovalLimit, owner: Client, shop: NewMerchant) -> None:
    form = {"amount": "1,000.00", "reason": REASON, **once(owner)}
    assert owner.post(page_of(limit, "raise"), form).status_code == 302
    asked = ApprovalRequest.objects.get(kind="raise_limit")
    approval = {"decision": "approve", "note": NOTE}
    assert ApprovalLimit.objects.get(pk=limit.pk).amount == limit.amount
    owner.post(page_of(asked, "decide"), approval)
    assert ApprovalLimit.objects.get(pk=limit.pk).amount == limit.amount
    signed_in(member(shop.merchant, Role.OWNER, "other")).post(page_of(asked, "decide"), approval)
    assert ApprovalLimit.objects.get(pk=limit.pk).amount == 100_000


def test_a_limit_that_was_lowered_meanwhile_is_not_raised(
    limit: ApprovalLimit, owner: Client, shop: NewMerchant
) -> None:
    owner.post(page_of(limit, "raise"), {"amount": "1,000.00", "reason": REASON, **once(owner)})
    owner.post(page_of(limit), {"amount": "1.00"})
    asked, other = (
        ApprovalRequest.objects.get(kind="raise_limit"),
        signed_in(member(shop.merchant, Role.OWNER, "other")),
    )
    other.post(page_of(asked, "decide"), {"decision": "approve", "note": NOTE})
    assert ApprovalLimit.objects.get(pk=limit.pk).amount == 100
    assert ApprovalRequest.objects.get(pk=asked.pk).state == "proposed"


def test_an_unknown_outcome_is_being_looked_up_with_the_bank(owner: Client, api: Api) -> None:
    api.charge(ANSWER_LOST)
    Attempt.objects.update(tries=1)
    page = words_of(owner.get(page_of(Charge.objects.get())))
    assert LOOKED_UP in page
    assert not any(word in page for word in ("Look up", "unknown", "simulator"))
    assert f"Halo-halo Visa 5100 ₱100.00 {LOOKED_UP}" in words_of(owner.get(LIST))


def test_the_page_of_a_payment_has_what_is_the_merchants_and_nothing_of_a_provider(
    owner: Client, house: House, other_api: Api
) -> None:
    other_api.charge(description="Of another shop")
    settle()
    charge = Charge.objects.get(description="Halo-halo")
    part = PayoutPart.objects.get(pk__in=Posting.objects.filter(charge=charge).values("settlement"))
    PayoutPart.objects.filter(pk=part.pk).update(payout=make_payout(house.shop.merchant), amount=1)
    page = words_of(owner.get(page_of(charge)))
    for seen in ("asked for ₱1,234.50", "POST /v2/charges/", "waits to be sent", "Settled in the payout of", "Net to"):
        assert seen in page
    provider = {text for row in Attempt.objects.all() for text in (row.provider, row.reference, row.provider_ref)}
    for unseen in {*provider, "debit", "Posted:", "Ledger", "Who did what", "Note", "Block", "Of another shop"} - {""}:
        assert unseen not in page, unseen


def test_who_sees_no_events_reads_what_happened_in_words(shop: NewMerchant, house: House) -> None:
    page = words_of(signed_in(member(shop.merchant, Role.VIEWER)).get(page_of(Charge.objects.get())))
    assert "asked for ₱1,234.50" in page
    assert "req_" not in page


@pytest.mark.long
@pytest.mark.parametrize("term", ["juan", "halo-halo", "1,234.50", "7726"])
def test_the_search_finds_a_payment_by_what_people_know_of_it(term: str, owner: Client, house: House) -> None:
    rebuild()
    assert page_of(Charge.objects.get()) in text_of(owner.post("/merchant/find/", {"q": term}, follow=True))


def test_holds_are_a_tab_of_their_own(owner: Client, api: Api) -> None:
    api.charge(capture=False, description="Three days at sea")
    api.charge()
    page = owner.get(f"{LIST}?money=held")
    assert "Three days at sea" in text_of(page)
    assert "Halo-halo" not in text_of(page)
    for address, current in ((f"{LIST}?money=held", "Holds"), (LIST, "Charges")):
        tabs = owner.get(address).context["navigation"].present.tabs
        assert [tab.name for tab in tabs if tab.current] == [current]


def test_a_dispute_is_answered_with_a_file(owner: Client, api: Api) -> None:
    api.charge()
    dispute, content = make_dispute(Charge.objects.get()), b"%PDF-1.7 signed for by Juan"
    file = SimpleUploadedFile("juan.pdf", content, "application/pdf")
    given = {"type": "receipt", "file": file, "reason": REASON, "submit": "on"}
    assert owner.post(page_of(dispute, "add-evidence"), given).status_code == 302
    assert evidence.opened(dispute)[0].content_type == Evidence.objects.get().content_type == "application/pdf"
    assert "receipt: PDF" in words_of(owner.get(page_of(dispute)))


def test_the_limit_holds_for_a_loss_that_is_accepted_too(limit: ApprovalLimit, owner: Client, api: Api) -> None:
    api.charge()
    dispute = make_dispute(Charge.objects.get())
    assert "above your approval limit" in text_of(owner.post(page_of(dispute, "accept"), {"reason": REASON}))
    limit.amount = dispute.amount
    limit.save()
    assert owner.post(page_of(dispute, "accept"), {"reason": REASON}).status_code == 302


def test_the_people_of_one_merchant_share_its_places_for_files(shop: NewMerchant, owner: Client) -> None:
    address = "/merchant/payments/charge/csv/"
    held = [take_download_place(("people", shop.merchant.pk)) for _ in range(DOWNLOADS_OF_ONE)]
    try:
        assert owner.post(address).status_code == 302
    finally:
        for give_back in held:
            assert give_back is not None
            give_back()
    assert owner.post(address).status_code == 200
