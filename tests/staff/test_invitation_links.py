"""Links of invitations by their verbs alone; `test_invitations` walks their pages."""

from datetime import timedelta

import pytest
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User

from payments import clock
from payments.models import AuditEntry
from payments.staff.invitations import InvitationOver, accept, invite, user_of, withdraw

NEW = dict.fromkeys(("new_password1", "new_password2"), "jeepney-88-taho")


@pytest.fixture
def carlo(db: None) -> User:
    return User.objects.create(username="carlo", is_staff=True)


def token_for(user: User) -> str:
    return invite(user).split("/")[-2]


def test_a_link_is_withdrawn_once_and_that_is_recorded(carlo: User) -> None:
    token = token_for(carlo)
    assert (withdraw(carlo), user_of(token)) == (True, None)
    entry = AuditEntry.objects.about(carlo).latest("id")
    assert entry.detail == "link withdrawn"
    assert not withdraw(carlo)
    assert AuditEntry.objects.about(carlo).latest("id") == entry


def test_a_link_works_for_three_days_and_while_its_operator_is_active(carlo: User) -> None:
    token, now = token_for(carlo), clock.now()
    for hours, user in ((71, carlo), (73, None)):
        with clock.at(now + timedelta(hours=hours)):
            assert user_of(token) == user
    User.objects.update(is_active=False)
    assert user_of(token) is None


def test_a_link_sets_one_password(carlo: User) -> None:
    token, form = token_for(carlo), SetPasswordForm(carlo, NEW)
    assert form.is_valid()
    accept(token, form)
    assert User.objects.get().check_password(NEW["new_password1"])
    with pytest.raises(InvitationOver):
        accept(token, form)
