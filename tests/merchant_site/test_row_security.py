"""Behind the second wall a connection reads the rows of one merchant, and does nothing else."""

from uuid import UUID

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import Error, connection
from django.db.models import Model

from payments.db.backend.row_security import ROLE, rows_of, rows_of_service
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Charge, Merchant, MerchantAccess, ProviderMessage, Source
from tests.admin.conftest import House
from tests.client import APPROVED, Api
from tests.merchant_site.conftest import member

pytestmark = pytest.mark.django_db(transaction=True)

# Their rows are found by conditions that have the merchant in them; no page shows what is in these columns.
READ_WHOLE = {"payments_searchentry", "payments_searchprogress", "payments_savedview"}


def readable() -> list[type[Model]]:
    """Return the models whose tables the role may read."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.role_table_grants WHERE grantee = %s", [ROLE])
        tables = {name for (name,) in cursor.fetchall()}
    models = [model for label in ("payments", "customers", "auth") for model in apps.get_app_config(label).get_models()]
    return [model for model in models if model._meta.db_table in tables and not model._meta.proxy]


def role_now() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return str(cursor.fetchone()[0])


def test_each_table_shows_the_rows_of_one_merchant_alone(house: House, other_api: Api, other_shop: NewMerchant) -> None:
    other_api.charge(APPROVED, 100)
    member(house.shop.merchant)
    member(other_shop.merchant)
    models = [model for model in readable() if model._meta.db_table not in READ_WHOLE]
    assert {Charge, Source, Merchant, MerchantAccess, User} <= set(models)
    with rows_of(other_shop.merchant.pk):
        for model in models:
            found = model._base_manager.all()
            if model is User:
                assert set(found) == {row.user for row in MerchantAccess.objects.select_related("user")}
            elif model is Merchant:
                assert list(found) == [other_shop.merchant]
            else:
                assert {row.merchant_id for row in found} <= {other_shop.merchant.pk}, model
        assert Charge.objects.count() == 1


def test_an_operator_is_nobody_there(shop: NewMerchant) -> None:
    MerchantAccess.objects.create(user=User.objects.create(username="olive", is_staff=True), merchant=shop.merchant)
    with rows_of(shop.merchant.pk):
        assert not User.objects.exists()


def test_a_table_that_is_not_named_is_refused(shop: NewMerchant) -> None:
    with pytest.raises(Error, match="permission denied"), rows_of(shop.merchant.pk):
        ProviderMessage.objects.exists()


@pytest.mark.parametrize(
    "statement", ["UPDATE payments_charge SET amount = 1", "DELETE FROM payments_charge", "CREATE TABLE x (y int)"]
)
def test_nothing_is_written(house: House, statement: str) -> None:
    with pytest.raises(Error, match="permission denied"), rows_of(house.shop.merchant.pk):
        connection.cursor().execute(statement)


def test_without_a_merchant_nothing_is_read(house: House) -> None:
    with rows_of(UUID(int=0)):
        assert not Charge.objects.exists()
        assert not Merchant.objects.exists()


def test_the_service_reads_all_within_and_nothing_more_afterwards(house: House, other_shop: NewMerchant) -> None:
    with rows_of(other_shop.merchant.pk):
        with rows_of_service():
            assert Charge.objects.exists()
        assert not Charge.objects.exists()


def test_the_wall_ends_with_the_block(shop: NewMerchant) -> None:
    service = role_now()
    with rows_of(shop.merchant.pk):
        assert role_now() == ROLE
    assert role_now() == service


def test_the_wall_ends_with_an_error(house: House, other_shop: NewMerchant) -> None:
    service = role_now()
    with pytest.raises(Error), rows_of(other_shop.merchant.pk), rows_of_service():
        connection.cursor().execute("SELECT 1 / 0")
    assert role_now() == service
    with rows_of_service():
        assert role_now() == service
