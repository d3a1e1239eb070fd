"""Blocks of cards, BINs, payers' e-mail addresses and callers' addresses, which operators add and lift.

A blocked charge is declined with the answer that an issuer would give through its provider, which is not asked.
"""

import time
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import CharField, F, Func, OuterRef, Q, Subquery, Value
from django.db.models.expressions import Combinable, CombinedExpression
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Lower

from customers.models import email_of_customer
from payments import clock, context
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.cards.bin_table import describe
from payments.models import Attempt, Block, Card, Source
from payments.models.charging.source import brand_name
from payments.models.operators.reasons import free_of_secrets
from payments.models.risk.block import BlockQuerySet
from payments.providers.base import Declined, Payment, Provider
from payments.vault import card_fingerprint

# The members of a source's owner that may hold an e-mail address.
PARTS_OF_OWNER = ("billing", "shipping")
# The declined ones among so many payments by a route show how long its provider takes to decline.
LATEST_PAYMENTS = 200
LONGEST_DECLINE = timedelta(seconds=5)
USUAL_DECLINE_SECONDS = (0.4, 1.2)


class AlreadyLifted(Exception):
    """Another operator has lifted the block already."""


def number_columns(number: str) -> dict[str, Any]:
    """Return a block's columns for a card number: its fingerprint and its display name. Reads the BIN table."""
    return {"fingerprint": card_fingerprint(number), "card": f"{brand_name(describe(number).brand)} …{number[-4:]}"}


def card_columns(card: Card) -> dict[str, Any]:
    """Return a block's columns for a stored card."""
    return {"fingerprint": bytes(card.fingerprint), "card": str(card)}


def add_block(block: Block, lasts: timedelta | None) -> None:
    """Save `block`, a new row, and let it last for `lasts`, or for ever with None. Raises ValidationError."""
    block.expires_at = clock.now() + lasts if lasts else None
    block.email = block.email.lower()
    block.full_clean()
    with transaction.atomic():
        block.save(force_insert=True)
        audit_log.record(Action.BLOCKED, block, detail=_where(block), reason=block.reason)


def lift(block: Block, operator: AbstractBaseUser, reason: str) -> None:
    """Lift a block. Raises AlreadyLifted, and ValidationError for a reason with a secret."""
    free_of_secrets(reason)
    with transaction.atomic():
        rows = Block.objects.filter(id=block.id, lifted_at=None)
        if not rows.update(lifted_at=clock.now(), lifted_by=operator, lifted_because=reason):
            raise AlreadyLifted
        notice = (block.merchant_id or audit_log.EVERYBODY) if block.livemode else None
        detail = f"{_where(block)}: {audit_log.change('in force', 'lifted')}"
        audit_log.record(Action.LIFTED, block, detail=detail, reason=reason, notice_of=notice)


def block_of_source(merchant_id: UUID, livemode: bool, address: str, now: datetime) -> Subquery:
    """Return the subquery, in a query of sources, for the ID of a block in force on a charge of it, or null.

    `address` is that of the caller who charges it, "" without one.
    """
    emails = _emails(OuterRef("owner"), OuterRef(OuterRef("customer_id")), OuterRef(OuterRef("merchant_id")))
    rows = Block.objects.bearing_on(merchant_id, livemode, now)
    found = bearing_on_payer(rows, OuterRef("card__fingerprint"), OuterRef("card__bin"), emails, address)
    return Subquery(found.values("pk")[:1])


def bearing_on_payer(
    rows: BlockQuerySet, fingerprint: Any, bin_digits: Any, emails: list[Combinable], address: str
) -> BlockQuerySet:
    """Return those of `rows` that block this card, one of a payer's `emails` or the caller's `address`, in order."""
    of_card = Q(fingerprint=fingerprint) | Q(bin=bin_digits) & ~Q(bin="")
    of_payer = Q(email__in=[*emails, *map(_domain, emails)]) & ~Q(email="")
    # Without the conditions on "" PostgreSQL could not use the partial indexes.
    return rows.filter(of_card | of_payer | Q(address=address) & ~Q(address="")).order_by("pk")


def emails_of_owner(source: Source) -> list[str]:
    """Return the e-mail address in each part of a source's owner, "" where it has none."""
    parts = ((source.owner or {}).get(part) or {} for part in PARTS_OF_OWNER)
    return [part.get("email") or "" for part in parts]


def emails_of(source: Source) -> list[str]:
    """Return the e-mail addresses of a source's payer, in lower case."""
    rows = Source.objects.filter(id=source.id, merchant_id=source.merchant_id).values_list(
        *_emails(F("owner"), OuterRef("customer_id"), OuterRef("merchant_id"))
    )
    return sorted({email for email in rows.get() if email})


class BlockedProvider:
    """A stand-in for `provider` on a blocked charge: it declines as an issuer does there, after as long a time.

    A card tester must not be able to distinguish its answer from an issuer's.
    """

    def __init__(self, provider: Provider, seconds: float) -> None:
        self._provider = provider
        self._seconds = seconds

    def create_payment(self, payment: Payment) -> Declined:
        """Decline the payment after the usual time."""
        context.begin_wait()
        time.sleep(self._seconds)
        return self._provider.plain_decline(payment)

    def resolve(self, payment: Payment) -> Declined:
        """Decline the payment at once."""
        return self._provider.plain_decline(payment)


def decline_seconds(attempt: Attempt) -> float:
    """Return how long the attempt's route takes to decline: one of its latest times, or a usual one."""
    if attempt.route_id is None:
        # The simulator waits by itself.
        return 0
    latest = Attempt.objects.filter(route=attempt.route_id).order_by("-id")[:LATEST_PAYMENTS]
    declined = Attempt.objects.filter(id__in=latest.values("id"), kind="authorize", outcome="Declined", block=None)
    taken = [row.updated_at - row.created_at for row in declined.only("created_at", "updated_at")]
    # Longer ones include the payer's own time for authentication.
    times = [each.total_seconds() for each in taken if each <= LONGEST_DECLINE]
    randomness = SystemRandom()
    return randomness.choice(times) if times else randomness.uniform(*USUAL_DECLINE_SECONDS)


def _emails(owner: Combinable, customer_id: Combinable, merchant_id: Combinable) -> list[Combinable]:
    of_owner = [KeyTextTransform("email", KeyTransform(part, owner)) for part in PARTS_OF_OWNER]
    found = [*of_owner, email_of_customer(customer_id, merchant_id)]
    return [Lower(email, output_field=CharField()) for email in found]


def _domain(email: Combinable) -> Combinable:
    """Return what a block of the address's domain holds: `@` and the domain; null without an address."""
    part = Func(email, Value("@"), Value(2), function="split_part", output_field=CharField())
    # A concatenation with `||` is null for null, as the comparison needs it.
    return CombinedExpression(Value("@"), "||", part, output_field=CharField())


def _where(block: Block) -> str:
    mode = "live" if block.livemode else "test"
    return f"in {mode} mode, {'at all merchants' if block.merchant_id is None else 'at its merchant'}"
