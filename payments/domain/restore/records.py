"""What providers list that they did for us: worked off one by one, booked here or made a line for operators."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from payments.concurrency.connections import release_connection
from payments.domain.bulkheads import ProviderBusy, provider_place
from payments.domain.charging import recovery
from payments.domain.restore.rebuild import CannotBeBooked, Waits, rebuild
from payments.domain.routing.provider_accounts import connected
from payments.ids import new_id
from payments.models import Attempt, ProviderAccount
from payments.providers import registry
from payments.providers.base import Approved, Provider, WebhookEvent
from payments.providers.done_there import DoneThere, KeepsRecords, NotListed
from payments.providers.references import read_reference
from payments.providers.settlement_reports import Movement, SettlementLine
from payments.vault import VaultError, VaultUnavailable

logger = logging.getLogger("kaha.restore")

# A payment that was asked for before the moment may have been done after it, and clocks of two hosts differ.
OVERLAP = timedelta(minutes=5)
PROGRESS_EVERY = 1_000
Progress = Callable[[str], None]
MOVEMENTS: dict[str, Movement] = {Attempt.Kind.CAPTURE: Movement.CAPTURE, Attempt.Kind.REFUND: Movement.REFUND}


@dataclass
class Summary:
    """What a recovery did, by what it was, and what is left to operators, in words.

    `unlisted` says which accounts' records were not read to the end, and why.
    """

    closed_sources: int = 0
    looked_up: int = 0
    waiting: int = 0
    booked: Counter[str] = field(default_factory=Counter)
    unlisted: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Records:
    """The records of providers from `since` to before `until`."""

    since: datetime
    until: datetime
    summary: Summary
    progress: Progress

    def work_off_accounts(self) -> dict[str, list[SettlementLine]]:
        """Work off those of every live account whose provider keeps some; return by provider the lines that are left.

        An account that cannot be asked is reported, and the others are asked.
        """
        keeping = registry.keep_records()
        lines: dict[str, list[SettlementLine]] = {name: [] for name in keeping}
        for account in ProviderAccount.objects.filter(livemode=True, provider__in=keeping).order_by("id"):
            left = lines[account.provider]
            try:
                with provider_place(account.provider, account.id):
                    # One by one: what was left before a fault is kept.
                    for line in self.work_off(account.provider, connected(account), account):
                        left.append(line)
            except Exception as fault:
                logger.exception("records were not worked off", extra={"account": account.public_id})
                self.summary.unlisted.append(_unlisted(account, fault))
        return lines

    def work_off(
        self, name: str, connector: Provider, account: ProviderAccount | None = None
    ) -> Iterator[SettlementLine]:
        """Book what `connector` lists; return the line of what cannot be booked. Raise NotListed."""
        if not isinstance(connector, KeepsRecords):
            raise NotListed("its connector keeps no records")
        # An account speaks for its own attempts alone.
        own = Attempt.objects.filter(provider=name, account=account)
        whose = f"{name}, account {account.public_id}" if account else name
        number = 0
        release_connection()
        for number, done in enumerate(connector.done_between(self.since - OVERLAP, self.until), 1):
            if line := _work_off(own, done, self.summary):
                yield line
            if number % PROGRESS_EVERY == 0:
                self.progress(f"{whose}: {number} worked off")
        self.progress(f"{whose}: all {number} worked off")


def _unlisted(account: ProviderAccount, fault: Exception) -> str:
    match fault:
        case NotListed():
            why = str(fault)
        case VaultError() | VaultUnavailable():
            why = "its credentials cannot be opened"
        case ProviderBusy():
            why = "too much waits for it"
        case _:
            why = "by a fault that is in the log"
    account_id = account.public_id
    return f"{account.provider}, account {account_id}: what it did was not read to the end, {why}; run this again"


def _work_off(own: QuerySet[Attempt], done: DoneThere, summary: Summary) -> SettlementLine | None:
    """Book what was done here, or ask again about what is on record; return the line of what cannot be booked."""
    attempt_id, step = read_reference(done.reference or done.payment_reference) or (None, None)
    if attempt_id is None:
        return None
    on_record = own.filter(id=attempt_id).select_related("charge").first()
    if on_record is None:
        payment = _payment_of(own, done) if done.reference and step is None else None
        return _book(payment, attempt_id, done, summary)
    if not done.reference and on_record.outcome == Approved.__name__:
        # Captured at once, or by a capture that is on record; if neither, the capture is lost.
        return None if on_record.charge.captured else _book(on_record, new_id(), done, summary)
    # Money that came late is sent back by the sweeps, which ask for it where it was not.
    if on_record.kind != Attempt.Kind.REVERSE:
        ask_again(on_record.reference, done.provider_ref)
    return None


def _payment_of(own: QuerySet[Attempt], done: DoneThere) -> Attempt | None:
    payment_id, _ = read_reference(done.payment_reference) or (None, None)
    return own.filter(id=payment_id, kind=Attempt.Kind.AUTHORIZE).first() if payment_id else None


def _book(payment: Attempt | None, attempt_id: UUID, done: DoneThere, summary: Summary) -> SettlementLine | None:
    """Book what was done to `payment`; return its line where there is no such payment, or it does not allow it."""
    if payment is None:
        return _line(done)
    try:
        attempt = rebuild(payment, attempt_id, done)
    except (Waits, ProviderBusy):
        # The next run comes to it, and the sweep of unknown outcomes to what was inserted.
        summary.waiting += 1
        return None
    except CannotBeBooked as reason:
        logger.warning("cannot be booked", extra={"reference": done.reference, "why": str(reason)})
        return _line(done)
    summary.booked[f"{attempt.kind} {attempt.outcome or attempt.state}"] += 1
    return None


def _line(done: DoneThere) -> SettlementLine | None:
    """Return the movement that nobody knows here; None where it moved nothing in the end."""
    if done.has_failed or not done.amount:
        return None
    kind = MOVEMENTS.get(done.kind, Movement.OTHER)
    return SettlementLine(
        reference=done.reference or done.payment_reference,
        provider_ref=done.provider_ref,
        kind=kind,
        amount=(kind.sign or 1) * done.amount,
        currency=done.currency,
        booked_at=done.done_at,
        word=f"{done.kind}, not known here",
    )


def ask_again(reference: str, provider_ref: str = "") -> None:
    """Ask how an attempt stands that is on record; a busy provider is asked by the sweeps or by the next run."""
    try:
        recovery.apply_event(WebhookEvent(reference, None, provider_ref=provider_ref))
    except Exception:
        logger.exception("could not be asked again", extra={"attempt": reference})
