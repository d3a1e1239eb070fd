"""That a statement which reaches too far is found, for otherwise its absence would prove nothing."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import new_id
from payments.models import Attempt, Card, Charge, Event, Refund, Source
from tests.contract.scopes.statements import Watch
from tests.factories import ChargeFactory

Ask = Callable[[Charge], QuerySet[Any]]


def page(merchant_id: UUID, livemode: bool, *states: str) -> QuerySet[Charge]:
    path = {"merchant_id": merchant_id, "livemode": livemode}
    paths = [path | {"status": status, "captured": False} for status in states]
    return Charge.objects.whole().newest_page(paths or [path], 20)


TIED: dict[str, Ask] = {
    "merchant and mode": lambda charge: Charge.objects.of(charge.merchant_id, False),
    "a page": lambda charge: page(charge.merchant_id, False),
    "a page of two states": lambda charge: page(charge.merchant_id, False, "failed", "voided"),
    "a table beside": lambda charge: Attempt.objects.filter(
        charge__merchant=charge.merchant_id, charge__livemode=False
    ),
    "rows within": lambda charge: Card.objects.filter(source__in=Source.objects.of(charge.merchant_id, False)),
    "its own rows that are due": lambda charge: Charge.objects.of(charge.merchant_id, False).filter(
        id__in=Attempt.objects.filter(due_at__lt=Now()).values("charge_id")
    ),
}
LOOSE: dict[str, Ask] = {
    "everything": lambda charge: Charge.objects.all(),
    "a key that nothing has found yet": lambda charge: Charge.objects.filter(id=charge.id),
    "a merchant in both modes": lambda charge: Charge.objects.filter(merchant_id=charge.merchant_id),
    "a mode of all merchants": lambda charge: Charge.objects.filter(livemode=False),
    "the other mode": lambda charge: Charge.objects.of(charge.merchant_id, True),
    "another merchant": lambda charge: Charge.objects.of(charge.id, False),
    "everybody but oneself": lambda charge: Charge.objects.filter(livemode=False).exclude(merchant=charge.merchant_id),
    "oneself or any captured charge": lambda charge: Charge.objects.filter(
        Q(merchant=charge.merchant_id, livemode=False) | Q(captured=True)
    ),
    "what hangs on somebody's": lambda charge: Card.objects.filter(last4="3055"),
    "a table beside that is loose": lambda charge: Attempt.objects.filter(charge__livemode=False),
    "rows within what is loose": lambda charge: Event.objects.filter(object_id__in=Source.objects.filter(used=True)),
    "another's page": lambda charge: page(charge.id, False),
    "a page of the other mode": lambda charge: page(charge.merchant_id, True),
    "another's page of two states": lambda charge: page(charge.id, False, "failed", "voided"),
}


@pytest.fixture
def charge(shop: NewMerchant) -> Charge:
    return ChargeFactory(merchant=shop.merchant, is_held=True)


@pytest.fixture
def watch(charge: Charge) -> Watch:
    return Watch(charge.merchant_id, livemode=False)


def every(asked: dict[str, Ask]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ask", asked.values(), ids=asked)


@every(TIED)
def test_what_is_tied_to_the_caller_passes(watch: Watch, charge: Charge, ask: Ask) -> None:
    with connection.execute_wrapper(watch):
        list(ask(charge))
    assert watch.loose == []


@every(LOOSE)
def test_what_reaches_further_is_found(watch: Watch, charge: Charge, ask: Ask) -> None:
    with connection.execute_wrapper(watch):
        list(ask(charge))
    assert watch.loose


@pytest.mark.parametrize("rows", [Q(), Q(livemode=False), Q(captured=False)], ids=["all", "a mode", "a state"])
def test_what_writes_further_is_found(watch: Watch, charge: Charge, rows: Q) -> None:
    with connection.execute_wrapper(watch):
        Charge.objects.filter(rows).update(version=7)
        Attempt.objects.filter(charge__in=Charge.objects.filter(rows)).delete()
    assert {table for table, _ in watch.loose} >= {"payments_charge", "payments_attempt"}


def test_what_a_scoped_query_has_found_may_be_read_and_written_by_its_key(watch: Watch, charge: Charge) -> None:
    with connection.execute_wrapper(watch):
        found = Charge.objects.of(charge.merchant_id, False).get(id=charge.id)
        Source.objects.filter(id=found.source_id).update(version=7)
        list(found.attempts.all())
    assert watch.loose == []


def refunds_of(*charges: UUID) -> QuerySet[Refund]:
    return Refund.objects.filter(charge_id__in=charges)


def test_of_several_keys_at_once_each_must_be_known(watch: Watch, charge: Charge) -> None:
    other = ChargeFactory(merchant=charge.merchant, is_held=True)
    with connection.execute_wrapper(watch):
        list(Charge.objects.of(charge.merchant_id, False))
        list(refunds_of(charge.id, other.id))
        assert watch.loose == []
        list(refunds_of(charge.id, new_id()))
    assert [table for table, _ in watch.loose] == ["payments_refund"]


@pytest.mark.parametrize("livemode", [False, True])
def test_a_row_that_is_made_for_somebody_else_is_found(
    watch: Watch, charge: Charge, other_shop: NewMerchant, livemode: bool
) -> None:
    merchant = charge.merchant if livemode else other_shop.merchant
    event = Event(merchant=merchant, livemode=livemode, type="x", object_id=charge.id, sequence=1, payload=b"")
    with connection.execute_wrapper(watch):
        event.save(force_insert=True)
    assert [table for table, _ in watch.loose] == ["payments_event"]
