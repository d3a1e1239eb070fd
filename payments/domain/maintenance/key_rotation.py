"""New keys for old ones while the service runs: nobody waits, and whoever is interrupted may begin again.

Data keys are wrapped anew by the newest key-encryption key; or they are retired, what they sealed is sealed with new
ones, and they are destroyed.
"""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet

from payments import clock, vault
from payments.domain.maintenance import reseal
from payments.domain.maintenance.data_keys import all_kept, kept
from payments.models import DataKey
from payments.vault import WrappedKey

# A request may still write what it sealed with a key that was retired meanwhile, or open what it read before that
# was sealed anew; no statement and no wait for a row takes longer.
IN_FLIGHT = timedelta(seconds=60)
SEALED_NO_MORE = timedelta(seconds=vault.SEALING_SECONDS) + IN_FLIGHT


def retire_data_keys() -> int:
    """Retires every data key, unless some are retired that are not destroyed yet; returns how many it retired.

    The next value that is sealed has a new one made. Those of CVCs are not retired: they live for an hour.
    """
    if retired().exists():
        return 0
    count = DataKey.objects.filter(retired_at__isnull=True).update(retired_at=clock.now())
    vault.forget_sealing_keys()
    return count


def rewrap_data_keys() -> Iterator[WrappedKey]:
    """Has each data key wrapped by the newest key-encryption key. Raises VaultUnavailable, VaultError."""
    for key in all_kept():
        fresh = vault.rewrap(key)
        # One that was destroyed meanwhile stays so.
        kept(key.purpose).filter(id=key.id, wrapped=key.wrapped).update(kek=fresh.kek, wrapped=fresh.wrapped)
        yield fresh


def finish() -> int:
    """Brings retired data keys nearer to their end; returns how many it destroyed. Raises VaultUnavailable.

    One is destroyed when nobody can be sealing with it any more, nothing was found that it had sealed, and whoever
    might have read such a thing before has opened it.
    """
    due = retired().filter(retired_at__lte=clock.now() - SEALED_NO_MORE)
    return sum(_bring_to_its_end(key) for key in due)


def retired() -> QuerySet[DataKey]:
    """The data keys that are retired and not destroyed yet."""
    return DataKey.objects.filter(retired_at__isnull=False, destroyed_at__isnull=True)


def _bring_to_its_end(key: DataKey) -> bool:
    rows = retired().filter(id=key.id, emptied_at=key.emptied_at)
    if reseal.is_any_sealed_with(key):
        reseal.reseal_some()
        rows.update(emptied_at=None)
    elif key.emptied_at is None:
        rows.update(emptied_at=clock.now())
    elif key.emptied_at <= clock.now() - IN_FLIGHT:
        return bool(rows.update(wrapped=b"", destroyed_at=clock.now()))
    return False
