"""Changes of rows and postings that bypass all rules."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model

from payments.ids import new_id, public_id
from payments.models import Charge, Event, Payout, Posting
from tests.invariants.history import History


def forge(row: Model, **values: Any) -> None:
    assert type(row)._default_manager.filter(pk=row.pk).update(**values) == 1


def forge_charge(history: History, name: str, **values: Any) -> str:
    charge = history.charge(name)
    forge(charge, **values)
    return public_id("ch", charge.id)


def post(charge: Charge, kind: str, *lines: tuple[str, int], journal: UUID | None = None, **values: Any) -> str:
    """Post `lines` of account and amount, debits positive, on `charge`, as a new journal or in an existing one."""
    _post(charge, kind, lines, journal or new_id(), {"charge": charge, **values})
    return public_id("ch", charge.id)


def post_for(payout: Payout, kind: str, *lines: tuple[str, int], **values: Any) -> str:
    """Post `lines` on `payout`, as `post` does on a charge, as a new journal."""
    _post(payout, kind, lines, new_id(), {"payout": payout, **values})
    return public_id("po", payout.id)


def _post(
    row: Charge | Payout, kind: str, lines: Iterable[tuple[str, int]], journal: UUID, values: dict[str, Any]
) -> None:
    first = Posting.objects.filter(journal=journal).count() + 1
    about = {"merchant_id": row.merchant_id, "livemode": row.livemode, "currency": row.currency}
    for number, (account, amount) in enumerate(lines, first):
        line = {"journal": journal, "line": number, "account": account, "amount": amount, "kind": kind}
        Posting.objects.create(**{**about, **line, **values})
    with connection.cursor() as cursor:
        cursor.execute("SELECT payments_sum_balances()")


def posting_of(charge: Charge, **values: Any) -> Posting:
    return Posting.objects.filter(charge=charge, **values)[0]


def event_of(object_id: UUID, sequence: int) -> Event:
    return Event.objects.get(object_id=object_id, sequence=sequence)
