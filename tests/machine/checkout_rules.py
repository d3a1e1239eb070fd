"""What is true of checkouts after each act of a history, by the model's own rules and by every invariant at once."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from payments.domain.charging.checkouts.tries import NO_DECLINE
from payments.domain.messages.invoices import FAILURE, FAILURES_MAX
from payments.invariants.invariant import KEPT, TABLES
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, Checkout, PayerMessage
from payments.models.charging.charge import ABANDONED
from tests.faults.books import differences as book_differences
from tests.faults.books import not_found_out
from tests.faults.checkouts import CHARGED

State = Checkout.State
# The states that may follow each state in one act.
NEXT = {
    State.UNPAID: {State.PAYING, State.PAID, State.AUTHORIZED, State.EXPIRED, State.VOIDED},
    # An operation of a shop looks the outcome up first.
    State.PAYING: {State.UNPAID, State.PAID, State.AUTHORIZED, State.EXPIRED, State.VOIDED},
    State.AUTHORIZED: {State.PAID, State.VOIDED},
    State.PAID: set[State](),
    State.VOIDED: set[State](),
    State.EXPIRED: set[State](),
}


class LoggedErrors(logging.Handler):
    """The failures that sweeps log and pass over."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # That a provider's call breaks is what a double does.
        if record.name != "kaha.provider_calls":
            self.lines.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")


@dataclass(frozen=True)
class Seen:
    """A checkout and its charges at one moment."""

    row: Checkout
    charges: list[Charge]
    # How many mails say that an attempt at it was declined.
    mails: int

    @property
    def statuses(self) -> dict[UUID, str]:
        return {charge.id: charge.status for charge in self.charges}


def see(checkouts: list[UUID]) -> list[Seen]:
    """Return how these checkouts are now."""
    rows = Checkout.objects.select_related("merchant").in_bulk(checkouts)
    charges, mails = defaultdict[UUID | None, list[Charge]](list), Counter[UUID | None]()
    for charge in Charge.objects.filter(checkout_id__in=checkouts).order_by("id"):
        charges[charge.checkout_id].append(charge)
    mails.update(PayerMessage.objects.filter(about_id__in=checkouts, kind=FAILURE).values_list("about_id", flat=True))
    return [Seen(rows[each], charges[each], mails[each]) for each in checkouts]


def differences(before: list[Seen], after: list[Seen]) -> list[str]:
    """Return what is wrong after an act, a line each."""
    steps = [line for old, new in zip(before, after, strict=False) for line in _wrong_steps(old, new)]
    return [*steps, *(line for seen in after for line in _wrong_now(seen)), *broken_invariants()]


def _wrong_steps(old: Seen, new: Seen) -> Iterable[str]:
    was, now = State(old.row.state), State(new.row.state)
    if was != now and now not in NEXT[was]:
        yield f"{new.row} was {was} and is {now}"
    under_way = [charge_id for charge_id, status in old.statuses.items() if status == Charge.Status.PENDING]
    if was == State.PAYING and now != was and any(new.statuses[each] == "pending" for each in under_way):
        yield f"{new.row} is {now} while its charge is under way"
    back = [each for each in old.statuses if old.statuses[each] == "failed" != new.statuses[each]]
    if back:
        yield f"{new.row} has charges that had failed and have not"


def _wrong_now(seen: Seen) -> Iterable[str]:
    row, state = seen.row, State(seen.row.state)
    standing = [status for status in seen.statuses.values() if status != Charge.Status.FAILED]
    if row.mode != Checkout.Mode.SAVE_CARD and standing not in _standing(row, state):
        yield f"{row} is {state} and has charges {standing}"
    tries = [charge for charge in seen.charges if charge.initiator == Charge.Initiator.MERCHANT]
    payers = [charge for charge in seen.charges[:FAILURES_MAX] if charge not in tries]
    failed = [[charge.failure_data["code"] for charge in each if charge.failure_data] for each in (payers, tries)]
    declined = sum(code not in ABANDONED for code in failed[0]) + any(code not in NO_DECLINE for code in failed[1])
    if seen.mails != declined * (row.kind != Checkout.Kind.SESSION and bool(_email(row))):
        yield f"{row} had {declined} declines, and {seen.mails} mails about them"


def _email(row: Checkout) -> str:
    return row.payer.get("email") or row.order.get("customer_email") or ""


def _standing(row: Checkout, state: State) -> tuple[list[str], ...]:
    if state == State.VOIDED and row.kind == Checkout.Kind.REQUEST:
        return ([],)
    # What was captured may be voided on its day: it was paid all the same.
    return (*CHARGED[state], ["voided"]) if state == State.PAID else CHARGED[state]


def end_differences(found_out: list[Seen]) -> list[str]:
    """Return what is wrong when everything was found out: what is still open, and books of the shop that differ."""
    found = [f"{seen.row} is being paid for ever" for seen in found_out if seen.row.state == State.PAYING]
    charges = Charge.objects.filter(merchant=found_out[0].row.merchant_id)
    for source_id in charges.order_by("source_id").values_list("source_id", flat=True).distinct():
        found += [f"an outcome of {source_id} is not found out"] * not_found_out(source_id)
        found += book_differences(source_id)
    return found


def broken_invariants() -> list[str]:
    """Return the invariants of the money that do not hold in this database, a line each, by one statement."""
    rows = connection.connection.execute(STATEMENT, prepare=True).fetchall()
    return [f"{name} of {row_id}" for name, row_id in rows]


def _statement() -> str:
    tables = ", ".join(f"{name} AS NOT MATERIALIZED (SELECT * FROM {table})" for name, table in TABLES.items())
    parts = [f"SELECT '{each.name}', id::text FROM ({each.query}) AS found" for each in INVARIANTS]
    text = f"WITH {KEPT}, {tables} {' UNION ALL '.join(parts)}"
    return text.replace("%%", "%").replace("%(merchant)s", "NULL")


STATEMENT = _statement()
