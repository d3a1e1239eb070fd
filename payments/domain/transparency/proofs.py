"""The numbers of leaves that a merchant's objects have, and the proof that one of them is in the log."""

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from payments.db.numbered_cursor import send
from payments.ledger.transparency.heads import newest_head
from payments.ledger.transparency.leaves import COLUMNS, TEXTS, content_of, opening_of, shown
from payments.ledger.transparency.tree import inclusion_proof
from payments.models import LogLeaf, Payout, Posting

LEAVES = """
SELECT journal, number FROM payments_logleaf WHERE merchant_id = %s AND livemode = %s AND journal = ANY(%s::uuid[])
"""
Payouts = TypeVar("Payouts", bound=QuerySet[Payout])


@dataclass(frozen=True)
class Proof:
    """What shows that the journal of a posting is leaf `number` of the log of `head`."""

    posting_id: UUID
    number: int
    content: str
    salt: str
    opening: str
    path: Sequence[str]
    head: str


def leaves_of_journals(merchant_id: UUID, livemode: bool, journals: Collection[UUID]) -> Mapping[UUID, int]:
    """Return the leaf of each of a merchant's journals that has one."""
    return dict(send(connections[DEFAULT_DB_ALIAS], LEAVES, [merchant_id, livemode, list(journals)]).fetchall())


def with_leaves(payouts: Payouts, merchant_id: UUID, livemode: bool) -> Payouts:
    """Return payouts of a merchant that have the numbers of their leaves as `leaves`."""
    journals = Posting.objects.of(merchant_id, livemode).filter(payout=OuterRef(OuterRef("pk")), line=1)
    leaves = LogLeaf.objects.of(merchant_id, livemode).filter(journal__in=journals.values("journal"))
    return payouts.annotate(leaves=ArraySubquery(leaves.order_by("number").values("number")))


def proof_of(posting: Posting) -> Proof | None:
    """Return the proof of a posting's journal by the newest head, which the newest keys sign; None before it has it."""
    leaf = LogLeaf.objects.of(posting.merchant_id, posting.livemode).filter(journal=posting.journal).first()
    head = newest_head()
    if leaf is None or head is None or head.size <= leaf.number:
        return None
    about = {"charge": posting.charge_id} if posting.charge_id else {"payout": posting.payout_id}
    own = Posting.objects.of(posting.merchant_id, posting.livemode).filter(journal=posting.journal, **about)
    texts = {name: Cast(name, TextField()) for name in TEXTS}
    lines = [shown(row) for row in own.order_by("line").values_list(*(texts.get(name, name) for name in COLUMNS))]
    opening = opening_of(str(leaf.journal), lines)
    return Proof(
        posting.id,
        leaf.number,
        content_of(bytes(leaf.salt), opening, lines).decode(),
        bytes(leaf.salt).hex(),
        opening,
        [base64.b64encode(each).decode() for each in inclusion_proof(leaf.number, head.size)],
        head.note,
    )
