"""The secrets that sign a merchant's events, opened only while they are needed."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from payments.vault import Place, Purpose, VaultError, unseal
from payments.webhooks.signatures import Signer

logger = logging.getLogger("kaha.webhooks")

Signers = Mapping[tuple[UUID, bool], Signer]
# A secret that is rolled without overlap signs for no longer than this.
KEPT_FOR = timedelta(seconds=1)

VALID = """
SELECT id, merchant_id, livemode, sealed FROM payments_webhooksecret
WHERE merchant_id = ANY(%s) AND (expires_at IS NULL OR expires_at > %s) ORDER BY created_at DESC
"""


def place_of(merchant_id: UUID, secret_id: UUID) -> Place:
    """Where the vault seals and opens this secret."""
    return Place(Purpose.SECRET, merchant_id, secret_id, "webhook_secret")


class Keyring:
    """The signers of merchants, read from `database` once for batches in quick succession."""

    def __init__(self, database: AsyncConnection) -> None:
        self._database = database
        self._asked: frozenset[UUID] = frozenset()
        self._signers: Signers = {}
        self._good_until: datetime | None = None

    async def signers_of(self, merchant_ids: Set[UUID], now: datetime) -> Signers:
        """Who signs, by merchant and livemode; nobody where no `whsec_…` is valid, as of KEPT_FOR ago at most.

        Raises VaultUnavailable.
        """
        if self._good_until is None or now >= self._good_until or not merchant_ids <= self._asked:
            self._signers = await _signers_of(self._database, merchant_ids, now)
            self._asked, self._good_until = frozenset(merchant_ids), now + KEPT_FOR
        return self._signers


async def _signers_of(database: AsyncConnection, merchant_ids: Set[UUID], now: datetime) -> Signers:
    cursor = await database.execute(VALID, [list(merchant_ids), now])
    # In a thread, for it may have to wait for a key.
    found = await asyncio.to_thread(_all_opened, await cursor.fetchall())
    return {whose: Signer(secrets, settings.NOTIFY_HEADER_PREFIX) for whose, secrets in found.items()}


def _all_opened(rows: Iterable[TupleRow]) -> dict[tuple[UUID, bool], list[str]]:
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
