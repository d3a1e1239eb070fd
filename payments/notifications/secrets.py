"""The secrets that sign a merchant's events, opened only while they are needed."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from django.conf import settings
from psycopg import AsyncConnection

from payments.notifications.signing import Signer
from payments.vault import VaultError, unseal

logger = logging.getLogger("kaha.notifications")

Signers = Mapping[tuple[UUID, bool], Signer]


VALID = """
SELECT id, merchant_id, livemode, sealed FROM payments_notifysecret
WHERE merchant_id = ANY(%s) AND (expires_at IS NULL OR expires_at > %s) ORDER BY created_at DESC
"""


async def signers_of(database: AsyncConnection, merchant_ids: Collection[UUID], now: datetime) -> Signers:
    """Who signs, by merchant and livemode, with the `whsec_…` that are valid at `now`; nobody where none is."""
    found: dict[tuple[UUID, bool], list[str]] = defaultdict(list)
    cursor = await database.execute(VALID, [list(merchant_ids), now])
    for secret_id, merchant_id, livemode, sealed in await cursor.fetchall():
        text = _opened(secret_id, merchant_id, sealed)
        if text:
            found[merchant_id, livemode].append(text)
    return {whose: Signer(secrets, settings.NOTIFY_HEADER_PREFIX) for whose, secrets in found.items()}


def _opened(secret_id: UUID, merchant_id: UUID, sealed: bytes) -> str | None:
    # One merchant's damaged secret must not stop what is sent to the others.
    try:
        return unseal(sealed, merchant_id=merchant_id, object_id=secret_id, field="notify_secret")
    except VaultError:
        logger.exception("a secret cannot be opened", extra={"secret": secret_id.hex})
        return None
