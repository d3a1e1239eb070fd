"""The page on which operators see each message with made-up data."""

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages.kinds import KINDS
from payments.ids import public_id
from payments.models import Charge, Merchant, MerchantAccess, PayerMessage
from payments.staff.roles import ALL_MERCHANTS
from tests.client import signed_in
from tests.messages.letters import captured, put_into_outbox
from tests.operators.factories import person

PAGE, MAIL = "admin:payments_payermessage_preview", "admin:payments_payermessage_preview_mail"


@pytest.fixture
def viewer(shop: NewMerchant) -> Client:
    Merchant.objects.update(branding={"primary_color": "#aa1144"})
    return signed_in(person("vera", "viewer"))


def test_each_kind_is_shown_in_both_languages_and_nothing_is_sent(viewer: Client, shop: NewMerchant) -> None:
    for kind in KINDS:
        for locale in ("en", "fil"):
            chosen = {"kind": kind, "locale": locale, "merchant": public_id("mer", shop.merchant.pk)}
            page, mail = (viewer.get(reverse(name), chosen).content.decode() for name in (PAGE, MAIL))
            assert "sandbox" in page
            assert ("As SMS" in page) == (kind in ("request", "request_reminder"))
            assert f'<html lang="{locale}"' in mail
            assert "Sari Store" in mail
            assert "#aa1144" in mail
    assert (PayerMessage.objects.count(), Charge.objects.count()) == (0, 0)


def test_the_list_and_each_message_lead_to_it(viewer: Client, shop: NewMerchant) -> None:
    message = put_into_outbox(captured(shop.merchant), locale="fil")
    listed = viewer.get(reverse("admin:payments_payermessage_changelist")).content.decode()
    assert f'href="{reverse(PAGE)}"' in listed
    shown = viewer.get(reverse("admin:payments_payermessage_change", args=[message.pk])).content.decode()
    merchant = public_id("mer", shop.merchant.pk)
    assert f"{reverse(PAGE)}?kind=receipt&amp;locale=fil&amp;merchant={merchant}" in shown


def test_no_operator_sees_it_of_others_or_without_the_right(shop: NewMerchant, other_shop: NewMerchant) -> None:
    user = person("vera", "viewer")
    user.groups.remove(Group.objects.get(name=ALL_MERCHANTS))
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)
    client, other = signed_in(user), public_id("mer", other_shop.merchant.pk)
    for wrong in ({"merchant": other}, {"merchant": "mer_1"}, {"kind": "none"}, {"locale": "de"}):
        assert [client.get(reverse(name), wrong).status_code for name in (PAGE, MAIL)] == [404, 404]
    user.groups.clear()
    assert [client.get(reverse(name)).status_code for name in (PAGE, MAIL)] == [403, 403]
