"""Invitations: links by which operators set their own first password."""

import re
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import Group, User
from django.core import mail
from django.db import connection
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, MerchantAccess
from payments.staff import invitations
from payments.staff.models import Invitation, OperatorProfile
from tests.admin.conftest import text_of
from tests.staff.sign_in import PASSWORD, Visitor

pytestmark = pytest.mark.long

NEW = dict.fromkeys(("new_password1", "new_password2"), "jeepney-88-taho")
LINK = re.compile(r"/admin/invitation/[\w-]+/")
WHY = {"reason": "First day."}


@pytest.fixture
def boss(ana: User) -> Visitor:
    visitor = Visitor()
    visitor.sign_in(ana)
    return visitor


@pytest.fixture
def carlo(db: None) -> User:
    user = User(username="carlo", email="carlo@example.com", is_staff=True)
    user.set_unusable_password()
    user.save()
    return user


def address(action: str, user: User) -> str:
    return reverse(f"admin:auth_user_{action}", args=[user.pk])


def link_for(boss: Visitor, user: User, **fields: str) -> str:
    """Return the path of the link that an administrator makes."""
    return LINK.findall(text_of(boss.post(address("invite", user), WHY | fields)))[0]


def test_a_new_operator_has_roles_and_merchants_and_no_password(boss: Visitor, shop: NewMerchant) -> None:
    form = {
        "username": "dina",
        "first_name": "Dina Reyes",
        "email": "dina@example.com",
        "groups": [Group.objects.get(name="finance").pk],
        "merchant_access-TOTAL_FORMS": 1,
        "merchant_access-INITIAL_FORMS": 0,
        "merchant_access-0-merchant": str(shop.merchant.pk),
    }
    response = boss.post(reverse("admin:auth_user_add"), form)
    dina = User.objects.get(username="dina")
    assert response["Location"] == address("invite", dina)
    assert not dina.has_usable_password()
    assert dina.is_staff
    assert [group.name for group in dina.groups.all()] == ["finance"]
    assert MerchantAccess.objects.limit_of(dina) == {shop.merchant.pk}


def test_a_link_leads_to_a_password_and_a_second_factor(boss: Visitor, carlo: User) -> None:
    link, newcomer = link_for(boss, carlo), Visitor()
    assert "carlo" in text_of(newcomer.get(link))
    answer = newcomer.post(link, NEW, follow=True)
    assert "New second factor" in text_of(answer)
    assert User.objects.get(pk=carlo.pk).check_password(NEW["new_password1"])
    entry = AuditEntry.objects.about(carlo).filter(action="changed").latest("id")
    assert (entry.actor, entry.fields) == ("carlo", ["password"])


def test_a_link_works_once(boss: Visitor, carlo: User) -> None:
    link = link_for(boss, carlo)
    Visitor().post(link, NEW)
    assert Visitor().get(link).status_code == 404
    assert Visitor().post(link, dict.fromkeys(NEW, "another-99-taho")).status_code == 404
    assert User.objects.get(pk=carlo.pk).check_password(NEW["new_password1"])


def test_a_link_is_over_after_three_days(boss: Visitor, carlo: User) -> None:
    link = link_for(boss, carlo)
    with clock.at(clock.now() + timedelta(hours=71)):
        assert Visitor().get(link).status_code == 200
    with clock.at(clock.now() + timedelta(hours=73)):
        assert Visitor().get(link).status_code == 404


def test_a_newer_link_replaces_the_older(boss: Visitor, carlo: User) -> None:
    first, second = link_for(boss, carlo), link_for(boss, carlo)
    assert (Visitor().get(first).status_code, Visitor().get(second).status_code) == (404, 200)


def test_a_withdrawn_link_does_not_work(boss: Visitor, carlo: User) -> None:
    link = link_for(boss, carlo)
    boss.post(address("withdraw_invitation", carlo), WHY)
    assert Visitor().get(link).status_code == 404


def test_a_deactivated_operator_s_link_does_not_work_and_does_not_come_back(boss: Visitor, carlo: User) -> None:
    link = link_for(boss, carlo)
    boss.post(address("deactivate", carlo), WHY)
    boss.post(address("reactivate", carlo), WHY)
    assert User.objects.get(pk=carlo.pk).is_active
    assert Visitor().get(link).status_code == 404


def test_every_link_that_does_not_work_is_answered_alike(boss: Visitor, carlo: User) -> None:
    used = link_for(boss, carlo)
    boss.post(address("withdraw_invitation", carlo), WHY)
    unknown = reverse("admin:invitation", args=["x" * 43])
    texts = {re.sub(r'value="\w+"', "", Visitor().get(link).content.decode()) for link in (used, unknown)}
    assert len(texts) == 1


def test_a_weak_password_uses_no_link_up(boss: Visitor, carlo: User) -> None:
    link = link_for(boss, carlo)
    assert "too short" in text_of(Visitor().post(link, dict.fromkeys(NEW, "short-1")))
    assert Visitor().get(link).status_code == 200


def test_a_link_signs_out_anybody_who_had_the_old_password(boss: Visitor, carlo: User, settings: Settings) -> None:
    settings.ADMIN_MFA = False
    carlo.set_password(PASSWORD)
    carlo.save()
    earlier = Visitor()
    earlier.give_password("carlo")
    assert earlier.is_in()
    Visitor().post(link_for(boss, carlo), NEW)
    assert not earlier.is_in()


def test_the_database_has_a_fingerprint_of_the_link_only(boss: Visitor, carlo: User) -> None:
    token = link_for(boss, carlo).rstrip("/").rpartition("/")[2]
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(t::text, '') FROM staff_invitation t")
        stored = cursor.fetchone()[0]
    assert token not in stored + str(list(AuditEntry.objects.values()))


def test_a_link_goes_out_by_mail_where_a_server_is_set(boss: Visitor, carlo: User, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example"
    link = link_for(boss, carlo, by_mail="on")
    [message] = mail.outbox
    assert message.to == ["carlo@example.com"]
    assert link in message.body


def test_a_mail_server_that_is_down_leaves_the_link_on_the_page(boss: Visitor, carlo: User, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    text = text_of(boss.post(address("invite", carlo), WHY | {"by_mail": "on"}))
    assert "The mail server did not take it" in text
    assert LINK.search(text)


def test_two_operators_have_two_addresses(boss: Visitor, carlo: User) -> None:
    form = {"username": "dina", "email": "Carlo@Example.com"}
    form |= {"merchant_access-TOTAL_FORMS": "0", "merchant_access-INITIAL_FORMS": "0"}
    assert "Another operator has this address" in text_of(boss.post(reverse("admin:auth_user_add"), form))


def test_the_list_says_who_can_sign_in_and_who_was_seen(boss: Visitor, carlo: User) -> None:
    people = reverse("admin:auth_user_changelist")
    assert "not invited" in text_of(boss.get(people))
    link_for(boss, carlo)
    assert ">invited<" in text_of(boss.get(people))
    Invitation.objects.update(expires_at=clock.now())
    assert "invitation expired" in text_of(boss.get(people))


def test_an_operator_is_seen_at_most_once_a_minute(boss: Visitor, ana: User) -> None:
    profile = OperatorProfile.objects.filter(user=ana)
    seen = profile.get().last_seen_at
    boss.get(reverse("admin:index"))
    assert profile.get().last_seen_at == seen
    profile.update(last_seen_at=seen - timedelta(minutes=2))
    boss.get(reverse("admin:index"))
    assert profile.get().last_seen_at >= seen


@pytest.mark.django_db(transaction=True)
def test_of_two_uses_at_once_one_sets_the_password(carlo: User) -> None:
    token = invitations.invite(carlo).rstrip("/").rpartition("/")[2]
    start, accepted = threading.Barrier(2), list[str]()

    def use(password: str) -> None:
        form = SetPasswordForm(User.objects.get(pk=carlo.pk), {"new_password1": password, "new_password2": password})
        assert form.is_valid()
        start.wait()
        try:
            invitations.accept(token, form)
            accepted.append(password)
        except invitations.InvitationOver:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=use, args=[f"jeepney-8{number}-taho"]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [password] = accepted
    assert User.objects.get(pk=carlo.pk).check_password(password)
