"""Operators set up payouts, approve them, and see what is due."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, states
from payments.domain.payouts.accounts import Details, add_account
from payments.domain.payouts.schedules import number_of
from payments.inbox.sections import limit_of, sections_of
from payments.ledger import account_days
from payments.models import ApprovalRequest, AuditEntry, MerchantAccess, Payout, PayoutAccount, PayoutSchedule
from tests.admin.actions import REASON, act, address_of
from tests.admin.conftest import client_of, text_of, words_of
from tests.admin.test_pages import list_of, page_of
from tests.approvals.factories import NOTE
from tests.client import Api, signed_in
from tests.factories import MerchantFactory
from tests.operators.factories import ALONE, person
from tests.payouts.live import approve, put_into_file
from tests.payouts.setups import NUMBER, live_account, live_payout, live_schedule, requested_account
from tests.payouts.stories import give_account, give_schedule, settled

pytestmark = [pytest.mark.long, pytest.mark.django_db]

ACCOUNT = {"mode": "test", "currency": "PHP", "holder": "Sari Store", "bic": "BNORPHMM", "number": NUMBER}
TERMS = {"interval": "weekly", "delay_days": "3", "reserve_percent": "10", "reserve_days": "30", "provider_account": ""}
PHP = {"currency": "PHP"}


@pytest.fixture
def fely(db: None) -> Client:
    """Return somebody of finance, signed in."""
    return signed_in(person("fely", "finance"))


def decide(client: Client, request: ApprovalRequest) -> str:
    fields = {"decision": "approve", "note": NOTE}
    return words_of(client.post(address_of(request, "decide"), fields, follow=True))


def approve_together(client: Client, *payouts: Payout) -> str:
    """Choose the payouts in their list, confirm, and return the text of the next page."""
    chosen = {"action": "approve_together", ACTION_CHECKBOX_NAME: [str(payout.pk) for payout in payouts]}
    text = text_of(client.post(f"{list_of(Payout)}?mode=live", chosen))
    if 'name="row_id"' not in text:
        return text
    row_id = text.partition('name="row_id" value="')[2].partition('"')[0]
    fields = chosen | {"decision": "confirm", "reason": REASON, "row_id": row_id}
    return words_of(client.post(f"{list_of(Payout)}?mode=live", fields, follow=True))


def test_a_test_account_is_set_by_one_operator_at_once(ana: Client, shop: NewMerchant) -> None:
    act(ana, shop.merchant, "set_payout_account", **ACCOUNT)
    account = PayoutAccount.objects.get()
    assert (account.livemode, number_of(account)) == (False, NUMBER)
    text = words_of(ana.get(page_of(shop.merchant)))
    assert "test: PHP, Sari Store, ending in 6789, BNORPHMM" in text
    assert AuditEntry.objects.get(action="added", object_id=str(account.pk)).reason == REASON


def test_a_live_account_is_set_by_two_operators_and_waits_a_day(ana: Client, ben: Client, shop: NewMerchant) -> None:
    act(ana, shop.merchant, "set_payout_account", **ACCOUNT | {"mode": "live"})
    request = ApprovalRequest.objects.get()
    page = words_of(ben.get(address_of(request, "decide")))
    assert "ending in 6789" in page
    assert "In place of no account yet" in page
    assert NUMBER not in page
    decide(ben, request)
    assert PayoutAccount.objects.get().effective_at > clock.now()
    assert "23 h 59 min left" in words_of(ana.get(reverse("admin:inbox")))


def test_a_wrong_number_is_not_shown_again(ana: Client, shop: NewMerchant) -> None:
    wrong = {"bic": "COBADEFF", "number": "DE00370400440532013000"}
    text = text_of(act(ana, shop.merchant, "set_payout_account", **ACCOUNT | wrong))
    assert "have an IBAN, and this is none" in text
    assert wrong["number"] not in text
    assert not PayoutAccount.objects.exists()


def test_anybody_of_support_withdraws_an_account_that_waits(shop: NewMerchant) -> None:
    account = add_account(shop.merchant, True, Details("PHP", "Sari Store", "BNORPHMM"), NUMBER)
    support = signed_in(person("sol", "support"))
    act(support, account, "withdraw")
    account.refresh_from_db()
    assert account.withdrawn_at
    assert address_of(account, "withdraw") not in text_of(support.get(page_of(account)))
    assert not _of_sort(person("ana2", "administrator"), "payout_accounts")


def test_the_list_says_which_account_is_in_effect(shop: NewMerchant, operator: Client) -> None:
    live_account(shop.merchant)
    live_account(shop.merchant)
    add_account(shop.merchant, True, Details("PHP", "Sari Store", "BNORPHMM"), NUMBER)
    text = text_of(operator.get(f"{list_of(PayoutAccount)}?mode=live"))
    assert [text.count(f">{word}<") for word in ("waits", "in effect", "replaced")] == [1, 1, 1]


def test_a_schedule_of_test_mode_is_set_and_changed_at_once(ana: Client, shop: NewMerchant) -> None:
    act(ana, shop.merchant, "set_payout_schedule", mode="test", **PHP, **TERMS)
    schedule = PayoutSchedule.objects.get()
    assert (schedule.interval, schedule.delay_days, schedule.reserve_percent) == ("weekly", 3, 10)
    act(ana, schedule, "change_schedule", **TERMS | {"delay_days": "0"})
    schedule.refresh_from_db()
    assert schedule.delay_days == 0
    assert "test: PHP weekly, 10 % kept for 30 days, next" in words_of(ana.get(page_of(shop.merchant)))


def test_a_second_schedule_of_the_same_currency_is_refused(ana: Client, shop: NewMerchant) -> None:
    give_schedule(shop.merchant)
    text = text_of(act(ana, shop.merchant, "set_payout_schedule", mode="test", **PHP, **TERMS))
    assert "Change it on its own page" in text


def test_a_reserve_without_days_is_refused_at_its_field(ana: Client, shop: NewMerchant) -> None:
    fields = TERMS | {"reserve_days": "0"}
    assert "A reserve has a percentage and days" in text_of(
        act(ana, shop.merchant, "set_payout_schedule", mode="test", **PHP, **fields)
    )


def test_a_shorter_delay_in_live_mode_takes_two_operators(ana: Client, ben: Client, shop: NewMerchant) -> None:
    schedule = live_schedule(shop.merchant, interval="weekly", delay_days=3, reserve_percent=10, reserve_days=30)
    act(ana, schedule, "change_schedule", **TERMS | {"interval": "daily"})
    schedule.refresh_from_db()
    assert schedule.interval == "daily"
    act(ana, schedule, "change_schedule", **TERMS | {"interval": "daily", "delay_days": "1"})
    schedule.refresh_from_db()
    assert schedule.delay_days == 3
    page = words_of(ben.get(address_of(ApprovalRequest.objects.get(), "decide")))
    assert "Delay 3 days → 1 day" in page
    decide(ben, ApprovalRequest.objects.get())
    schedule.refresh_from_db()
    assert schedule.delay_days == 1


def test_pay_out_now_makes_a_payout_or_says_that_there_is_nothing(api: Api, shop: NewMerchant, fely: Client) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    assert "nothing to pay out" in text_of(act(fely, schedule, "pay_out"))
    settled(api)
    assert "₱100.00" in words_of(fely.get(address_of(schedule, "pay_out"))).replace("\N{NO-BREAK SPACE}", " ")
    act(fely, schedule, "pay_out")
    assert Payout.objects.get().requested_by == User.objects.get(username="fely")


def test_who_asked_for_a_payout_is_not_offered_to_approve_it(shop: NewMerchant, fely: Client) -> None:
    payout = live_payout(shop.merchant, requested_by=User.objects.get(username="fely"))
    flor = signed_in(person("flor", "finance"))
    for client, offered in ((fely, False), (flor, True)):
        assert (address_of(payout, "approve") in text_of(client.get(page_of(payout)))) == offered


def test_a_live_payout_is_approved_by_another_than_its_requester(shop: NewMerchant, fely: Client) -> None:
    payout = live_payout(shop.merchant, requested_by=person("fely", "finance"))
    assert "Another person must" in text_of(act(fely, payout, "approve"))
    flor = signed_in(person("flor", "finance"))
    assert page_of(ApprovalRequest.objects.get()) in _of_sort(person("flor", "finance"), "approvals")
    act(flor, payout, "approve")
    payout.refresh_from_db()
    assert payout.approval
    assert payout.approval.decided_by == User.objects.get(username="flor")
    assert _of_sort(person("flor", "finance"), "payouts") == ""


def test_many_payouts_are_approved_together_but_ones_own(shop: NewMerchant, fely: Client) -> None:
    account = live_account(shop.merchant)
    own = live_payout(shop.merchant, account=account, requested_by=person("fely", "finance"))
    others = [live_payout(shop.merchant, ALONE, account=account) for _ in range(3)]
    large = live_payout(shop.merchant, ALONE + 1, account=account)
    text = approve_together(fely, own, *others, large)
    assert "Approved: 3." in text
    assert "Above your approval limit: 1." in text
    assert "Left out: 1." in text
    assert Payout.objects.filter(approved_at__isnull=False).count() == 3


def test_at_most_a_hundred_payouts_are_approved_at_once(shop: NewMerchant, fely: Client) -> None:
    account = live_account(shop.merchant)
    payouts = [live_payout(shop.merchant, 1, account=account) for _ in range(101)]
    assert "more than 100" in words_of(
        fely.post(
            f"{list_of(Payout)}?mode=live",
            {
                "action": "approve_together",
                "select_across": "1",
                ACTION_CHECKBOX_NAME: [str(one.pk) for one in payouts],
            },
            follow=True,
        )
    )


def test_a_pending_payout_is_cancelled(api: Api, shop: NewMerchant, fely: Client) -> None:
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant)
    settled(api)
    act(fely, schedule, "pay_out")
    payout = Payout.objects.get()
    act(fely, payout, "cancel")
    payout.refresh_from_db()
    assert payout.status == "cancelled"
    assert address_of(payout, "cancel") not in text_of(fely.get(page_of(payout)))


def test_a_payout_of_a_file_is_recorded_as_returned_by_two_people(shop: NewMerchant, fely: Client, ben: Client) -> None:
    payout = live_payout(shop.merchant)
    approve(payout)
    put_into_file(payout)
    payout.refresh_from_db()
    states.mark_sent(payout)
    assert "an administrator other than you must approve the record" in text_of(fely.get(address_of(payout, "record")))
    act(fely, payout, "record", status="returned")
    decide(ben, ApprovalRequest.objects.get(kind="record_payout"))
    payout.refresh_from_db()
    assert (payout.status, payout.failure_code) == ("failed", "returned")
    assert "Payout came back from the bank: returned" in _of_sort(person("fely", "finance"), "payouts_failed")


def test_the_list_says_what_is_payable_at_one_price_however_many_merchants(
    api: Api, shop: NewMerchant, operator: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    give_schedule(shop.merchant)
    settled(api)
    operator.get(f"{list_of(PayoutSchedule)}?mode=test")
    with CaptureQueriesContext(connection) as of_one:
        operator.get(f"{list_of(PayoutSchedule)}?mode=test")
    for _ in range(60):
        give_schedule(MerchantFactory())
    with django_assert_num_queries(len(of_one)):
        first = words_of(operator.get(f"{list_of(PayoutSchedule)}?mode=test"))
    last = words_of(operator.get(f"{list_of(PayoutSchedule)}?mode=test&p=last")).replace("\N{NO-BREAK SPACE}", " ")
    assert first.count("Manual") >= 50
    assert "₱100.00" in last


def test_what_is_payable_is_the_same_when_settlements_are_summed_up(api: Api, shop: NewMerchant) -> None:
    schedule = give_schedule(shop.merchant)
    settled(api)
    before = make.payable(schedule, clock.now())
    account_days.rebuild()
    assert make.payable(schedule, clock.now()) == before == 10_000


def test_a_payout_is_found_by_its_id(shop: NewMerchant, operator: Client) -> None:
    payout = live_payout(shop.merchant)
    answer = operator.get(reverse("admin:find"), {"q": str(payout)})
    assert answer["Location"] == page_of(payout) if answer.status_code == 302 else str(payout) in text_of(answer)


def test_operators_of_other_merchants_see_and_set_nothing(shop: NewMerchant) -> None:
    payout, schedule = live_payout(shop.merchant), live_schedule(shop.merchant)
    account = add_account(shop.merchant, True, Details("PHP", "Sari Store", "BNORPHMM"), NUMBER)
    other = person("otto", "finance")
    other.groups.set(Group.objects.filter(name__in=["finance", "administrator"]))
    MerchantAccess.objects.create(user=other, merchant=MerchantFactory())
    client = signed_in(other)
    for row, name in (
        (payout, "approve"),
        (payout, "cancel"),
        (schedule, "pay_out"),
        (schedule, "change_schedule"),
        (account, "withdraw"),
        (shop.merchant, "set_payout_account"),
        (shop.merchant, "set_payout_schedule"),
    ):
        assert client.post(address_of(row, name), {"reason": REASON}).status_code == 404, name
    assert not [each for each in sections_of(other, limit_of(other)) if each.entries]


def test_a_request_that_waits_is_among_the_decisions(ben: Client, shop: NewMerchant) -> None:
    requested_account(shop.merchant)
    assert "Set the bank account: PHP, ending in 6789" in words_of(
        ben.get(reverse("admin:payments_approvalrequest_waiting"))
    )


def test_a_viewer_is_offered_nothing(shop: NewMerchant) -> None:
    payout, schedule = live_payout(shop.merchant), live_schedule(shop.merchant)
    viewer = client_of("viv", "view_payout", "view_payoutschedule", "view_merchant")
    for row, name in ((payout, "approve"), (schedule, "pay_out"), (shop.merchant, "set_payout_account")):
        assert address_of(row, name) not in text_of(viewer.get(page_of(row)))


def _of_sort(user: User, name: str) -> str:
    """Return what the inbox of `user` has of a sort, as a text."""
    sections = [each for each in sections_of(user, None) if each.sort.name == name]
    return " ".join(f"{entry.what}: {entry.about} {entry.address}" for each in sections for entry in each.entries)
