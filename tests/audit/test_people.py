"""Operators' accounts: who is let in, what they may do and how they sign in, wherever that is changed."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from payments.admin.framework.change_audit import Audited
from payments.models import AuditEntry
from payments.staff import enrolment
from tests.audit.conftest import signed_in
from tests.staff.signing import PASSWORD, app_of

NEW_PASSWORD = "jeepney-88-pancit"
Told = list[tuple[str, str, list[str], str]]

pytestmark = pytest.mark.django_db


def told_of(row: User | Group) -> Told:
    """Who, what, which fields and what else, of each entry about `row` since it is there."""
    entries = AuditEntry.objects.about(row).exclude(action__in=["added", "signed_in"]).order_by("number")
    return list(entries.values_list("actor", "action", "fields", "detail"))


@pytest.fixture
def boss() -> Client:
    return signed_in(User.objects.create_superuser("boss", password=PASSWORD))


@pytest.fixture
def ben() -> User:
    return User.objects.create_user("ben", password=PASSWORD, is_staff=True)


def test_every_page_of_the_admin_is_audited_but_that_of_users_of_whom_signals_tell() -> None:
    untold = {model for model, page in admin.site._registry.items() if not isinstance(page, Audited)}
    assert untold <= {User}


def test_a_new_operator_is_told_with_who_made_them(boss: Client) -> None:
    form = {"username": "cora", "password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "usable_password": "true"}
    assert boss.post(reverse("admin:auth_user_add"), form).status_code == 302
    [entry] = AuditEntry.objects.about(User.objects.get(username="cora"))
    assert (entry.actor, entry.action, entry.object_name) == ("boss", "added", "cora")


def test_a_superuser_made_by_a_command_is_told() -> None:
    call_command("createsuperuser", "--noinput", username="root", email="")
    [entry] = AuditEntry.objects.about(User.objects.get())
    assert (entry.action, entry.detail, entry.operator_id) == ("added", "superuser", None)


def test_ones_own_new_password_is_told_and_not_what_it_is(boss: Client) -> None:
    form = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert boss.post(reverse("admin:password_change"), form).status_code == 302
    user = User.objects.get()
    assert told_of(user) == [("boss", "changed", ["password"], "")]
    assert user.password not in str(list(AuditEntry.objects.values()))


def test_signing_in_is_no_change_of_the_account(boss: Client) -> None:
    assert told_of(User.objects.get()) == []


def test_a_role_that_is_given_or_taken_is_told_by_name(ben: User) -> None:
    finance = Group.objects.get_or_create(name="finance")[0]
    ben.groups.add(finance)
    ben.groups.add(finance)
    ben.groups.remove(finance)
    assert [entry[1:] for entry in told_of(ben)] == [
        ("changed", ["groups"], "add finance"),
        ("changed", ["groups"], "remove finance"),
    ]


def test_an_operator_who_is_shut_out_is_told(ben: User) -> None:
    ben.is_active = False
    ben.save()
    assert [entry[1:] for entry in told_of(ben)] == [("changed", ["is_active"], "")]


def test_a_role_that_may_do_something_else_is_told(boss: Client) -> None:
    role = Group.objects.create(name="night shift")
    boss.post(reverse("admin:auth_group_change", args=[role.pk]), {"name": "day shift"})
    assert told_of(role) == [("boss", "changed", ["name"], "")]


def test_a_second_factor_is_told_when_it_lets_in_and_when_no_longer(ben: User) -> None:
    device = app_of(ben)
    device.save()
    device.delete()
    assert [entry[2:] for entry in told_of(ben)] == [
        (["second_factors"], "authenticator app added"),
        (["second_factors"], "authenticator app removed"),
    ]


def test_recovery_codes_that_are_taken_away_are_told(ben: User) -> None:
    enrolment.recovery_codes_of(ben).delete()
    assert [entry[2:] for entry in told_of(ben)] == [(["second_factors"], "recovery codes removed")]
