"""Audit entries for changes of operators' accounts, roles and second factors."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from payments.admin.framework.change_audit import Audited
from payments.models import AuditEntry
from tests.client import signed_in
from tests.staff.sign_in import PASSWORD, app_of, renewed_codes_of

NEW_PASSWORD = "jeepney-88-pancit"
Entries = list[tuple[str, str, list[str], str]]

pytestmark = pytest.mark.django_db


def entries_about(row: User | Group) -> Entries:
    """Return actor, action, fields and detail of each entry about `row`."""
    entries = AuditEntry.objects.about(row).exclude(action__in=["added", "signed_in"]).order_by("id")
    return list(entries.values_list("actor", "action", "fields", "detail"))


@pytest.fixture
def boss() -> Client:
    return signed_in(User.objects.create_superuser("boss", password=PASSWORD))


@pytest.fixture
def ben() -> User:
    return User.objects.create_user("ben", password=PASSWORD, is_staff=True)


def test_every_admin_page_is_audited() -> None:
    assert all(isinstance(page, Audited) for page in admin.site._registry.values())


def test_a_new_operator_is_recorded_with_their_creator(boss: Client) -> None:
    form = {"username": "cora", "email": "cora@example.com", "merchant_access-TOTAL_FORMS": 0}
    form |= {"merchant_access-INITIAL_FORMS": 0}
    assert boss.post(reverse("admin:auth_user_add"), form).status_code == 302
    [entry] = AuditEntry.objects.about(User.objects.get(username="cora"))
    assert (entry.actor, entry.action, entry.object_name) == ("boss", "added", "cora")


def test_a_superuser_created_by_a_command_is_recorded() -> None:
    call_command("createsuperuser", "--noinput", username="root", email="")
    [entry] = AuditEntry.objects.about(User.objects.get())
    assert (entry.action, entry.detail, entry.operator_id) == ("added", "superuser", None)


@pytest.mark.long
def test_a_new_password_is_recorded_without_its_text(boss: Client) -> None:
    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert boss.post(reverse("admin:password_change"), form).status_code == 302
    user = User.objects.get()
    assert entries_about(user) == [("boss", "changed", ["password"], "")]
    assert user.password not in str(list(AuditEntry.objects.values()))


def test_signing_in_is_no_change_of_the_account(boss: Client) -> None:
    assert entries_about(User.objects.get()) == []


def test_a_role_that_is_given_or_taken_is_recorded_by_name(ben: User) -> None:
    finance = Group.objects.get_or_create(name="finance")[0]
    ben.groups.add(finance)
    ben.groups.add(finance)
    ben.groups.remove(finance)
    assert [entry[1:] for entry in entries_about(ben)] == [
        ("changed", ["groups"], "add finance"),
        ("changed", ["groups"], "remove finance"),
    ]


def test_a_deactivated_operator_is_recorded(ben: User) -> None:
    ben.is_active = False
    ben.save()
    assert [entry[1:] for entry in entries_about(ben)] == [("changed", ["is_active"], "")]


def test_a_second_factor_is_recorded_when_it_is_added_and_removed(ben: User) -> None:
    device = app_of(ben)
    device.save()
    device.delete()
    assert [entry[2:] for entry in entries_about(ben)] == [
        (["second_factors"], "authenticator app added"),
        (["second_factors"], "authenticator app removed"),
    ]


def test_recovery_codes_are_recorded_which_go_with_the_last_factor(ben: User) -> None:
    renewed_codes_of(ben)
    app_of(ben).delete()
    assert [entry[3] for entry in entries_about(ben)] == [
        "authenticator app added",
        "recovery codes added",
        "authenticator app removed",
        "recovery codes removed",
    ]
