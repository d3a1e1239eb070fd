"""A transaction that takes long: nobody waits for it to add an entry, and its own are linked when it commits."""

from threading import Event

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from payments.domain.audit import audit_log, hash_chain
from payments.domain.audit.audit_log import Action
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, Merchant, MerchantAccess
from tests.client import signed_in
from tests.concurrency import await_a_waiting_session, in_background

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_operator_signs_in_while_a_long_act_is_open(shop: NewMerchant) -> None:
    ana = User.objects.create_user("ana", is_staff=True)
    began, may_end = Event(), Event()

    def act() -> None:
        with transaction.atomic():
            terms.set_payment_method(shop.merchant, "gcash", False)
            began.set()
            assert may_end.wait(60)

    with in_background(act) as long_act:
        assert began.wait(60)
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
                signed_in(ana)
            assert AuditEntry.objects.latest("number").action == "signed_in"
        finally:
            may_end.set()
        long_act.result()
    last = AuditEntry.objects.latest("number")
    assert (last.action, last.fields) == ("changed", ["payment_method_settings"])
    assert len(list(hash_chain.verified_hashes())) == AuditEntry.objects.count()


def test_a_commit_that_waits_for_another_row_does_not_hold_the_head(shop: NewMerchant) -> None:
    ana = User.objects.create_user("ana", is_staff=True)
    recorded, is_locked = Event(), Event()

    def act() -> None:
        with transaction.atomic():
            audit_log.record(Action.CHANGED, shop.merchant)
            # Its foreign keys are checked by the commit, and wait for the lock of the merchant.
            MerchantAccess.objects.bulk_create([MerchantAccess(user=ana, merchant=shop.merchant)])
            recorded.set()
            assert is_locked.wait(60)

    with in_background(act) as waiting:
        assert recorded.wait(60)
        with transaction.atomic():
            Merchant.objects.select_for_update().get(id=shop.merchant.id)
            is_locked.set()
            await_a_waiting_session()
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
            audit_log.record(Action.VIEWED, shop.merchant)
        waiting.result()
    assert [entry.action for entry in AuditEntry.objects.order_by("number")][-2:] == ["viewed", "changed"]
