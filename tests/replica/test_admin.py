"""The back office on a replica."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from payments.admin.framework.replica.pages import COOKIE
from payments.domain.merchants.merchants import create_merchant
from payments.models import Charge, MerchantAccess
from tests.admin.conftest import House, house, operator, text_of  # noqa: F401
from tests.admin.test_exports import exported
from tests.admin.test_pages import list_of, newest  # noqa: F401
from tests.factories import ChargeFactory
from tests.replica.conftest import Counts, catch_up
from tests.standbys import Standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

MERCHANTS = reverse("admin:payments_merchant_changelist")


@pytest.fixture
def paused(replica: Standby) -> Iterator[Standby]:
    replica.pause()
    yield replica
    replica.resume()


def test_the_replica_answers_every_list_and_fails_at_none(
    replica: Standby,
    operator: Client,  # noqa: F811
    newest: dict[type[Model], Model],  # noqa: F811
) -> None:
    catch_up()
    models = [model for model, page in admin.site._registry.items() if hasattr(page, "reader_for")]
    assert len(models) > 40
    for model in models:
        counts = Counts()
        text_of(operator.get(list_of(model)))
        assert (counts.answered, counts.failed) == (1, 0), model


def test_it_answers_statements_accounts_trial_balances_and_searches(
    replica: Standby,
    operator: Client,  # noqa: F811
    house: House,  # noqa: F811
) -> None:
    catch_up()
    merchant = house.shop.merchant.pk
    addresses = [
        reverse("admin:payments_statement_change", args=[merchant]),
        reverse("admin:payments_account_change", args=[merchant]),
        reverse("admin:payments_account_month", args=[merchant, "test", "PHP", "merchant_pending"]),
        reverse("admin:payments_ledgerday_at"),
        f"{reverse('admin:find')}?q=juan",
    ]
    for address in addresses:
        counts = Counts()
        text_of(operator.get(address))
        assert (counts.answered, counts.failed) == (1, 0), address
    counts = Counts()
    month = f"{Charge.objects.get().created_at:%Y-%m}"
    file = reverse("admin:payments_statement_download", args=[merchant, month, "test", "csv"])
    assert operator.get(file).status_code == 200
    assert (counts.answered, counts.failed) == (1, 0)


def test_a_file_of_a_list_is_read_from_it(paused: Standby, operator: Client) -> None:  # noqa: F811
    ChargeFactory(is_held=True)
    counts = Counts()
    assert exported(operator) == []
    assert (counts.answered, counts.failed) == (2, 0)


def test_operators_see_what_they_have_just_changed(paused: Standby, operator: Client) -> None:  # noqa: F811
    create_merchant("Sari Store")
    assert "Sari Store" not in text_of(operator.get(MERCHANTS))
    operator.post(reverse("admin:mode"), {"mode": "test", "next": "/admin/"})
    assert operator.cookies[COOKIE]["max-age"] == 302
    assert "Sari Store" in text_of(operator.get(MERCHANTS))
    del operator.cookies[COOKIE]
    assert "Sari Store" not in text_of(operator.get(MERCHANTS))


def test_a_page_of_one_object_is_read_from_the_primary(paused: Standby, operator: Client) -> None:  # noqa: F811
    made = create_merchant("Sari Store").merchant
    counts = Counts()
    assert "Sari Store" in text_of(operator.get(reverse("admin:payments_merchant_change", args=[made.pk])))
    assert counts.answered == 0


def test_what_an_operator_may_see_is_read_from_the_primary(replica: Standby) -> None:
    own, other = create_merchant("Sari Store").merchant, create_merchant("Other Store").merchant
    user, client = User.objects.create(username="ben", is_staff=True), Client()
    user.user_permissions.set(Permission.objects.filter(codename="view_merchant"))
    access = MerchantAccess.objects.create(operator=user, merchant=own)
    client.force_login(user)
    catch_up()
    replica.pause()
    try:
        access.delete()
        MerchantAccess.objects.create(operator=user, merchant=other)
        page = text_of(client.get(MERCHANTS))
        assert "Other Store" in page
        assert "Sari Store" not in page
    finally:
        replica.resume()
