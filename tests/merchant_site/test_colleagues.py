"""A merchant's people: owners invite, change and end them, and one owner always stays."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.merchant_site import colleagues
from payments.models import AuditEntry, Merchant, MerchantAccess
from tests.admin.conftest import the_operator, words_of
from tests.client import signed_in
from tests.concurrency import at_once
from tests.merchant_site.conftest import Role, member
from tests.staff.sign_in import PASSWORD

LIST = "/merchant/payments/merchantaccess/"
NEW = {"name": "Dina Reyes", "email": "Dina@shop.example", "role": "support"}
LINK = re.compile(r"/merchant/invitation/[\w-]+/")
PASSWORDS = dict.fromkeys(("new_password1", "new_password2"), "jeepney-88-taho")


@pytest.fixture
def by_mail(settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example"


def access_of(user: User) -> MerchantAccess:
    return MerchantAccess.objects.get(user=user)


def path(access: MerchantAccess, act: str) -> str:
    return f"{LIST}{access.pk}/{act}/"


def test_an_owner_invites_somebody_who_sets_a_password_and_is_in(owner: Client, shop: NewMerchant) -> None:
    link = LINK.findall(words_of(owner.post(f"{LIST}add/", NEW)))[0]
    dina = User.objects.get(email="dina@shop.example")
    assert (dina.is_staff, dina.has_usable_password(), access_of(dina).role) == (False, False, Role.SUPPORT)
    newcomer = Client()
    assert newcomer.post(link, PASSWORDS).status_code == 302
    assert shop.merchant.title in words_of(newcomer.get("/merchant/"))


@pytest.mark.usefixtures("by_mail")
def test_an_invitation_goes_to_the_address_and_is_shown_to_nobody_else(owner: Client) -> None:
    shown = words_of(owner.post(f"{LIST}add/", NEW, follow=True))
    [message] = mail.outbox
    assert message.to == ["dina@shop.example"]
    [link] = LINK.findall(message.body)
    assert link not in shown
    assert "Set a password" not in shown


@pytest.fixture
def dina(other_shop: NewMerchant) -> Client:
    """Return somebody of another shop, signed in, whose address is the one that is invited."""
    user = member(other_shop.merchant, name="dina")
    user.email = "dina@vict.example"
    user.save()
    return signed_in(user)


def shops_of(name: str) -> list[str]:
    return sorted(MerchantAccess.objects.filter(user__username=name).values_list("merchant__title", flat=True))


def link_to(owner: Client, email: str = NEW["email"], **fields: str) -> str:
    """Invite somebody; return the path of the link, which is shown where there is no mail server."""
    return LINK.findall(words_of(owner.post(f"{LIST}add/", NEW | {"email": email} | fields)))[0]


@pytest.mark.usefixtures("by_mail")
@pytest.mark.parametrize(
    ("email", "mailed_to"),
    [
        ("dina@vict.example", [["dina@vict.example"]]),
        ("dina@v\u0131ct.example", [["dina@xn--vct-jua.example"]]),
        ("d\u0131na@vict.example", []),
    ],
)
def test_no_account_gets_an_access_because_its_address_looks_like_the_invited(
    owner: Client, dina: Client, email: str, mailed_to: list[list[str]]
) -> None:
    owner.post(f"{LIST}add/", NEW | {"email": email, "role": "owner"})
    assert [message.to for message in mail.outbox] == mailed_to
    assert shops_of("dina") == ["Other Store"]


def test_who_has_an_account_takes_the_access_with_it_once(owner: Client, dina: Client) -> None:
    link = link_to(owner)
    assert "to be yours?" in words_of(dina.get(link))
    assert shops_of("dina") == ["Other Store"]
    assert "You work for Sari Store now." in words_of(dina.post(link, follow=True))
    assert shops_of("dina") == ["Other Store", "Sari Store"]
    assert not User.objects.filter(username="dina@shop.example").exists()
    assert dina.post(link).status_code == 404


def test_who_is_not_signed_in_is_led_to_the_sign_in_and_back(owner: Client) -> None:
    link = link_to(owner)
    assert f"/merchant/login/?next={link}" in Client().get(link).content.decode()


def test_an_invited_account_opens_nothing_before_its_link(owner: Client) -> None:
    link_to(owner)
    dina = User.objects.get(email="dina@shop.example")
    assert not dina.has_usable_password()
    assert words_of(Client().post("/merchant/login/", {"login": dina.username, "password": ""}))


def test_nobody_takes_a_second_access_to_one_merchant(owner: Client) -> None:
    link = link_to(owner, role="viewer")
    assert "You work for this merchant already." in words_of(owner.post(link, follow=True))
    assert MerchantAccess.objects.filter(merchant__title="Sari Store", role=Role.VIEWER).count() == 1
    assert Client().get(link).status_code == 200


def test_an_operator_takes_no_access_of_a_merchants_person(owner: Client) -> None:
    operator, link = signed_in(the_operator()), link_to(owner)
    assert "to be yours?" not in words_of(operator.get(link))


def test_a_colleague_is_shown_by_the_name_that_this_merchant_gave(owner: Client, dina: Client) -> None:
    User.objects.filter(username="dina").update(first_name="Call 555 0100")
    dina.post(link_to(owner))
    assert "Dina Reyes" in words_of(owner.get(LIST))
    assert "555" not in words_of(owner.get(LIST))


def test_what_was_opened_or_ended_meanwhile_is_not_sent_again(owner: Client) -> None:
    link_to(owner)
    read = MerchantAccess.objects.select_related("user", "merchant").get(user__email="dina@shop.example")
    User.objects.filter(pk=read.user_id).update(password="set")
    for why in (colleagues.OPENED, "has ended meanwhile"):
        with pytest.raises(Refused, match=str(why)):
            colleagues.send_again(read)
        MerchantAccess.objects.filter(pk=read.pk).delete()


def test_so_many_invitations_go_out_in_a_day(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colleagues, "LINKS_A_DAY", 2)
    link_to(owner)
    again = path(MerchantAccess.objects.get(name="Dina Reyes"), "send-again")
    assert LINK.search(words_of(owner.post(again, {"decision": "send_again"})))
    for answer in (owner.post(again, {"decision": "send_again"}), owner.post(f"{LIST}add/", NEW | {"email": "e@x.ph"})):
        assert "2 invitations were sent today" in words_of(answer)
    assert not User.objects.filter(email="e@x.ph").exists()


def test_nobody_is_a_colleague_twice(owner: Client) -> None:
    owner.post(f"{LIST}add/", NEW)
    assert "is a colleague already" in words_of(owner.post(f"{LIST}add/", NEW))


def test_the_list_shows_the_people_of_one_merchant(owner: Client, shop: NewMerchant, other_shop: NewMerchant) -> None:
    member(shop.merchant, Role.SUPPORT, "sol")
    member(other_shop.merchant, Role.SUPPORT, "otto")
    MerchantAccess.objects.create(user=the_operator(), merchant=shop.merchant)
    text = words_of(owner.get(LIST))
    assert "Colleagues" in text
    assert "sol" in text
    assert "otto" not in text
    assert "operator" not in text


def test_a_role_that_is_changed_holds_from_the_next_page_on(owner: Client, shop: NewMerchant) -> None:
    sol = member(shop.merchant, Role.VIEWER, "sol")
    client = signed_in(sol)
    assert client.get(LIST).status_code == 403
    owner.post(path(access_of(sol), "change-role"), {"role": "owner"})
    assert client.get(LIST).status_code == 200
    entry = AuditEntry.objects.about(sol).latest("id")
    assert (entry.action, entry.detail.split()[0], entry.detail.split()[2]) == ("changed", "change", "owner")


def test_who_has_no_access_any_more_is_out_at_the_next_request(owner: Client, shop: NewMerchant) -> None:
    sol = member(shop.merchant, Role.SUPPORT, "sol")
    client = signed_in(sol)
    assert client.get("/merchant/payments/charge/").status_code == 200
    owner.post(path(access_of(sol), "end"), {"decision": "end"})
    assert client.get("/merchant/payments/charge/").status_code == 302
    assert "works for no merchant here" in words_of(client.get("/merchant/login/"))
    assert User.objects.get(pk=sol.pk).is_active


def test_the_last_owner_stays(owner: Client) -> None:
    only = MerchantAccess.objects.get()
    assert "Give somebody else this role first" in words_of(owner.post(path(only, "end"), {"decision": "end"}))
    assert "this role first" in words_of(owner.post(path(only, "change-role"), {"role": "viewer"}))
    assert MerchantAccess.objects.get().role == Role.OWNER


def test_an_owner_who_never_signed_in_is_no_other_owner(owner: Client) -> None:
    only = MerchantAccess.objects.get()
    owner.post(f"{LIST}add/", NEW | {"role": "owner"})
    assert "this role first" in words_of(owner.post(path(only, "end"), {"decision": "end"}))


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_end_each_other_one_stays(shop: NewMerchant) -> None:
    pair = [access_of(member(shop.merchant, Role.OWNER, name)) for name in ("ana", "ben")]
    refused = list[str]()

    def end(access: MerchantAccess) -> None:
        try:
            colleagues.end(access)
        except Refused as refusal:
            refused.append(str(refusal))

    at_once(2, lambda number: end(pair[number]))
    assert refused == [colleagues.LAST_OWNER]
    assert MerchantAccess.objects.filter(merchant=shop.merchant).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_merchants_who_invite_one_new_person_at_once_make_an_account_each(
    shop: NewMerchant, other_shop: NewMerchant
) -> None:
    pair = shop.merchant, other_shop.merchant
    made = at_once(2, lambda number: colleagues.add(pair[number], "Dina", "dina@shop.example", Role.SUPPORT).user)
    assert len({user.username for user in made}) == 2


ACTS: dict[str, Callable[[Client, MerchantAccess], Any]] = {
    "see": lambda client, _: client.get(LIST),
    "see one": lambda client, access: client.get(f"{LIST}{access.pk}/change/"),
    "invite": lambda client, _: client.post(f"{LIST}add/", NEW),
    "change": lambda client, access: client.post(path(access, "change-role"), {"role": "viewer"}),
    "send again": lambda client, access: client.post(path(access, "send-again"), {"decision": "send_again"}),
    "end": lambda client, access: client.post(path(access, "end"), {"decision": "end"}),
}


@pytest.mark.long
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("role", Role.values)
def test_owners_alone_see_and_change_colleagues(role: str, act: str, shop: NewMerchant) -> None:
    sol = access_of(member(shop.merchant, Role.SUPPORT, "sol"))
    answer = ACTS[act](signed_in(member(shop.merchant, role)), sol)
    assert (answer.status_code == 403) == (role != Role.OWNER)
    assert answer.status_code < 404


def test_an_operator_invites_the_first_owner(shop: NewMerchant) -> None:
    address = f"/admin/payments/merchant/{shop.merchant.pk}/invite-owner/"
    order = {"name": "Dina", "email": "dina@shop.example", "reason": "New merchant"}
    link = LINK.findall(words_of(signed_in(the_operator()).post(address, order)))[0]
    assert MerchantAccess.objects.get().role == Role.OWNER
    assert Client().get(link).status_code == 200
    assert Client().get(link.replace("/merchant/", "/admin/")).status_code == 404


def test_the_back_office_lists_operators_alone(shop: NewMerchant) -> None:
    operator, sol = signed_in(the_operator()), member(shop.merchant, Role.SUPPORT, "sol")
    text = words_of(operator.get("/admin/auth/user/"))
    assert "operator" in text
    assert "sol" not in text
    assert operator.get(f"/admin/auth/user/{sol.pk}/change/").status_code == 404


def test_an_operator_who_signs_in_here_learns_why_no_page_is_shown(shop: NewMerchant) -> None:
    operator = the_operator()
    operator.set_password(PASSWORD)
    operator.save()
    client = Client()
    answer = client.post("/merchant/login/", {"login": "operator", "password": PASSWORD}, follow=True)
    assert "an operator: this site is for people of merchants" in words_of(answer)


def test_second_factors_and_sessions_have_their_pages_here(owner: Client, settings: Settings) -> None:
    assert "Where you are signed in" in words_of(owner.get("/merchant/sessions/"))
    assert owner.get("/merchant/password_change/").status_code in (200, 302)
    assert words_of(owner.get("/merchant/factors/"))


def test_a_name_alone_is_an_address_at_the_merchants_own_domain(owner: Client, shop: NewMerchant) -> None:
    assert "Or only what stands before @" not in words_of(owner.get(f"{LIST}add/"))
    Merchant.objects.filter(pk=shop.merchant.pk).update(support_email="help@sari.example")
    assert "Or only what stands before @sari.example." in words_of(owner.get(f"{LIST}add/"))
    owner.post(f"{LIST}add/", NEW | {"email": "Dina"})
    assert User.objects.filter(email="dina@sari.example").exists()
    Merchant.objects.filter(pk=shop.merchant.pk).update(support_email="sari@gmail.com")
    assert "Or only what stands before @" not in words_of(owner.get(f"{LIST}add/"))
