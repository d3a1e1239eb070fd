"""Statements of our bank, made of what was paid out and read through any crash, and what people do about them."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

from django.db.models import Count, F

from payments import clock
from payments.domain.reconciliation import items, uploads
from payments.domain.reconciliation.bank import line_matcher
from payments.domain.reconciliation.items import TooLate
from payments.models import OwnBankAccount, Payout, ReconciliationItem, ReportLine, ReportUpload
from payments.tasks import run_sweep
from tests.operators.factories import REASON, person
from tests.reconciliation.bank.files import ACCOUNT, camt, details, entry

if TYPE_CHECKING:
    from tests.faults.life import Life

NAME = "bpi-faults"
# Most leave as they were sent.
ENDS = ("left", "left", "left", "late", "wrong", "without a name", "returned")


def upload(life: "Life") -> None:
    """Have finance upload what the bank says of a merchant's payouts that it has not named yet.

    Of earlier statements, they decide some of the items first.
    """
    _decide(life.random)
    terms = {"currency": "PHP", "last4": ACCOUNT[-4:], "providers": ["simulator"]}
    account, _ = OwnBankAccount.objects.get_or_create(name=NAME, defaults=terms)
    sent = Payout.objects.filter(merchant=life.merchant_id, currency="PHP", sent_at__isnull=False)
    unsaid = sent.exclude(bank_lines__line__amount__lt=0).order_by("id")
    moves = [("-1.00", details("", text="Fee")), *(each for payout in unsaid for each in _moves(payout, life.random))]
    # What is equal and has no reference of the bank is one movement, in whatever statement.
    entries = (entry(*each, day=_today(), ref=life.new_key()) for each in moves)
    text = camt(*entries, name=life.new_key(), day=_today())
    uploads.submit(account.name, "statement.xml", text.encode(), person("maria", "finance"), None, None)


def read() -> None:
    """Read what waits, also what another worker began, as after its lease is over."""
    ReportUpload.objects.filter(state=ReportUpload.State.READING).update(due_at=clock.now())
    run_sweep("read_uploaded_reports")


def faults() -> Iterator[str]:
    """Yield what is wrong with what was read, a line each."""
    for each in ReportUpload.objects.filter(provider=NAME).exclude(state="done", run__new_lines=F("rows")):
        yield f"a statement is {each.state}, and was not read whole: {each.fault}"
    lines = ReportLine.objects.filter(provider=NAME)
    if lines.values("run").distinct().count() != ReportUpload.objects.filter(provider=NAME).count():
        yield "a statement was read twice"
    standing = ReconciliationItem.objects.filter(provider=NAME, vanished_at=None)
    if standing.values("line").annotate(count=Count("pk")).filter(count__gt=1).exists():
        yield "a movement has two items"
    if lines.filter(matched_at=None).exclude(items__in=standing).exists():
        yield "a movement has neither a match nor an item"
    if lines.filter(matched_at__isnull=False, items__in=standing).exists():
        yield "a movement has a match and an item"


def _decide(random: Random) -> None:
    """Have finance confirm suspicions, and close some of the other items."""
    for item in ReconciliationItem.objects.filter(provider=NAME, state="open", vanished_at=None):
        if item.kind == ReconciliationItem.Kind.SUSPECTED and random.random() < 0.7:
            # What one confirms may be what another one was thought to be.
            with suppress(TooLate):
                line_matcher.confirm(item, line_matcher.key_of(item.line.bank), person("maria", "finance"), REASON)
        elif random.random() < 0.5:
            items.close(item, person("maria", "finance"), REASON)


def _moves(payout: Payout, random: Random) -> Iterator[tuple[str, str]]:
    """Yield the amounts of what the bank did with a payout, with its details."""
    end = random.choice(ENDS)
    amount = payout.amount + (end == "wrong")
    if end != "late":
        yield f"-{amount // 100}.{amount % 100:02}", details("" if end == "without a name" else payout.id.hex)
    if end == "returned":
        yield f"{amount // 100}.{amount % 100:02}", details(payout.id.hex, reason="AC04")


def _today() -> str:
    return clock.now().date().isoformat()
