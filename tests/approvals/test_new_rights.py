"""Who has new rights approves nothing of others for a day, others learn of them, and an approval asks the password."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.approvals import decide
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators import four_eyes
from payments.domain.operators.four_eyes import Refused
from payments.merchant_site import colleagues
from payments.models import ApprovalRequest, AuditEntry, MerchantAccess, Notification
from payments.staff import invitations
from tests.admin.conftest import the_operator, words_of
from tests.approvals.factories import NOTE, requested_key
from tests.client import Browser, signed_in
from tests.merchant_site.conftest import Role, member
from tests.staff.sign_in import PASSWORD
from tests.staff.test_enrolment import let_pass_ten_minutes

DAY = timedelta(hours=24)
NEW = dict.fromkeys(("new_password1", "new_password2"), "jeepney-88-taho")


@pytest.fixture(autouse=True)
def _as_in_production(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(four_eyes, "NEW_FOR", DAY)
    settings.ADMIN_MFA = False


def known_operator(name: str) -> User:
    user = User.objects.create_superuser(name, password=PASSWORD)
    call_command("end_wait", name)
    return user


def known_owner(shop: NewMerchant, name: str, email: str = "") -> User:
    user = member(shop.merchant, Role.OWNER, name)
    user.email = email
    user.set_password(PASSWORD)
    user.save()
    call_command("end_wait", name)
    return user


def is_refused_now_and_not_in_a_day(approver: User, request: ApprovalRequest) -> None:
    with pytest.raises(Refused, match="Your rights are new"):
        decide.approve(request, approver, NOTE)
    assert ApprovalRequest.objects.get().state == "proposed"
    with clock.at(clock.now() + DAY + timedelta(minutes=1)):
        decide.approve(request, approver, NOTE)
    assert ApprovalRequest.objects.get().state == "approved"


def role_grows(user: User, _: NewMerchant) -> None:
    user.groups.add(Group.objects.get(name="finance"))


def role_grows_from_the_other_side(user: User, _: NewMerchant) -> None:
    Group.objects.get(name="finance").user_set.add(user)


def is_reactivated(user: User, _: NewMerchant) -> None:
    for is_active in (False, True):
        user.is_active = is_active
        user.save()


def gets_a_merchant(user: User, shop: NewMerchant) -> None:
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)


def sets_a_password_by_a_link(user: User, _: NewMerchant) -> None:
    form = SetPasswordForm(user, NEW)
    assert form.is_valid()
    invitations.accept(invitations.invite(user).split("/")[-2], form)


GROWN = (role_grows, role_grows_from_the_other_side, is_reactivated, gets_a_merchant, sets_a_password_by_a_link)


@pytest.mark.parametrize("grow", GROWN)
def test_an_operator_whose_rights_grew_approves_nothing_for_a_day(grow: Any, shop: NewMerchant) -> None:
    request = requested_key(shop.merchant)
    ben = known_operator("ben")
    grow(ben, shop)
    is_refused_now_and_not_in_a_day(ben, request)


def test_a_new_operator_approves_nothing_for_a_day(shop: NewMerchant) -> None:
    is_refused_now_and_not_in_a_day(User.objects.create_superuser("ben"), requested_key(shop.merchant))


def test_an_operator_with_old_rights_approves_and_one_with_new_ones_rejects(shop: NewMerchant) -> None:
    decide.approve(requested_key(shop.merchant), known_operator("ben"), NOTE)
    decide.reject(requested_key(shop.merchant), User.objects.create_superuser("carlo"), NOTE)
    assert {request.state for request in ApprovalRequest.objects.all()} == {"approved", "rejected"}


def test_an_owner_who_opened_an_invitation_approves_nothing_for_a_day(
    shop: NewMerchant, other_shop: NewMerchant
) -> None:
    olga, otto = known_owner(shop, "olga"), known_owner(other_shop, "otto")
    invited = colleagues.add(shop.merchant, "Second self", "self@shop.example", Role.OWNER).user
    # It was made days ago, and opened now.
    MerchantAccess.objects.filter(user=invited).update(rights_since=clock.now() - 2 * DAY)
    invitations.take(invitations.invite(invited).split("/")[-2], invited, otto)
    is_refused_now_and_not_in_a_day(otto, requested_key(shop.merchant, proposed_by=olga))


def test_a_colleague_with_another_role_approves_nothing_for_a_day_unless_it_has_fewer_rights(
    shop: NewMerchant,
) -> None:
    known_owner(shop, "olga")
    known_owner(shop, "ben")
    access = MerchantAccess.objects.get(user__username="ben")
    for role, is_new in ((Role.FINANCE, False), (Role.VIEWER, False), (Role.OWNER, True)):
        colleagues.change_role(access, role)
        since: datetime = MerchantAccess.objects.get(pk=access.pk).rights_since
        assert (since > clock.now() - DAY) == is_new


def test_other_owners_get_mail_at_once_and_an_entry_on_their_first_page(shop: NewMerchant, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example"
    olga = known_owner(shop, "olga", "olga@shop.example")
    invited = colleagues.add(shop.merchant, "Second self", "self@shop.example", Role.OWNER)
    sets_a_password_by_a_link(invited.user, shop)
    colleagues.add(shop.merchant, "Vic", "vic@shop.example", Role.VIEWER)
    first, second = Notification.objects.order_by("created_at")
    assert (first.operator, second.operator) == (olga, olga)
    assert first.text.startswith("New rights: Second self (self@shop.example) was invited as owner at Sari Store.\n")
    assert "has access as owner" in second.text
    assert "New rights to approve: self@shop.example" in words_of(signed_in(olga).get("/merchant/"))
    assert "vic@shop.example" not in words_of(signed_in(olga).get("/merchant/"))


def test_operators_see_in_the_inbox_that_one_got_a_role(shop: NewMerchant) -> None:
    ben = known_operator("ben")
    role_grows(ben, shop)
    entry = AuditEntry.objects.about(ben).latest("id")
    assert (entry.is_notice, entry.detail) == (True, "add finance")
    assert "Groups changed by" in words_of(signed_in(the_operator()).get("/admin/inbox/"))


@pytest.mark.django_db
def test_the_wait_of_nobody_is_ended() -> None:
    with pytest.raises(Exception, match="Nobody has this sign-in name"):
        call_command("end_wait", "nobody")


def browser_of(shop: NewMerchant, site: str) -> Client:
    user = known_owner(shop, "olga") if site == "merchant" else known_operator("ben")
    client = Browser()
    client.post(f"/{site}/login/", {"login": user.username, "password": PASSWORD})
    return client


@pytest.mark.parametrize("site", ["merchant", "admin"])
def test_an_approval_asks_for_the_password_again_and_is_then_made(site: str, shop: NewMerchant) -> None:
    request, client = requested_key(shop.merchant), browser_of(shop, site)
    address = f"/{site}/payments/approvalrequest/{request.pk}/decide/"
    assert client.get(address).status_code == 200
    let_pass_ten_minutes(client)
    for answer in (client.get(address), client.post(address, {"decision": "approve", "note": NOTE})):
        assert answer["Location"] == f"/{site}/confirm/?next={address.replace('/', '%2F')}"
    assert ApprovalRequest.objects.get().state == "proposed"
    client.post(answer["Location"], {"password": PASSWORD}, follow=True)
    assert ApprovalRequest.objects.get().state == "approved"


def test_payouts_are_approved_with_the_password_too(shop: NewMerchant) -> None:
    client = browser_of(shop, "admin")
    let_pass_ten_minutes(client)
    payouts = reverse("admin:payments_payout_changelist")
    answer = client.get(f"{payouts}{shop.merchant.pk}/approve/")
    assert answer["Location"].startswith("/admin/confirm/")


def test_the_page_that_asks_for_the_password_says_that_an_approval_may_be_next(shop: NewMerchant) -> None:
    client = browser_of(shop, "merchant")
    let_pass_ten_minutes(client)
    assert "Approvals, second factors" in words_of(client.get("/merchant/confirm/?next=/merchant/"))
