"""Bank accounts for payouts: checked, sealed, and in live mode in effect a day after another operator approved them."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from payments import clock
from payments.bank_accounts import checked_number
from payments.domain.approvals import decide
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import accounts
from payments.domain.payouts.accounts import BadPayoutAccount, Details, add_account, withdraw
from payments.domain.payouts.schedules import account_in_effect, number_of
from payments.models import ApprovalRequest, AuditEntry, Event, PayoutAccount, Webhook
from tests.approvals.factories import NOTE, approved
from tests.concurrency import at_once
from tests.contract.shapes import ACCOUNT, faults_in
from tests.operators.corrections import operator
from tests.payouts.setups import NUMBER, live_account, live_schedule, requested_account
from tests.payouts.stories import give_schedule
from tests.webhooks.endpoints import add_endpoint

pytestmark = pytest.mark.django_db

BDO = Details("PHP", "Sari Store", "BNORPHMM")
GERMAN = Details("EUR", "Sari Store", "COBADEFFXXX")
IBAN = "DE89370400440532013000"
DAY = timedelta(days=1)


def all_text() -> str:
    """Return everything that is stored in clear about the accounts and their changes."""
    rows = [*AuditEntry.objects.values(), *ApprovalRequest.objects.values(), *PayoutAccount.objects.values()]
    return str(rows)


def test_an_account_is_sealed_and_shows_its_last_four(shop: NewMerchant) -> None:
    account = add_account(shop.merchant, False, BDO, "0001-2345 6789")
    assert (number_of(account), account.last4, account.country) == (NUMBER, "6789", "PH")
    assert NUMBER not in all_text()


def test_the_merchant_gets_an_event_of_a_new_account_and_of_its_withdrawal(shop: NewMerchant) -> None:
    add_endpoint(shop.merchant, livemode=True)
    account = add_account(shop.merchant, True, BDO, NUMBER)
    withdraw(account)
    added, withdrawn = Event.objects.filter(object_id=account.id).order_by("sequence")
    assert (added.type, withdrawn.type) == ("payout_account.created", "payout_account.updated")
    sent = Webhook.objects.filter(event_id__in=[added.id, withdrawn.id])
    assert len(sent) == 2
    shown = [json.loads(event.payload)["data"]["object"] for event in (added, withdrawn)]
    assert [faults_in(each, ACCOUNT) for each in shown] == [[], []]
    assert ["withdrawn_at" in each for each in shown] == [False, True]
    assert shown[0]["effective_at"] == clock.iso(account.effective_at)
    assert NUMBER not in str(shown)


def test_an_account_that_is_refused_has_no_event(shop: NewMerchant) -> None:
    add_account(shop.merchant, True, BDO, NUMBER)
    with pytest.raises(BadPayoutAccount, match="waits for its day"):
        add_account(shop.merchant, True, BDO, NUMBER)
    assert Event.objects.count() == 1


def test_an_account_of_test_mode_is_in_effect_at_once(shop: NewMerchant) -> None:
    account = add_account(shop.merchant, False, BDO, NUMBER)
    assert account_in_effect(give_schedule(shop.merchant), clock.now()) == account


def test_an_account_of_live_mode_waits_a_day_though_a_command_adds_it(shop: NewMerchant) -> None:
    account = add_account(shop.merchant, True, BDO, NUMBER)
    schedule = live_schedule(shop.merchant)
    assert account.effective_at - account.created_at == DAY
    assert account_in_effect(schedule, account.effective_at - timedelta(seconds=1)) is None
    assert account_in_effect(schedule, account.effective_at) == account


def test_no_live_account_takes_effect_within_a_day_whatever_writes_it(shop: NewMerchant) -> None:
    account = add_account(shop.merchant, True, BDO, NUMBER)
    sooner = account.effective_at - timedelta(seconds=1)
    with pytest.raises(IntegrityError, match="live_payout_account_waits_a_day"), transaction.atomic():
        PayoutAccount.objects.filter(id=account.id).update(effective_at=sooner)


@pytest.mark.parametrize(
    ("details", "number", "field"),
    [
        (Details("php", "Sari Store", "BNORPHMM"), NUMBER, "currency"),
        (Details("PHP", " ", "BNORPHMM"), NUMBER, "holder"),
        (Details("PHP", "Sari\nStore", "BNORPHMM"), NUMBER, "holder"),
        (Details("PHP", "4242424242424242", "BNORPHMM"), NUMBER, "holder"),
        (Details("PHP", "***", "BNORPHMM"), NUMBER, "holder"),
        (Details("PHP", "★", "BNORPHMM"), NUMBER, "holder"),
        (Details("PHP", "- . -", "BNORPHMM"), NUMBER, "holder"),
        (Details("PHP", "Sari Store", "BNORPHM"), NUMBER, "bic"),
        (Details("PHP", "Sari Store", "BNORPHMı"), NUMBER, "bic"),
        (Details("PHP", "Sari Store", "BNOR1HMM"), NUMBER, "bic"),
        (BDO, "12345", "number"),
        (BDO, "1" * 35, "number"),
        (BDO, "0001234567٨٩", "number"),
        (BDO, "1234567890.0", "number"),
        (BDO, "1234567890.", "number"),
        (BDO, "1.23456789E+11", "number"),
        (BDO, "12345678/0800", "number"),
        (BDO, "-1234567890", "number"),
        (BDO, "1234567890-", "number"),
        (BDO, "1,234,567,890", "number"),
        (BDO, "'0001234567", "number"),
        (BDO, "0001234\n5678", "number"),
        (BDO, "00012345ß", "number"),
        (BDO, "00012345ı", "number"),
        (GERMAN, NUMBER, "number"),
        (GERMAN, "DE89370400440532013001", "number"),
    ],
)
def test_what_is_no_bank_account_is_refused_without_repeating_it(
    shop: NewMerchant, details: Details, number: str, field: str
) -> None:
    with pytest.raises(BadPayoutAccount) as fault:
        add_account(shop.merchant, False, details, number)
    assert fault.value.field == field
    assert number not in str(fault.value)
    assert not PayoutAccount.objects.exists()


@pytest.mark.parametrize("typed", ["0001 2345 6789", "0001-2345-6789", " 000123456789 ", "0001\xa02345\xa06789"])
def test_groups_of_a_number_are_joined(shop: NewMerchant, typed: str) -> None:
    assert number_of(add_account(shop.merchant, False, BDO, typed)) == NUMBER


@given(typed=st.text(alphabet="0123456789AZaz .-/,+_'", max_size=20))
def test_whatever_is_accepted_as_a_number_keeps_each_of_its_characters(typed: str) -> None:
    try:
        number = checked_number("PH", typed)
    except ValueError:
        return
    assert number == "".join(typed.split()).replace("-", "").upper()


def test_an_iban_is_accepted_as_people_write_it(shop: NewMerchant) -> None:
    account = add_account(shop.merchant, False, GERMAN, "de89 3704 0044 0532 0130 00")
    assert number_of(account) == IBAN


def test_a_live_account_is_added_by_two_operators(shop: NewMerchant) -> None:
    request = requested_account(shop.merchant)
    assert not PayoutAccount.objects.exists()
    with pytest.raises(Refused, match="their own request"):
        decide.approve(request, operator("ana"), NOTE)
    approved(request)
    account = PayoutAccount.objects.get()
    assert (account.id, account.livemode, number_of(account)) == (request.subject_id, True, NUMBER)
    assert account.effective_at - account.created_at == DAY


def test_a_requested_number_is_sealed_and_gone_after_the_decision(shop: NewMerchant) -> None:
    request = requested_account(shop.merchant)
    assert NUMBER.encode() not in bytes(request.sealed_credentials or b"")
    assert NUMBER not in all_text()
    approved(request)
    assert ApprovalRequest.objects.get().sealed_credentials is None
    assert NUMBER not in all_text()


def test_a_withdrawn_account_never_takes_effect(shop: NewMerchant) -> None:
    before = live_account(shop.merchant)
    account = add_account(shop.merchant, True, BDO, "000999999999")
    withdraw(account)
    assert account_in_effect(live_schedule(shop.merchant), account.effective_at + DAY) == before
    assert AuditEntry.objects.filter(action="withdrawn", object_id=str(account.id)).exists()


def test_an_account_in_effect_cannot_be_withdrawn(shop: NewMerchant) -> None:
    with pytest.raises(BadPayoutAccount, match="is in effect"):
        withdraw(live_account(shop.merchant))


def test_one_account_of_a_merchant_mode_and_currency_waits_at_a_time(
    shop: NewMerchant, other_shop: NewMerchant
) -> None:
    first = add_account(shop.merchant, True, BDO, NUMBER)
    with pytest.raises(BadPayoutAccount, match="Withdraw it first"):
        add_account(shop.merchant, True, BDO, "000999999999")
    add_account(other_shop.merchant, True, BDO, NUMBER)
    add_account(shop.merchant, False, BDO, NUMBER)
    add_account(shop.merchant, True, GERMAN, IBAN)
    withdraw(first)
    add_account(shop.merchant, True, BDO, "000999999999")


def test_a_change_that_waits_stops_the_approval_of_another(shop: NewMerchant) -> None:
    one, other = requested_account(shop.merchant), requested_account(shop.merchant, "000999999999", last4="9999")
    approved(one)
    with pytest.raises(Refused, match="waits for its day"):
        approved(other)
    assert PayoutAccount.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_accounts_that_are_added_at_once_one_waits(shop: NewMerchant) -> None:
    def add(number: int) -> int:
        try:
            accounts.add_account(shop.merchant, True, BDO, f"00012345678{number}")
        except BadPayoutAccount:
            return 0
        return 1

    assert sum(at_once(4, add)) == 1
