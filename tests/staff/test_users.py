"""What administrators do about people, and what they cannot give themselves."""

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, MerchantAccess
from payments.staff.models import Invitation
from payments.staff.roles import ALL_MERCHANTS
from tests.admin.conftest import text_of
from tests.staff.sign_in import NEW_CODES, PASSWORD, Visitor, app_of, code_of, key_of, renewed_codes_of

pytestmark = pytest.mark.long


@pytest.fixture
def administrator(db: None) -> User:
    user = User.objects.create_user("abby", password=PASSWORD, is_staff=True)
    user.groups.add(*Group.objects.filter(name__in=["administrator", ALL_MERCHANTS]))
    return user


@pytest.fixture
def abby(administrator: User) -> Visitor:
    """Return an administrator, signed in."""
    visitor = Visitor()
    visitor.sign_in(administrator)
    return visitor


@pytest.fixture
def carlo(db: None) -> User:
    return User.objects.create_user("carlo", "carlo@example.com", PASSWORD, is_staff=True)


def fresh(user: User) -> User:
    """Return the user as the next request finds them."""
    return User.objects.get(pk=user.pk)


def page_of(user: User) -> str:
    return reverse("admin:auth_user_change", args=[user.pk])


def change(client: Client, user: User, **members: object) -> int:
    """Return the status of a change of the user; lists of second factors are sent along as the page has them."""
    form: dict[str, object] = {"username": user.username, "email": f"{user.username}@example.com"}
    for prefix, rows in factors_by_form(user).items():
        form |= {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": len(rows)}
        form |= {f"{prefix}-{number}-id": row for number, row in enumerate(rows)}
        form |= {f"{prefix}-{number}-user": user.pk for number in range(len(rows))}
    return client.post(page_of(user), form | members).status_code


def factors_by_form(user: User) -> dict[str, list[int]]:
    return {
        "authenticator_set": list(Authenticator.objects.filter(user=user).order_by("pk").values_list("pk", flat=True)),
        "merchant_access": [],
    }


def test_an_administrator_gives_somebody_a_role(abby: Visitor, carlo: User) -> None:
    assert change(abby, carlo, groups=[Group.objects.get(name="support").pk]) == 302
    assert carlo.has_perm("payments.change_webhook")


@pytest.mark.parametrize("member", ["is_superuser", "user_permissions"])
def test_an_administrator_makes_nobody_a_superuser(member: str, abby: Visitor, carlo: User) -> None:
    assert change(abby, carlo, **{member: "1"}) == 302
    carlo.refresh_from_db()
    assert not carlo.is_superuser
    assert not carlo.user_permissions.exists()


def test_an_administrator_does_not_change_their_own_role(abby: Visitor, administrator: User) -> None:
    assert change(abby, administrator, groups=[Group.objects.get(name="finance").pk]) == 302
    assert {group.name for group in administrator.groups.all()} == {"administrator", ALL_MERCHANTS}


def test_an_administrator_does_not_take_a_superuser_s_account(abby: Visitor, ana: User) -> None:
    for action in ("invite", "deactivate"):
        assert (
            abby.post(reverse(f"admin:auth_user_{action}", args=[ana.pk]), {"reason": "Mine now."}).status_code == 403
        )
    assert change(abby, ana, email="mine@example.com") == 403
    assert not Invitation.objects.exists()


def limited_to(shop: NewMerchant) -> dict[str, object]:
    """Return what a form says that limits somebody to one merchant."""
    return {"merchant_access-TOTAL_FORMS": 1, "merchant_access-0-merchant": shop.merchant.pk}


def test_an_administrator_limits_somebody_to_a_merchant(abby: Visitor, carlo: User, shop: NewMerchant) -> None:
    assert change(abby, carlo, **limited_to(shop)) == 302
    assert MerchantAccess.objects.limit_of(fresh(carlo)) == {shop.merchant.pk}
    entry = AuditEntry.objects.latest("id")
    assert (entry.actor, entry.object_id, entry.fields) == ("abby", str(carlo.pk), ["merchants"])
    assert entry.detail == f"add mer_{shop.merchant.pk.hex}"


def test_nobody_gives_themselves_a_merchant(abby: Visitor, administrator: User, shop: NewMerchant) -> None:
    assert change(abby, administrator, **limited_to(shop)) == 302
    assert not MerchantAccess.objects.exists()


def test_the_end_of_a_limit_is_recorded(carlo: User, shop: NewMerchant) -> None:
    MerchantAccess.objects.create(user=carlo, merchant=shop.merchant).delete()
    assert AuditEntry.objects.latest("id").detail == f"remove mer_{shop.merchant.pk.hex}"


def test_an_administrator_of_some_merchants_sees_no_people(
    abby: Visitor, administrator: User, carlo: User, shop: NewMerchant
) -> None:
    administrator.groups.remove(Group.objects.get(name=ALL_MERCHANTS))
    MerchantAccess.objects.create(user=administrator, merchant=shop.merchant)
    assert change(abby, carlo, **limited_to(shop)) == 404
    assert MerchantAccess.objects.limit_of(fresh(carlo)) == frozenset()
    assert abby.get(reverse("admin:auth_user_add")).status_code == 403


def test_an_administrator_marks_somebody_who_works_for_all_merchants(abby: Visitor, carlo: User) -> None:
    assert MerchantAccess.objects.limit_of(carlo) == frozenset()
    assert change(abby, carlo, groups=[Group.objects.get(name=ALL_MERCHANTS).pk]) == 302
    assert MerchantAccess.objects.limit_of(fresh(carlo)) is None
    assert AuditEntry.objects.latest("id").detail == "add all merchants"


@pytest.mark.parametrize("path", ["auth/group/", "auth/permission/"])
def test_no_page_lists_permissions(path: str, ana: User, carlo: User) -> None:
    visitor = Visitor()
    visitor.sign_in(ana)
    assert visitor.get(f"/admin/{path}").status_code == 404
    assert "permission" not in text_of(visitor.get(page_of(carlo))).lower()


def test_the_list_of_operators_is_named_after_them(abby: Visitor) -> None:
    text = text_of(abby.get(reverse("admin:auth_user_changelist")))
    assert ("<h1>Operators</h1>" in text, "Add operator" in text, "Authentication" in text) == (True, True, False)


def test_nobody_is_deleted_by_anybody(ana: User, carlo: User) -> None:
    visitor = Visitor()
    visitor.sign_in(ana)
    address = reverse("admin:auth_user_delete", args=[carlo.pk])
    assert visitor.post(address, {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=carlo.pk).exists()


def test_who_is_made_inactive_is_out_at_once(abby: Visitor, carlo: User) -> None:
    visitor = Visitor()
    app = app_of(carlo)
    visitor.give_password("carlo")
    visitor.give_code(code_of(app))
    assert visitor.is_in()
    abby.post(reverse("admin:auth_user_deactivate", args=[carlo.pk]), {"reason": "Left."})
    assert not visitor.is_in()


def test_lost_second_factors_are_taken_away_and_new_ones_enrolled(abby: Visitor, carlo: User) -> None:
    app_of(carlo)
    renewed_codes_of(carlo)
    change(abby, carlo, **{"authenticator_set-0-DELETE": "on"})
    assert not Authenticator.objects.filter(user=carlo).exists()
    assert "New second factor" in text_of(Visitor().give_password("carlo"))


def test_no_page_shows_the_key_of_an_app_or_a_code(ana: User) -> None:
    visitor = Visitor()
    visitor.sign_in(ana)
    codes, app = renewed_codes_of(ana), app_of(ana)
    text = text_of(visitor.get(page_of(ana))) + text_of(visitor.get("/admin/factors/"))
    secrets = [*codes, key_of(app), app.data["secret"]]
    assert [secret for secret in secrets if secret in text] == []


@pytest.mark.parametrize("path", ["mfa/authenticator/", "account/emailaddress/", "usersessions/usersession/"])
def test_the_libraries_own_pages_are_not_there(path: str, ana: User) -> None:
    visitor = Visitor()
    visitor.sign_in(ana)
    assert visitor.get(f"/admin/{path}").status_code == 404


def test_a_new_role_is_recorded_once(abby: Visitor, carlo: User) -> None:
    before = AuditEntry.objects.count()
    change(abby, carlo, groups=[Group.objects.get(name="support").pk])
    [entry] = AuditEntry.objects.order_by("id")[before:]
    assert (entry.actor, entry.object_name, entry.fields) == ("abby", "carlo", ["groups"])


def test_new_recovery_codes_are_recorded(ana: User) -> None:
    visitor = Visitor()
    visitor.sign_in(ana)
    visitor.post(NEW_CODES)
    entry = AuditEntry.objects.latest("id")
    assert (entry.actor, entry.detail) == ("ana", "recovery codes added")


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("short-1-word", None),
        ("shorter-1-w", "password_too_short"),
        ("no digits in here", "password_without_letters_or_digits"),
        ("4815162342108", "password_without_letters_or_digits"),
        ("password12345", "password_too_common"),
        ("carlo-carlo-1", "password_too_similar"),
    ],
)
def test_a_password_is_long_and_hard_to_guess(password: str, fault: str | None) -> None:
    faults = []
    try:
        validate_password(password, User(username="carlo-carlo", email="carlo@example.com"))
    except ValidationError as error:
        faults = [each.code for each in error.error_list]
    assert faults == ([fault] if fault else [])
