"""Evidence of merchants against disputes: sealed, one piece of each type, and kept for a while."""

import base64
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection
from django.db.models import QuerySet

from payments import clock, ids
from payments.db.writes import Insert, LockShared, StaleRow, Update
from payments.domain.catalogue.error_table import EVIDENCE_LIMIT_REACHED
from payments.domain.disputes.find import find_open
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import busy, conflict
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.models import Dispute, Evidence, Source
from payments.providers import disputes
from payments.providers.disputes import EvidenceType
from payments.vault import Place, Purpose, seal, unseal

TEXT = "text/plain"
# So that no merchant fills the disk: at most so many bytes sent in a day (UTC), by mode.
BYTES_A_DAY = {True: 200 * 1024 * 1024, False: 20 * 1024 * 1024}
CONSENT = "When this way to pay was kept for later charges, on {at}, the payer agreed to the words below."
FROM = (("ip", "IP address"), ("user_agent", "Browser"))
# One row for each merchant, mode and day, so that two at once cannot both have the last of it.
COUNT = """
INSERT INTO payments_evidencesent AS sent (merchant_id, livemode, day, size)
VALUES (%(merchant)s, %(livemode)s, %(day)s, %(size)s)
ON CONFLICT (merchant_id, livemode, day) DO UPDATE SET size = sent.size + excluded.size
WHERE sent.size + excluded.size <= %(most)s
"""


def add(
    caller: Caller, dispute_id: str, piece: disputes.Evidence, render: Callable[[Evidence], StoredAnswer]
) -> Result[Evidence]:
    """Add a piece of evidence to an open dispute, in place of the one of its type.

    `render` makes the answer that is stored with it. Raise PaymentError `resource_missing`, `dispute_not_answerable`,
    `evidence_limit_reached`, `resource_busy`, VaultUnavailable, and Replay.
    """
    dispute = find_open(caller, dispute_id)
    known = rows_of(dispute).filter(type=piece.type).defer("sealed_content").first()
    added = _sealed(dispute, piece, known)
    # The first answer comes again, however much was sent since.
    idempotency.look_up(caller)
    _count(caller, added.size)
    # The response is sent with the evidence that is there when it is asked for.
    same = {"id": dispute.id, "merchant_id": dispute.merchant_id, "response_state": dispute.response_state}
    guard = LockShared(Dispute, same)
    answer = render(added)
    try:
        idempotency.write_once(caller, idempotency.new_record(caller, answer), guard, _write(known, added))
    except (StaleRow, IntegrityError):
        raise busy(ids.public_id("ch", dispute.charge_id)) from None
    return Result(added, answer)


def _sealed(dispute: Dispute, piece: disputes.Evidence, known: Evidence | None) -> Evidence:
    evidence_id = known.id if known else ids.new_id()
    size = len(piece.content.encode()) if piece.content_type == TEXT else len(base64.b64decode(piece.content))
    return Evidence(
        id=evidence_id,
        merchant_id=dispute.merchant_id,
        livemode=dispute.livemode,
        dispute_id=dispute.id,
        type=piece.type.value,
        content_type=piece.content_type,
        size=size,
        name=piece.name,
        sealed_content=seal(piece.content, _place(dispute, evidence_id)),
    )


def _write(known: Evidence | None, added: Evidence) -> Insert | Update:
    if known is None:
        return Insert(added)
    names = ("content_type", "size", "name", "sealed_content", "created_at")
    same = {"id": known.id, "merchant_id": known.merchant_id, "created_at": known.created_at}
    return Update(Evidence, same, {name: getattr(added, name) for name in names})


def _count(caller: Caller, size: int) -> None:
    """Count what is sent, also in place of an earlier piece; raise PaymentError where it is too much in a day."""
    most = BYTES_A_DAY[caller.livemode]
    row: dict[str, Any] = {"merchant": caller.merchant_id, "livemode": caller.livemode}
    with connection.cursor() as cursor:
        # The first piece of a day meets no row that refuses it.
        if is_counted := size <= most:
            cursor.execute(COUNT, row | {"day": clock.now().date(), "size": size, "most": most})
            is_counted = cursor.rowcount == 1
    if not is_counted:
        raise conflict(EVIDENCE_LIMIT_REACHED, most=most // 1024**2)


def rows_of(dispute: Dispute) -> QuerySet[Evidence]:
    """Return the pieces of a dispute."""
    return Evidence.objects.filter(merchant_id=dispute.merchant_id, dispute=dispute)


def of_dispute(dispute: Dispute) -> list[Evidence]:
    """Return the pieces of a dispute without their contents, oldest first."""
    return list(rows_of(dispute).defer("sealed_content").order_by("id"))


def opened(dispute: Dispute) -> tuple[disputes.Evidence, ...]:
    """Return the pieces of a dispute as the merchant sent them. Raise VaultError, VaultUnavailable."""
    rows = rows_of(dispute).order_by("id")
    return tuple(
        disputes.Evidence(EvidenceType(row.type), row.content_type, unseal(row.sealed_content, _place(dispute, row.id)))
        for row in rows
    )


def consent_to(dispute: Dispute) -> tuple[disputes.Evidence, ...]:
    """Return what the payer agreed to when the source of a dispute's charge was kept; empty where nobody says it."""
    rows = Source.objects.filter(merchant_id=dispute.merchant_id, charges=dispute.charge_id)
    consent = rows.values_list("consent", flat=True).first()
    if not consent:
        return ()
    lines = [CONSENT.format(**consent), *(f"{label}: {consent[name]}" for name, label in FROM if consent.get(name))]
    return (disputes.Evidence(EvidenceType.OTHER, TEXT, "\n".join([*lines, "", consent["text"]])),)


def _place(dispute: Dispute, evidence_id: UUID) -> Place:
    return Place(Purpose.SECRET, dispute.merchant_id, evidence_id, "evidence")
