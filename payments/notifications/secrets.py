"""The secrets that sign a merchant's events, opened only while they are needed."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from payments.vault import Place, Purpose, VaultError, unseal

logger = logging.getLogger("kaha.notifications")

Secrets = Mapping[tuple[UUID, bool], list[str]]


VALID = """
SELECT id, merchant_id, livemode, sealed FROM payments_notifysecret
WHERE merchant_id = ANY(%s) AND (expires_at IS NULL OR expires_at > %s) ORDER BY created_at DESC
"""


def place_of(merchant_id: UUID, secret_id: UUID) -> Place:
    """Where the vault seals and opens this secret."""
    return Place(Purpose.SECRET, merchant_id, secret_id, "notify_secret")


async def valid_secrets(database: AsyncConnection, merchant_ids: Collection[UUID], now: datetime) -> Secrets:
    """The `whsec_…` that are valid at `now`, newest first, by merchant and livemode. Raises VaultUnavailable."""
    cursor = await database.execute(VALID, [list(merchant_ids), now])
    # In a thread, for it may have to wait for a key.
    return await asyncio.to_thread(_all_opened, await cursor.fetchall())


def _all_opened(rows: Iterable[TupleRow]) -> Secrets:
    found: dict[tuple[UUID, bool], list[str]] = defaultdict(list)
    for secret_id, merchant_id, livemode, sealed in rows:
        text = _opened(secret_id, merchant_id, sealed)
        if text:
            found[merchant_id, livemode].append(text)
    return found


def _opened(secret_id: UUID, merchant_id: UUID, sealed: bytes) -> str | None:
    # One merchant's damaged secret must not stop what is sent to the others.
    try:
        return unseal(sealed, place_of(merchant_id, secret_id))
    except VaultError:
        logger.exception("a secret cannot be opened", extra={"secret": secret_id.hex})
        return None
