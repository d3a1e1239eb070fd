"""Whoever worked for all merchants before there was a mark for it has the mark after the migration."""

from importlib import import_module

from django.apps import apps
from django.contrib.auth.models import Group, User

from payments.domain.merchants import NewMerchant
from payments.models import MerchantAccess

migration = import_module("payments.migrations.0024_work_for_all_merchants")


def test_operators_who_were_limited_to_no_merchant_are_marked_and_nobody_else(shop: NewMerchant) -> None:
    everywhere = User.objects.create(username="everywhere", is_staff=True)
    limited = User.objects.create(username="limited", is_staff=True)
    MerchantAccess.objects.create(operator=limited, merchant=shop.merchant)
    User.objects.create(username="root", is_staff=True, is_superuser=True)
    User.objects.create(username="nobody")

    migration.mark_who_worked_for_all(apps, None)

    assert list(Group.objects.get(name=migration.ALL_MERCHANTS).user_set.all()) == [everywhere]
