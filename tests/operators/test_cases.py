"""Cases: notes, assignees and tags of charges, unknown outcomes and reconciliation items."""

import threading

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators import cases
from payments.models import Attempt, AuditEntry, Case, Charge, MerchantAccess, Note, ReconciliationItem
from tests.admin.conftest import client_of, operator, text_of, the_operator  # noqa: F401
from tests.admin.test_pages import list_of, page_of
from tests.client import APPROVED, Api
from tests.factories import ChargeFactory
from tests.operators.corrections import operator as staff_member
from tests.operators.corrections import unknown_payment
from tests.reconciliation.factories import a_difference
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def charge(api: Api) -> Charge:
    api.charge(APPROVED)
    return Charge.objects.get()


def case_address(charge: Charge) -> str:
    return reverse("admin:payments_charge_case", args=[charge.pk])


def test_a_note_is_on_the_page_with_its_author_and_in_the_audit_log(operator: Client, charge: Charge) -> None:  # noqa: F811
    response = operator.post(case_address(charge), {"note": "The payer called about this."}, follow=True)
    assert 'The payer called about this.<span class="second">operator' in text_of(response)
    entry = AuditEntry.objects.filter(action="changed").latest("id")
    assert (entry.object_id, entry.fields, entry.detail) == (str(charge.pk), ["notes"], "The payer called about this.")


@pytest.mark.long
@pytest.mark.parametrize("text", ["The card is 4242 4242 4242 4242.", "cvc=123"])
def test_a_note_with_a_secret_is_refused(operator: Client, charge: Charge, text: str) -> None:  # noqa: F811
    response = operator.post(case_address(charge), {"note": text}, follow=True)
    assert "Not saved." in text_of(response)
    assert text not in text_of(response)
    assert not Note.objects.exists()


def test_a_form_that_says_nothing_makes_no_case_and_touches_none(operator: Client, charge: Charge) -> None:  # noqa: F811
    operator.post(case_address(charge), {})
    assert not Case.objects.exists()
    operator.post(case_address(charge), {"tags": "fraud-check"})
    before = Case.objects.values().get()
    operator.post(case_address(charge), {"tags": "fraud-check"})
    assert Case.objects.values().get() == before


def test_assignee_and_tags_are_set_and_taken_away(operator: Client, charge: Charge) -> None:  # noqa: F811
    ana = for_all(staff_member("ana"))
    operator.post(case_address(charge), {"assignee": ana.pk, "tags": "Fraud-Check, payer-called fraud-check"})
    case = Case.objects.get(charge=charge)
    assert (case.assignee, case.tags) == (ana, ["fraud-check", "payer-called"])
    operator.post(case_address(charge), {"tags": ""})
    case.refresh_from_db()
    assert (case.assignee, case.tags) == (None, [])
    details = AuditEntry.objects.filter(action="changed", object_id=str(charge.pk)).values_list("detail", flat=True)
    assert list(details.order_by("id")) == ["ana", "fraud-check, payer-called", "none", "none"]


@pytest.mark.long
@pytest.mark.parametrize("tags", ["a b c d e f", "x" * 31, "<b>", "-"])
def test_malformed_tags_are_refused(operator: Client, charge: Charge, tags: str) -> None:  # noqa: F811
    assert "Not saved." in text_of(operator.post(case_address(charge), {"tags": tags}, follow=True))
    assert not Case.objects.exists()


def test_a_form_without_a_change_writes_nothing_to_the_audit_log(operator: Client, charge: Charge) -> None:  # noqa: F811
    before = AuditEntry.objects.filter(action="changed").count()
    assert "Nothing was changed." in text_of(operator.post(case_address(charge), {}, follow=True))
    assert AuditEntry.objects.filter(action="changed").count() == before


def test_an_unknown_outcome_and_a_reconciliation_item_have_cases(operator: Client, api: Api) -> None:  # noqa: F811
    attempt, item = unknown_payment(api), a_difference()
    for row, model in ((attempt, "unknownoutcome"), (item, "reconciliationitem")):
        address = reverse(f"admin:payments_{model}_case", args=[row.pk])
        assert "Looked at it." in text_of(operator.post(address, {"note": "Looked at it."}, follow=True))
    assert {type(case.subject) for case in Case.objects.all()} == {Attempt, ReconciliationItem}


def test_an_operator_is_assigned_only_what_they_may_see(
    operator: Client,  # noqa: F811
    charge: Charge,
    other_shop: NewMerchant,
) -> None:
    outsider = User.objects.create(username="outsider", is_staff=True)
    MerchantAccess.objects.create(user=outsider, merchant=other_shop.merchant)
    operator.post(case_address(charge), {"assignee": outsider.pk})
    assert not Case.objects.exists()
    assert outsider not in cases.possible_assignees(charge)


def test_who_may_not_sign_in_is_assigned_nothing(charge: Charge) -> None:
    for name, states in {"former": {"is_active": False}, "guest": {"is_staff": False}, "ben": {}}.items():
        User.objects.create(username=name, **{"is_superuser": True, "is_staff": True} | states)
    assert [user.username for user in cases.possible_assignees(charge)] == ["ben"]


def test_an_operator_sees_the_cases_of_their_merchants_only(charge: Charge, other_shop: NewMerchant) -> None:
    cases.work_on(charge, the_operator(), "Ours.", None, [])
    ben = client_of("ben", "view_case", "change_case", "view_charge")
    user = User.objects.get(username="ben")
    user.groups.clear()
    user.user_permissions.remove(Permission.objects.get(codename="work_for_all_merchants"))
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant)
    assert str(charge) not in text_of(ben.get(list_of(Case)))
    assert ben.post(case_address(charge), {"note": "Mine."}).status_code == 404


def test_a_viewer_reads_a_case_and_changes_none(charge: Charge) -> None:
    cases.work_on(charge, the_operator(), "Read me.", None, [])
    viewer = client_of("viewer", "view_charge", "view_case")
    text = text_of(viewer.get(page_of(charge)))
    assert "Read me." in text
    assert case_address(charge) not in text
    assert viewer.post(case_address(charge), {"note": "No."}).status_code == 403


def test_my_cases_are_listed_and_a_tag_finds_its_cases(operator: Client, charge: Charge) -> None:  # noqa: F811
    other = ChargeFactory(is_captured=True)
    cases.work_on(charge, the_operator(), "", the_operator(), ["fraud-check"])
    cases.work_on(other, the_operator(), "", None, ["refund-promised"])
    for query in ({"assigned": "me"}, {"q": "fraud-check"}, {"q": str(charge)}):
        text = text_of(operator.get(list_of(Case), query))
        assert (str(charge) in text, str(other) in text) == (True, False), query


@pytest.mark.long
def test_a_case_has_a_hundred_notes_at_most(charge: Charge) -> None:
    for number in range(cases.NOTES_MAX):
        cases.work_on(charge, the_operator(), f"Note {number}.", None, [])
    with pytest.raises(cases.CaseFull):
        cases.work_on(charge, the_operator(), "One more.", None, [])
    assert Note.objects.count() == cases.NOTES_MAX


def test_a_case_is_about_one_thing(charge: Charge) -> None:
    with pytest.raises(IntegrityError, match="case_has_one_subject"), transaction.atomic():
        Case.objects.create(charge=charge, attempt=charge.attempts.get())


@pytest.mark.django_db(transaction=True)
def test_notes_at_the_same_time_are_all_kept_in_one_case(charge: Charge) -> None:
    author, start = the_operator(), threading.Barrier(4)

    def write(number: int) -> None:
        start.wait()
        cases.work_on(charge, author, f"Note {number}.", None, [])
        connection.close()

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Case.objects.get().notes.count() == 4
