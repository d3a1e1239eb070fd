"""Changes of rows and postings that bypass all rules."""

from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model

from payments.ids import new_id, public_id
from payments.models import Charge, Event, Posting
from tests.invariants.history import History


def forge(row: Model, **values: Any) -> None:
    assert type(row)._default_manager.filter(pk=row.pk).update(**values) == 1


def forge_charge(history: History, name: str, **values: Any) -> str:
    charge = history.charge(name)
    forge(charge, **values)
    return public_id("ch", charge.id)


def post(charge: Charge, kind: str, *lines: tuple[str, int], journal: UUID | None = None, **values: Any) -> str:
    """Post `lines` of account and amount, debits positive, on `charge`, as a new journal or in an existing one."""
    journal = journal or new_id()
    first = Posting.objects.filter(journal=journal).count() + 1
    about = {"merchant_id": charge.merchant_id, "livemode": charge.livemode, "currency": charge.currency}
    for number, (account, amount) in enumerate(lines, first):
        line = {"journal": journal, "line": number, "account": account, "amount": amount, "kind": kind}
        Posting.objects.create(charge=charge, **{**about, **line, **values})
    with connection.cursor() as cursor:
        cursor.execute("SELECT payments_sum_balances()")
    return public_id("ch", charge.id)


def posting_of(charge: Charge, **values: Any) -> Posting:
    return Posting.objects.filter(charge=charge, **values)[0]


def event_of(object_id: UUID, sequence: int) -> Event:
    return Event.objects.get(object_id=object_id, sequence=sequence)
