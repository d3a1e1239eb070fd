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

# Whose secrets: those of a merchant in one mode, or of one endpoint of it.
Whose = tuple[UUID, bool, UUID | None]
Signers = Mapping[Whose, Signer]
# A secret that is rolled without overlap signs for no longer than this.
KEPT_FOR = timedelta(seconds=1)

VALID = """
SELECT id, merchant_id, livemode, endpoint_id, sealed FROM payments_webhooksecret
WHERE merchant_id = ANY(%s) AND (endpoint_id IS NULL OR endpoint_id = ANY(%s))
    AND (expires_at IS NULL OR expires_at > %s) ORDER BY created_at DESC
"""


def place_of(merchant_id: UUID, secret_id: UUID) -> Place:
    """Where the vault seals and opens this secret."""
    return Place(Purpose.SECRET, merchant_id, secret_id, "webhook_secret")


class Keyring:
    """The signers of merchants, read from `database` once for batches in quick succession."""

    def __init__(self, database: AsyncConnection) -> None:
        self._database = database
        self._asked: Set[Whose] = frozenset()
        self._signers: Signers = {}
        self._good_until: datetime | None = None

    async def signers_of(self, whose: Set[Whose], now: datetime) -> Signers:
        """Return the signers; none where no `whsec_…` is valid, as of KEPT_FOR ago at most.

        Raises VaultUnavailable.
        """
        if self._good_until is None or now >= self._good_until or not whose <= self._asked:
            self._signers = await _signers_of(self._database, whose, now)
            self._asked, self._good_until = whose, now + KEPT_FOR
        return self._signers


async def _signers_of(database: AsyncConnection, whose: Set[Whose], now: datetime) -> Signers:
    merchants = list({merchant_id for merchant_id, _, _ in whose})
    endpoints = [endpoint_id for _, _, endpoint_id in whose if endpoint_id]
    cursor = await database.execute(VALID, [merchants, endpoints, now])
    # In a thread, for it may have to wait for a key.
    found = await asyncio.to_thread(_all_opened, await cursor.fetchall())
    return {owner: Signer(secrets, settings.NOTIFY_HEADER_PREFIX) for owner, secrets in found.items()}


def _all_opened(rows: Iterable[TupleRow]) -> dict[Whose, list[str]]:
    found: dict[Whose, list[str]] = defaultdict(list)
    for secret_id, merchant_id, livemode, endpoint_id, sealed in rows:
        text = _opened(secret_id, merchant_id, sealed)
        if text:
            found[merchant_id, livemode, endpoint_id].append(text)
    return found


def _opened(secret_id: UUID, merchant_id: UUID, sealed: bytes) -> str | None:
    # One merchant's damaged secret must not stop what is sent to the others.
    try:
        return unseal(sealed, place_of(merchant_id, secret_id))
    except VaultError:
        logger.exception("a secret cannot be opened", extra={"secret": secret_id.hex})
        return None
