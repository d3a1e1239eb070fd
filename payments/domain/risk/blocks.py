"""Cards and e-mail addresses on which nothing more is charged: blocked and let go by operators, asked for by charges.

Whoever is charged is told what an issuer would have said by the same provider, and no provider is asked.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import CharField, F, OuterRef, Q, Subquery
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Lower

from payments import clock, context
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.cards.card_data import describe
from payments.models import Attempt, Block, Card, Source
from payments.models.correction import free_of_secrets
from payments.providers.base import Declined, Payment, Provider
from payments.vault import card_fingerprint

# Where the owner of a source may have an e-mail address.
PARTS_OF_OWNER = ("billing", "shipping")
# What else finds the e-mail address of a payer by their source's ID; other apps add theirs when they are ready.
EMAIL_FINDERS: list[Callable[[Combinable], Combinable]] = []
# Of so many payments by a route, those that were declined tell how long its provider takes for that.
LATEST_PAYMENTS = 200
LONGEST_DECLINE = timedelta(seconds=5)
USUAL_DECLINE_SECONDS = (0.4, 1.2)


class AlreadyLifted(Exception):
    """Somebody else was first."""


def of_number(number: str) -> dict[str, Any]:
    """What a block keeps of a card's number: by what it is known again, and how it is shown. Reads the BIN table."""
    return {"fingerprint": card_fingerprint(number), "card": f"{describe(number).brand} …{number[-4:]}"}


def of_card(card: Card) -> dict[str, Any]:
    """What a block keeps of a card that is on record."""
    return {"fingerprint": bytes(card.fingerprint), "card": str(card)}


def put(block: Block, lasts: timedelta | None) -> None:
    """Puts `block`, a new row that says what, where, why and by whom, in force for as long as it `lasts`.

    None is for ever. Raises ValidationError.
    """
    block.expires_at = clock.now() + lasts if lasts else None
    block.email = block.email.lower()
    block.full_clean()
    with transaction.atomic():
        block.save(force_insert=True)
        audit_log.record(Action.BLOCKED, block, detail=_where(block), reason=block.reason)


def lift(block: Block, operator: AbstractBaseUser, reason: str) -> None:
    """Ends a block that nobody has lifted. Raises AlreadyLifted, and ValidationError for a reason with a secret."""
    free_of_secrets(reason)
    with transaction.atomic():
        rows = Block.objects.filter(id=block.id, lifted_at=None)
        if not rows.update(lifted_at=clock.now(), lifted_by=operator, lifted_because=reason):
            raise AlreadyLifted
        audit_log.record(Action.LIFTED, block, detail=_where(block), reason=reason)


def bearing_on_source(merchant_id: UUID, livemode: bool, now: datetime) -> Subquery:
    """In a query of sources, the ID of a block that is in force on the source's card or payer; null for none."""
    emails = _emails(OuterRef("owner"), OuterRef(OuterRef("pk")))
    rows = Block.objects.bearing_on(merchant_id, livemode, now)
    found = rows.filter(Q(fingerprint=OuterRef("card__fingerprint")) | Q(email__in=emails))
    return Subquery(found.order_by("pk").values("pk")[:1])


def emails_of(source: Source) -> list[str]:
    """The e-mail addresses by which a source's payer is known, in lower case."""
    rows = Source.objects.filter(id=source.id).values_list(*_emails(F("owner"), OuterRef("pk")))
    return sorted({email for email in rows.get() if email})


class BlockedProvider:
    """Stands for `provider` where a block forbids to ask it: declines as an issuer does there, after as long a time.

    Whoever tries cards must not learn from an answer that it is ours.
    """

    def __init__(self, provider: Provider, seconds: float) -> None:
        self._provider = provider
        self._seconds = seconds

    def create_payment(self, payment: Payment) -> Declined:
        context.begin_wait()
        time.sleep(self._seconds)
        return self._provider.plain_decline(payment)

    def resolve(self, payment: Payment) -> Declined:
        return self._provider.plain_decline(payment)


def decline_seconds(attempt: Attempt) -> float:
    """Return how long the attempt's route takes to decline: one of its latest times, or a usual one.

    The simulator has a time of its own.
    """
    if attempt.route_id is None:
        return 0
    latest = Attempt.objects.filter(route=attempt.route_id).order_by("-id")[:LATEST_PAYMENTS]
    declined = Attempt.objects.filter(id__in=latest.values("id"), kind="authorize", outcome="Declined", block=None)
    taken = [row.updated_at - row.created_at for row in declined.only("created_at", "updated_at")]
    # One whose payer was asked first took as long as they did.
    times = [each.total_seconds() for each in taken if each <= LONGEST_DECLINE]
    randomness = SystemRandom()
    return randomness.choice(times) if times else randomness.uniform(*USUAL_DECLINE_SECONDS)


def _emails(owner: Combinable, source_id: Combinable) -> list[Combinable]:
    of_owner = [KeyTextTransform("email", KeyTransform(part, owner)) for part in PARTS_OF_OWNER]
    found = [*of_owner, *(find(source_id) for find in EMAIL_FINDERS)]
    return [Lower(email, output_field=CharField()) for email in found]


def _where(block: Block) -> str:
    mode = "live" if block.livemode else "test"
    return f"in {mode} mode, {'at all merchants' if block.merchant_id is None else 'at its merchant'}"
