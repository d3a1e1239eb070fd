"""Approved payouts without a bank file, and bank files that nobody has sent, are in the inbox of who may act."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.approvals import payouts
from payments.domain.merchants.merchants import NewMerchant
from payments.inbox import rows
from payments.inbox.entries import Entry
from payments.inbox.sections import limit_of, sections_of
from payments.models import MerchantAccess, PayoutAccount, PayoutFile
from tests.operators.factories import person
from tests.payouts.live import live_account, make_file, ready, sent
from tests.plans import scans_of, use_indexes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors")]


def entries(user: User, sort: str) -> list[Entry]:
    return [entry for each in sections_of(user, limit_of(user)) if each.sort.name == sort for entry in each.entries]


@pytest.fixture
def fely() -> User:
    return person("fely", "finance")


def test_approved_payouts_without_a_file_are_one_entry_for_each_currency(account: PayoutAccount, fely: User) -> None:
    hours_ago = clock.now() - timedelta(hours=5, minutes=1)
    ready(account, approved_at=hours_ago), ready(account, 5)
    ready(live_account(account.merchant, currency="USD"), 7)
    php, usd = entries(fely, "payouts_for_file")
    assert (php.what, php.amount) == ("2 approved payouts in PHP without a bank file", "₱100.05")
    assert (php.when, usd.what) == ("waiting 5 h 1 min", "1 approved payout in USD without a bank file")


def test_a_payout_leaves_the_inbox_with_its_file_which_stays_until_it_is_sent(
    account: PayoutAccount, fely: User
) -> None:
    ready(account)
    file = make_file()
    assert not entries(fely, "payouts_for_file")
    [entry] = entries(fely, "payout_files")
    assert (entry.amount, entry.address) == ("₱100.00", f"/admin/payments/payoutfile/{file.id}/change/")
    assert entry.what.endswith("not downloaded and not sent")
    sent(file)
    assert not entries(fely, "payout_files")
    ready(account, 5)
    cancelled = make_file()
    payouts.cancel_file(cancelled, cancelled.created_by)
    assert not entries(fely, "payout_files")
    assert len(entries(fely, "payouts_for_file")) == 1


def test_only_those_who_make_files_for_all_merchants_see_what_waits(account: PayoutAccount, shop: NewMerchant) -> None:
    ready(account)
    assert not entries(person("vera", "viewer"), "payouts_for_file")
    limited = person("lia", "finance")
    limited.groups.set(limited.groups.filter(name="finance"))
    MerchantAccess.objects.create(user=limited, merchant=shop.merchant)
    make_file()
    ready(account)
    assert not entries(limited, "payouts_for_file")
    assert not entries(limited, "payout_files")


def test_the_inbox_reads_neither_all_payouts_nor_all_files(account: PayoutAccount) -> None:
    use_indexes()
    with CaptureQueriesContext(connection) as taken:
        list(rows.payouts_for_file(None)), list(rows.files_to_send(None))
    found = [scan for query in taken.captured_queries for scan in scans_of(query["sql"])]
    # Which table of a join comes first depends on statistics, of which a test database has few.
    assert {scan.get("Index Name") for scan in found} == {
        "payout_for_file",
        "payments_payoutaccount_pkey",
        "payout_file_open",
        "approval_request_open",
    }
    assert PayoutFile.objects.count() == 0
