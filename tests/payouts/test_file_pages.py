"""The pages of bank files, and who may do what with one."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.db.backend.row_security import rows_of
from payments.domain.approvals import decide
from payments.domain.merchants.merchants import NewMerchant
from payments.inbox.decisions import decidable
from payments.models import ApprovalRequest, AuditEntry, MerchantAccess, Payout, PayoutAccount, PayoutFile
from tests.admin.actions import address_of, once
from tests.admin.conftest import text_of, words_of
from tests.client import signed_in
from tests.merchant_site.conftest import member
from tests.operators.factories import person
from tests.payouts.live import DEBTOR_NUMBER, NUMBER, live_account, make_file, ready

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors")]
ADD = "admin:payments_payoutfile_add"
LIST = "admin:payments_payoutfile_changelist"
WAITING = reverse("admin:payments_approvalrequest_waiting")


def client_of(name: str, role: str = "finance") -> Client:
    return signed_in(person(name, role))


@pytest.fixture
def ana(db: None) -> Client:
    return client_of("ana")


@pytest.fixture
def ben(db: None) -> Client:
    return client_of("ben")


def page_of(name: str, file: PayoutFile) -> str:
    return reverse(f"admin:payments_payoutfile_{name}", args=[file.pk])


def made(client: Client, **fields: object) -> PayoutFile:
    """Make a file by the form."""
    # The form takes no day that is over.
    tomorrow = clock.now().date() + timedelta(days=1)
    form = {"currency": "PHP", "execute_on": tomorrow, "reason": "Weekly run", **once(client), **fields}
    response = client.post(reverse(ADD), form)
    assert response.status_code == 302, words_of(response)
    return PayoutFile.objects.latest("id")


def asked_about(file: PayoutFile) -> ApprovalRequest:
    return ApprovalRequest.objects.get(subject_id=file.pk)


def answer_to(client: Client, name: str, file: PayoutFile) -> str:
    """Do an action by its form, and return the page after it."""
    return words_of(client.post(page_of(name, file), {"reason": "Seen at the bank"}, follow=True))


def test_the_form_shows_what_waits_and_makes_a_file_of_it(account: PayoutAccount, ana: Client) -> None:
    ready(account, 123_450), ready(account, 50)
    ready(live_account(account.merchant, currency="USD"))
    form = words_of(ana.get(reverse(ADD))).replace("\xa0", " ")
    assert "2 approved, ₱1,235.00" in form
    assert "No account to debit in USD: set PAYOUT_DEBTOR_ACCOUNTS" in form
    file = made(ana)
    page = words_of(ana.get(page_of("change", file))).replace("\xa0", " ")
    for text in (file.name, "₱1,235.00", "Pending: 2", "₱0.50 to Sari Store, ending in 4321"):
        assert text in page, text
    assert AuditEntry.objects.filter(action="added", object_id=file.pk).get().reason == "Weekly run"


def test_a_form_that_is_sent_twice_leads_to_the_one_file(account: PayoutAccount, ana: Client) -> None:
    ready(account)
    form = once(ana)
    made(ana, **form)
    ready(account)
    made(ana, **form)
    assert PayoutFile.objects.count() == 1


def test_pages_of_files_say_that_the_money_is_real(account: PayoutAccount, ana: Client) -> None:
    ready(account)
    file = made(ana)
    ana.post(page_of("download", file))
    for address in (reverse(LIST), reverse(ADD), page_of("change", file), page_of("mark_sent", file)):
        assert "This is live mode: real money." in text_of(ana.get(address)), address


@pytest.mark.usefixtures("noon")
def test_the_form_asks_for_today(account: PayoutAccount, ana: Client) -> None:
    ready(account)
    assert f'value="{clock.now().date().isoformat()}"' in text_of(ana.get(reverse(ADD)))


def test_without_payouts_no_form_is_offered(ana: Client, db: None) -> None:
    page = text_of(ana.get(reverse(ADD)))
    assert "None waits for a file." in page
    assert 'name="decision"' not in page


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("days", [-1, 31])
def test_the_bank_is_asked_to_pay_within_a_month(account: PayoutAccount, ana: Client, days: int) -> None:
    ready(account)
    day = clock.now().date() + timedelta(days=days)
    form = {"currency": "PHP", "execute_on": day, "reason": "Weekly run", **once(ana)}
    assert "Choose a day from today" in text_of(ana.post(reverse(ADD), form))


@pytest.mark.long
def test_a_file_is_made_downloaded_sent_and_paid_by_two_people(
    account: PayoutAccount, ana: Client, ben: Client
) -> None:
    ready(account), ready(account)
    file = made(ana)
    assert "This file is not downloaded yet" in answer_to(ben, "mark_sent", file)
    response = ana.post(page_of("download", file))
    assert response["Content-Disposition"] == f'attachment; filename="{file.name}"'
    assert "no-store" in response["Cache-Control"]
    assert NUMBER.encode() in response.content
    assert "Nobody decides their own request" in answer_to(ana, "mark_sent", file)
    assert "Marked as sent: 2 payouts" in answer_to(ben, "mark_sent", file)
    assert "You made this file" in answer_to(ana, "mark_paid", file)
    assert "Marked as paid: 2 of 2." in answer_to(ben, "mark_paid", file)
    assert {*Payout.objects.values_list("status", flat=True)} == {"paid"}
    assert "No payout of this file is in transit" in answer_to(ana, "mark_paid", file)


@pytest.mark.long
def test_who_made_a_file_that_somebody_has_is_offered_no_act_that_only_another_may_do(
    account: PayoutAccount, ana: Client, ben: Client
) -> None:
    payout = ready(account)
    file = made(ana)
    assert page_of("cancel", file) in text_of(ana.get(page_of("change", file)))
    ana.post(page_of("download", file))
    for client, offered in ((ana, False), (ben, True)):
        page = text_of(client.get(page_of("change", file)))
        assert [page_of(name, file) in page for name in ("mark_sent", "cancel")] == [offered, offered]
    Payout.objects.filter(pk=payout.pk).update(status=Payout.Status.IN_TRANSIT, sent_at=clock.now())
    for client, offered in ((ana, False), (ben, True)):
        assert (page_of("mark_paid", file) in text_of(client.get(page_of("change", file)))) is offered


def test_a_cancelled_file_offers_nothing_more(account: PayoutAccount, ana: Client) -> None:
    ready(account)
    file = made(ana)
    assert "Its payouts wait for another file" in answer_to(ana, "cancel", file)
    page = text_of(ana.get(page_of("change", file)))
    for name in ("download", "mark_sent", "mark_paid", "cancel"):
        assert page_of(name, file) not in page
    assert "was cancelled" in answer_to(ana, "download", file)


def test_a_file_that_the_bank_would_refuse_is_not_handed_out(account: PayoutAccount, ana: Client) -> None:
    payout = ready(account)
    file = made(ana)
    PayoutAccount.objects.update(bic="NOBIC")
    assert f"BICFI of po_{payout.id.hex}" in answer_to(ana, "download", file)
    assert PayoutFile.objects.get().downloaded_at is None


def test_a_file_that_is_made_and_not_handed_out_is_named(
    account: PayoutAccount, ana: Client, settings: Settings
) -> None:
    ready(account)
    settings.PAYOUT_DEBTOR_ACCOUNTS = {"PHP": ("NOBIC", "1234567890")}
    day = clock.now().date() + timedelta(days=1)
    form = {"currency": "PHP", "execute_on": day, "reason": "Weekly run", **once(ana), "decision": "download"}
    page = words_of(ana.post(reverse(ADD), form, follow=True))
    assert ("Made: " in page, "BICFI" in page, PayoutFile.objects.get().name in page) == (True, True, True)


def test_the_pages_name_a_payout_that_every_file_leaves_out_and_what_to_do(account: PayoutAccount, ana: Client) -> None:
    PayoutAccount.objects.update(holder="★")
    payout = ready(account)
    for page in (reverse(ADD), reverse("admin:payments_payout_change", args=[payout.pk]), "/admin/inbox/"):
        text = text_of(ana.get(page))
        assert payout.id.hex in text.replace("-", "")
        assert "Set another bank account, then cancel this payout." in text


def test_a_link_cannot_download_a_file(account: PayoutAccount, ana: Client) -> None:
    ready(account)
    assert ana.get(page_of("download", made(ana))).status_code == 405


@pytest.mark.long
@pytest.mark.parametrize("role", ["viewer", "support", "administrator"])
def test_other_roles_see_a_file_and_do_nothing_with_it(account: PayoutAccount, role: str) -> None:
    ready(account)
    file, client = make_file(), client_of("cleo", role)
    assert file.name in text_of(client.get(page_of("change", file)))
    assert reverse(ADD) not in text_of(client.get(reverse(LIST)))
    assert client.get(reverse(ADD)).status_code == 403
    for name in ("download", "mark_sent", "mark_paid", "cancel"):
        assert client.post(page_of(name, file), {"reason": "why"}).status_code == 403, name


def test_files_are_for_operators_of_all_merchants(account: PayoutAccount, ana: Client) -> None:
    ready(account)
    file, limited = make_file(), person("dan", "finance")
    limited.groups.remove(limited.groups.get(name="all merchants"))
    MerchantAccess.objects.create(user=limited, merchant=account.merchant)
    client = signed_in(limited)
    assert client.get(reverse(ADD)).status_code == 403
    for name in ("change", "mark_sent"):
        assert client.get(page_of(name, file)).status_code == 404, name
    assert client.post(page_of("download", file)).status_code == 404


def test_a_payout_leads_to_its_file_and_back(account: PayoutAccount, ana: Client) -> None:
    payout = ready(account)
    file = made(ana)
    assert page_of("change", file) in text_of(ana.get(reverse("admin:payments_payout_change", args=[payout.pk])))
    found = text_of(ana.get(reverse("admin:payments_payout_changelist"), {"q": f"pf_{file.pk.hex}"}))
    assert reverse("admin:payments_payout_change", args=[payout.pk]) in found


def test_what_waits_has_the_request_about_a_file_on_whose_page_another_person_approves_it(
    account: PayoutAccount, ana: Client, ben: Client
) -> None:
    ready(account)
    file = made(ana)
    request = asked_about(file)
    for address in (WAITING, address_of(request, "change"), page_of("change", file)):
        assert "bank file" in text_of(ben.get(address)).lower()
    page = words_of(ben.get(address_of(request, "decide"))).replace("\xa0", " ")
    for text in ("Send a bank file: ₱100.00?", "all merchants", "Compare number and sum", file.name, "Weekly run"):
        assert text in page, text
    decision = {"decision": "approve", "note": "Seen at the bank"}
    assert "Nobody has downloaded" in words_of(ben.post(address_of(request, "decide"), decision, follow=True))
    ana.post(page_of("download", file))
    assert "Approved and done." in words_of(ben.post(address_of(request, "decide"), decision, follow=True))
    assert {*Payout.objects.values_list("status", flat=True)} == {"in_transit"}
    assert "ben" in text_of(ana.get(reverse(LIST)))


def test_after_a_rejection_anybody_asks_again_and_another_than_the_maker_approves(
    account: PayoutAccount, ana: Client, ben: Client
) -> None:
    ready(account)
    file = made(ana)
    ana.post(page_of("download", file))
    decide.reject(asked_about(file), person("ben", "finance"), "The bank shows another sum")
    assert "Another operator approves it" in answer_to(ben, "mark_sent", file)
    assert page_of("mark_sent", file) not in text_of(ben.get(page_of("change", file)))
    assert "Who made the file does not approve that it is sent." in answer_to(ana, "mark_sent", file)
    cleo = client_of("cleo", "finance")
    assert "Marked as sent: 1 payout" in answer_to(cleo, "mark_sent", file)


def test_who_works_for_some_merchants_neither_sees_nor_decides_the_request_about_a_file(
    account: PayoutAccount, shop: NewMerchant
) -> None:
    ready(account)
    request = asked_about(make_file())
    limited = person("lia", "finance")
    limited.groups.set(limited.groups.filter(name="finance"))
    MerchantAccess.objects.create(user=limited, merchant=shop.merchant)
    owner = member(shop.merchant)
    for user in (limited, owner):
        assert request not in decidable(user, MerchantAccess.objects.limit_of(user))
    client = signed_in(limited)
    assert "Send a bank file" not in text_of(client.get(WAITING))
    for name in ("change", "decide"):
        assert client.get(address_of(request, name)).status_code in (302, 404)
    decision = {"decision": "approve", "note": "Seen at the bank"}
    assert client.post(address_of(request, "decide"), decision).status_code in (302, 404)
    with rows_of(shop.merchant.id):
        assert not ApprovalRequest.objects.filter(id=request.id).exists()
    assert ApprovalRequest.objects.get(id=request.id).state == "proposed"


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


@pytest.mark.long
def test_an_account_number_is_in_the_file_and_nowhere_else(
    account: PayoutAccount, ana: Client, ben: Client, logged: pytest.LogCaptureFixture
) -> None:
    payout = ready(account)
    pages = [text_of(ana.get(reverse(ADD)))]
    file = made(ana)
    content = ana.post(page_of("download", file)).content.decode()
    pages += [answer_to(ben, "mark_sent", file), answer_to(ben, "mark_paid", file)]
    pages += [text_of(ana.get(address)) for address in (reverse(LIST), page_of("change", file))]
    pages.append(text_of(ana.get(reverse("admin:payments_payout_change", args=[payout.pk]))))
    stored = "".join(map(_rows_of, apps.get_models()))
    for number in (NUMBER, DEBTOR_NUMBER):
        assert number in content
        assert [page for page in pages if number in page] == []
        assert number not in logged.text
        assert number not in stored
        assert number.encode().hex() not in stored


def _rows_of(model: Any) -> str:
    """Return all rows of a table as PostgreSQL writes them."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT t::text FROM {model._meta.db_table} t")
        return "".join(text for (text,) in cursor.fetchall())
