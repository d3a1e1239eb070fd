"""Nobody chooses the merchants that they work for themselves."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import RequestFactory

from payments.staff.admin import MerchantsInline


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes_users", "is_superuser", "is_own", "may"),
    [
        (True, False, False, True),
        (True, False, True, False),
        (False, False, False, False),
        (False, False, True, False),
        (True, True, True, True),
    ],
)
def test_merchants_are_given_by_those_who_change_users_and_not_to_themselves(
    changes_users: bool, is_superuser: bool, is_own: bool, may: bool
) -> None:
    ana, ben = (User.objects.create(username=name, is_staff=True) for name in ("ana", "ben"))
    ana.is_superuser = is_superuser
    if changes_users:
        ana.user_permissions.add(Permission.objects.get(codename="change_user"))
    request = RequestFactory().get("/")
    request.user = ana
    inline = MerchantsInline(User, admin.site)
    asked = ana if is_own else ben
    assert (inline.has_add_permission(request, asked), inline.has_delete_permission(request, asked)) == (may, may)
